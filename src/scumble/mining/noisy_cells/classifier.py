"""`NoisyCellsClassifier`: a decision tree straight from noisy cells, behind scikit-learn's interface."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from scumble.errors import InputError
from scumble.mining.benchmark.encoding import encode
from scumble.mining.noisy_cells.growth import Flags, Floats, NoisyCells, NoisyTree, grow
from scumble.mining.noisy_cells.pruning import Keep, kept_splits, shrunken_shares
from scumble.mining.tree_model import LEAF, Feature, TreeModel
from scumble.mining.tree_view import tree_text
from scumble.model.counts import Integers, digits_of
from scumble.model.release import Release


class NoisyCellsClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree that knows how noisy the counts are that it learns from.

    Each row stands for a cell and a class, its weight for a measured count: signed, unbiased, with noise of known
    variance. Nothing needs clipping or rounding first, so errors of many cells cancel in their sum, as they do not in
    counts that were made non-negative one by one. Without noise it is the plain gini tree, fully grown.

    Parameters
    ----------
    level : float
        A node is split unless noise alone would show as much with at least this probability. It may be generous: a
        split that noise made moves the shares of its sides little, for they are shrunk by what noise is expected to do,
        and a true one refused is lost. The default was chosen on generated tables, where 0.1 loses a point of accuracy
        with five classes and little budget: `benchmarks/noisy_tree.py --data generated --levels 0.1 0.25 0.5 0.75`.
    standard_errors : float
        How far sums must be beyond the noise: the records on either side of a split, and what pruning asks for.
    keep : {"shares", "records"}
        Whether pruning keeps a subtree for class shares that differ, or only for records it classifies correctly.

    It knows the noise of the counts and no other: that records are a sample themselves is not weighed.
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
        """Learn from cells `X`, classes `y` and signed counts `sample_weight` (1 each where left out).

        `noise_variance` is the variance of the noise in each count: one number, or one for each row. A row that counts
        zero stays in, as a measurement, unless its variance is zero too. Rows of one cell and class are added up; a
        cell without a row for some class is known to have none of it.
        """
        self._check_parameters()
        values, target = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(target)
        counts = _one_each(1.0 if sample_weight is None else sample_weight, len(values), "sample_weight")
        variance = _one_each(noise_variance, len(values), "noise_variance")
        if variance.min() < 0:
            raise InputError("A noise_variance is negative. Give zero where there is no noise.")
        self.classes_, labels = np.unique(target, return_inverse=True)
        measured = (counts != 0) | (variance != 0)
        if not measured.any():
            raise ValueError("Every sample_weight is zero, and without noise: nothing was counted. Give counts.")
        cells, distinct = _cells(
            values[measured], labels[measured], counts[measured], variance[measured], len(self.classes_)
        )
        tree = grow(cells, level=self.level, standard_errors=self.standard_errors)
        split = kept_splits(tree, keep=Keep(self.keep), standard_errors=self.standard_errors)
        self.model_ = _model(tree, split, distinct, self.classes_)
        return self

    def fit_release(self, release: Release) -> "NoisyCellsClassifier":
        """Learn from all measured cells of a release, encoded as in `scumble.mining.benchmark.encoding`.

        The classes are those of the schema, by name; `model_` takes records in the words of `table.csv`.
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
        features = tuple(Feature(name=each.name, values=each.domain.labels) for each in schema.predictors)
        self.model_ = replace(self.model_, features=features, target=schema.target)
        return self

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """The shrunken class shares of the leaf where each row ends."""
        check_is_fitted(self)
        return self.model_.probabilities(validate_data(self, X, dtype=np.float64, reset=False))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def export_text(self) -> str:
        check_is_fitted(self)
        return tree_text(self.model_)

    def _check_parameters(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"The level is {self.level!r}. Give a probability between 0 and 1, neither of them.")
        if not 0 <= self.standard_errors < np.inf:
            raise InputError(f"standard_errors is {self.standard_errors!r}. Give a number, zero or more.")
        if self.keep not in list(Keep):
            raise InputError(f"There is no pruning by {self.keep!r}. Choose from {', '.join(Keep)}.")


def _one_each(given: npt.ArrayLike, rows: int, name: str) -> Floats:
    """A finite number for each row. scikit-learn's own check of weights takes no variances that are all zero."""
    alike = isinstance(given, int | float | np.number)
    column: Floats = check_array([given] * rows if alike else given, ensure_2d=False, dtype=np.float64, input_name=name)
    if column.shape != (rows,):
        # Of the kind that scikit-learn's rules ask for.
        raise ValueError(f"{name} has shape {column.shape} for {rows} rows. Give one number, or one for each row.")
    return column


def _cells(
    values: Floats, labels: Integers, counts: Floats, variance: Floats, classes: int
) -> tuple[NoisyCells, list[Floats]]:
    """Distinct cells in the order of their values, each value coded by its place among its feature's."""
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
    """The kept part of a tree over values: thresholds lie halfway between the values they divide."""
    order = [0]
    for node in order:
        if split[node]:
            order += [int(tree.left[node]), int(tree.right[node])]
    nodes = np.array(order)
    inner = split[nodes]
    number = np.full(len(split), LEAF)
    number[nodes] = np.arange(len(nodes))
    threshold = np.zeros(len(nodes))
    for place in np.flatnonzero(inner):
        node = nodes[place]
        low, high = distinct[tree.feature[node]][[tree.low[node], tree.cut[node]]]
        threshold[place] = max(low / 2 + high / 2, np.nextafter(low, np.inf))
    records = tree.counts.sum(axis=1)
    return TreeModel(
        features=tuple(Feature(name=f"x{place}") for place in range(len(distinct))),
        classes=tuple(classes.tolist()),
        feature=np.where(inner, tree.feature[nodes], LEAF),
        threshold=threshold,
        left=np.where(inner, number[tree.left[nodes]], LEAF),
        right=np.where(inner, number[tree.right[nodes]], LEAF),
        missing_left=inner & (records[tree.left[nodes]] >= records[tree.right[nodes]]),
        shares=shrunken_shares(tree)[nodes],
    )
