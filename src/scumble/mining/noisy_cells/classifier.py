"""`NoisyCellsClassifier`: a decision tree from noisy cell counts, with scikit-learn's interface."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.installation import needing
from scumble.mining.benchmark.encoding import encode
from scumble.mining.noisy_cells.growth import Flags, NoisyCells, NoisyTree, grow_noisy_tree
from scumble.mining.noisy_cells.pruning import Keep, kept_splits, shrunken_shares
from scumble.mining.tree_model import Feature, TreeModel
from scumble.mining.tree_view import tree_text
from scumble.model.counts import Floats, Integers, digits_of
from scumble.model.release import Release

with needing("evaluate"):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data


class NoisyCellsClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree that takes the variance of noisy counts into account.

    Each row is a cell and a class, and its weight is a measured count: signed, unbiased, with noise of known variance.
    Counts are neither clipped nor rounded, so the errors of many cells cancel in their sum. Without noise the result is
    the fully grown gini tree.

    Parameters
    ----------
    level : float
        The significance level of a split. A large level is safe: shrinkage makes a false split nearly harmless, but a
        true split that is refused is lost. The default was chosen on generated tables, where 0.1 loses a point of
        accuracy with five classes and a small budget: `benchmarks/noisy_tree.py --data generated --levels 0.1 0.25 0.5
        0.75`.
    standard_errors : float
        By how many standard errors sums must exceed the noise: the records on each side of a split, and the gain that
        pruning requires.
    keep : {"shares", "records"}
        Whether pruning keeps a subtree for class shares that differ, or only for more records classified correctly.

    The tests account for the noise of the counts only, not for the sampling error of the records themselves.
    """

    def __init__(self, *, level: float = 0.5, standard_errors: float = 1.0, keep: str = Keep.SHARES.value) -> None:
        self.level = level
        self.standard_errors = standard_errors
        self.keep = keep

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        noise_variance: npt.ArrayLike = 0.0,
    ) -> "NoisyCellsClassifier":
        """Learn from cells `X`, classes `y` and signed counts `sample_weight` (default: 1 each).

        `noise_variance` is the variance of the noise in each count: one number, or one per row. A row with count zero
        is used as a measurement, unless its variance is zero too. Rows of the same cell and class are added. A cell
        without a row for some class has an exact count of zero there.
        """
        self._check_parameters()
        values, target = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(target)
        counts = _one_each(1.0 if sample_weight is None else sample_weight, len(values), "sample_weight")
        variance = _one_each(noise_variance, len(values), "noise_variance")
        if variance.min() < 0:
            raise InputError("A noise_variance is negative. Give zero for counts without noise.")
        self.classes_, labels = np.unique(target, return_inverse=True)
        measured = (counts != 0) | (variance != 0)
        if not measured.any():
            raise ValueError(
                "Every sample_weight and noise_variance is zero, so there is nothing to learn from. Give counts."
            )
        cells, distinct = _cells(
            values[measured], labels[measured], counts[measured], variance[measured], len(self.classes_)
        )
        tree = grow_noisy_tree(cells, level=self.level, standard_errors=self.standard_errors)
        split = kept_splits(tree, keep=Keep(self.keep), standard_errors=self.standard_errors)
        self.model_ = _model(tree, split, distinct, self.classes_)
        return self

    def fit_release(self, release: Release) -> "NoisyCellsClassifier":
        """Learn from all measured cells of a release, encoded as in `scumble.mining.benchmark.encoding`.

        The classes are those of the schema, by name. `model_` takes records with the values of `table.csv`.
        """
        measured, schema = release.cells.measured, release.schema
        if schema.target is None:
            raise InputError("The release has no class to predict. Use one made with a `target`.")
        cells, classes = measured.shape
        codes = np.stack(
            digits_of(np.arange(cells), [attribute.domain.size for attribute in schema.predictors]), axis=1
        )
        self.fit(
            np.repeat(encode(codes, schema), classes, axis=0),
            np.tile(np.array(schema.classes), cells),
            sample_weight=measured.ravel() / release.cells.resolution,
            noise_variance=release.cells.variance,
        )
        features = tuple(
            Feature(name=each.name, values=each.domain.labels, column=each.column) for each in schema.predictors
        )
        self.model_ = replace(self.model_, features=features, target=schema.target)
        return self

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """The shrunken class shares of the leaf that each row reaches."""
        check_is_fitted(self)
        return self.model_.probabilities(validate_data(self, X, dtype=np.float64, reset=False))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def export_text(self) -> str:
        """The tree as text, one line for each node."""
        check_is_fitted(self)
        return tree_text(self.model_)

    def _check_parameters(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"The level is {self.level!r}. Give a probability above 0 and below 1.")
        if not 0 <= self.standard_errors < np.inf:
            raise InputError(f"standard_errors is {self.standard_errors!r}. Give a number of at least zero.")
        if self.keep not in list(Keep):
            raise InputError(f"Unknown value of keep: {self.keep!r}. Available: {', '.join(Keep)}.")


def _one_each(given: npt.ArrayLike, rows: int, name: str) -> Floats:
    """A finite number for each row. scikit-learn's own check of weights refuses variances that are all zero."""
    alike = isinstance(given, int | float | np.number)
    column: Floats = check_array([given] * rows if alike else given, ensure_2d=False, dtype=np.float64, input_name=name)
    if column.shape != (rows,):
        # scikit-learn's estimator checks require a ValueError.
        raise ValueError(f"{name} has shape {column.shape} for {rows} rows. Give one number, or one per row.")
    return column


def _cells(
    values: Floats, labels: Integers, counts: Floats, variance: Floats, classes: int
) -> tuple[NoisyCells, list[Floats]]:
    """The distinct cells in the order of their values, coded by the index of each value, and the values by feature."""
    columns = [np.unique(column, return_inverse=True) for column in values.T]
    distinct = [found for found, _ in columns]
    codes = np.stack([code for _, code in columns], axis=1)
    cells, place = np.unique(codes, axis=0, return_inverse=True)

    def by_class(entries: Floats) -> Floats:
        places = place.ravel() * classes + labels
        summed = np.bincount(places, weights=entries, minlength=len(cells) * classes).astype(np.float64)
        return summed.reshape(len(cells), classes)

    return NoisyCells(codes=cells, counts=by_class(counts), variance=by_class(variance)), distinct


def _model(tree: NoisyTree, split: Flags, distinct: list[Floats], classes: npt.NDArray[Any]) -> TreeModel:
    """The pruned tree over values. Thresholds lie halfway between the values they separate."""
    nodes, links = tree.pruned(split)
    threshold = np.zeros(len(nodes))
    for place in np.flatnonzero(links.inner):
        node = nodes[place]
        low, high = distinct[tree.feature[node]][[tree.low[node], tree.cut[node]]]
        threshold[place] = max(low / 2 + high / 2, np.nextafter(low, np.inf))
    records = tree.counts.sum(axis=1)
    return TreeModel(
        features=tuple(Feature(name=f"x{place}") for place in range(len(distinct))),
        classes=tuple(classes.tolist()),
        feature=links.feature,
        threshold=threshold,
        left=links.left,
        right=links.right,
        missing_left=links.inner & (records[tree.left[nodes]] >= records[tree.right[nodes]]),
        shares=shrunken_shares(tree)[nodes],
    )
