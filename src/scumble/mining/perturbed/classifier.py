"""`PerturbedTreeClassifier`: the trees of `scumble.mining.perturbed.tree` behind scikit-learn's interface."""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.installation import needing
from scumble.mining.perturbed.growth import GiniTree
from scumble.mining.perturbed.rows import MOST_CODES, PerturbedRows
from scumble.mining.perturbed.tree import LOCAL_ROWS, Algorithm, Leaves, train_tree
from scumble.mining.reconstruction.iteration import STOP_SHARE, reconstruct_shares
from scumble.mining.tree_model import Feature, TreeModel
from scumble.mining.tree_view import tree_text
from scumble.model.counts import Floats, Integers
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.local.channel import transition
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Truthful
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree

with needing("evaluate"):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data


class PerturbedTreeClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree that is learned from perturbed rows and predicts the class of true rows.

    Parameters
    ----------
    noise : NoiseModel or None
        How the training rows were perturbed. `X` then has one column per reported predictor, in the order of the
        schema: the reported number, or the index of the reported category. `y` has the labels of the class, or their
        indices. None: the rows are not perturbed.
    algorithm : {"byclass", "local", "global", "uncorrected"}
    intervals : int or None
        The number of intervals of each attribute. None: about 100 rows per interval, between 10 and 100, as in the
        paper.
    pruned : bool
        Whether to prune by minimum description length.
    local_rows : int
        With fewer rows at a node, "local" stops reconstructing.
    stop_share : float
        The difference at which the iteration stops, as a share of the chi-square threshold. The paper has 0.01, which
        stops early under strong noise: a tenth of it gains a point of accuracy on Function 1 at 100 % Gaussian noise.
    leaves : {"reconstructed", "associated"}
        Whether "byclass" and "local" reconstruct the class counts at their leaves, or use the associated rows, as in
        the paper.

    `fit` takes reported values, `predict` true values. A missing value (NaN) follows the branch with more rows.
    """

    def __init__(
        self,
        noise: NoiseModel | None = None,
        *,
        algorithm: str = "byclass",
        intervals: int | None = None,
        pruned: bool = True,
        local_rows: int = LOCAL_ROWS,
        stop_share: float = STOP_SHARE / 10,
        leaves: str = Leaves.RECONSTRUCTED.value,
    ) -> None:
        self.noise = noise
        self.algorithm = algorithm
        self.intervals = intervals
        self.pruned = pruned
        self.local_rows = local_rows
        self.stop_share = stop_share
        self.leaves = leaves

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> "PerturbedTreeClassifier":
        """Learn from reported values `X` and reported classes `y`."""
        values, target = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(target)
        reader = _Reader.of_noise(self.noise) if self.noise is not None else _Reader.of_values(values)
        self.classes_, labels = _classes(self.noise, target)
        return self._fit(reader, reader.codes(values), labels)

    def fit_codes(self, codes: npt.NDArray[np.integer], labels: Integers) -> "PerturbedTreeClassifier":
        """Learn from the codes of reported values and classes in the published schema of the noise model."""
        if self.noise is None or self.noise.published.target is None:
            raise InputError("Codes need a noise model that reports the class. Fit values instead.")
        self.classes_ = np.array(self.noise.published.classes)
        self.n_features_in_ = codes.shape[1]
        return self._fit(_Reader.of_noise(self.noise), codes, labels)

    def _fit(self, reader: "_Reader", codes: npt.NDArray[np.integer], labels: Integers) -> "PerturbedTreeClassifier":
        if self.algorithm not in list(Algorithm):
            raise InputError(f"Unknown algorithm {self.algorithm!r}. Available: {', '.join(Algorithm)}.")
        if self.leaves not in list(Leaves):
            raise InputError(f"Unknown value of leaves: {self.leaves!r}. Available: {', '.join(Leaves)}.")
        algorithm = Algorithm(self.algorithm)
        rows = reader.rows(codes, labels, len(self.classes_), _class_kernel(self.noise))
        grown = train_tree(
            rows,
            algorithm if self.noise is not None else Algorithm.UNCORRECTED,
            intervals=self.intervals,
            pruned=self.pruned,
            local_rows=self.local_rows,
            stop_share=self.stop_share,
            leaves=Leaves(self.leaves),
        )
        self.model_ = reader.model(grown, rows, self.classes_, corrected=algorithm is not Algorithm.UNCORRECTED)
        return self

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """The reconstructed class probabilities of the leaf that each row of true values reaches."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return self.model_.probabilities(values)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def export_text(self) -> str:
        """The tree as text, one line for each node."""
        check_is_fitted(self)
        return tree_text(self.model_)


class _Reader:
    """Converts columns of numbers to codes, and cuts between codes back to thresholds."""

    def __init__(self, attributes: tuple[RandomizedAttribute, ...], lows: list[Floats], *, strict: bool) -> None:
        self._attributes = attributes
        self._lows = lows
        """The lower edge of each reported code, and the upper edge of the last."""
        self._strict = strict

    @classmethod
    def of_noise(cls, noise: NoiseModel) -> "_Reader":
        names = [attribute.name for attribute in noise.published.predictors]
        lows = [_edges(noise.published[name].domain) for name in names]
        return cls(tuple(noise[name] for name in names), lows, strict=True)

    @classmethod
    def of_values(cls, values: Floats) -> "_Reader":
        """Without a noise model each distinct value is a code; very many are merged into ranges."""
        attributes, lows = [], []
        for place, column in enumerate(values.T):
            distinct = np.unique(column[~np.isnan(column)])
            if len(distinct) > MOST_CODES:
                distinct = distinct[np.arange(MOST_CODES) * len(distinct) // MOST_CODES]
            middles = (distinct[:-1] + distinct[1:]) / 2
            lows.append(np.concatenate([[-np.inf], np.maximum(middles, np.nextafter(distinct[:-1], np.inf)), [np.inf]]))
            size = max(len(lows[-1]) - 1, 1)
            tree = Tree.flat([str(code) for code in range(size)])
            attribute = Attribute(name=f"x{place}", domain=tree, outside=Outside.CLAMP)
            attributes.append(RandomizedAttribute(attribute=attribute, randomizer=Truthful()))
        return cls(tuple(attributes), lows, strict=False)

    def codes(self, values: Floats) -> Integers:
        """Columns of numbers as codes."""
        if values.shape[1] != len(self._attributes):
            raise InputError(
                f"The rows have {values.shape[1]} columns, but the noise model reports {len(self._attributes)} "
                "predictors. Give one column per predictor, in the order of the schema."
            )
        return np.stack([self._codes(place, column) for place, column in enumerate(values.T)], axis=1)

    def rows(
        self, codes: npt.NDArray[np.integer], labels: Integers, classes: int, class_kernel: Floats | None
    ) -> PerturbedRows:
        return PerturbedRows(
            attributes=self._attributes, codes=codes, labels=labels, classes=classes, class_kernel=class_kernel
        )

    def _codes(self, place: int, column: Floats) -> Integers:
        lows = self._lows[place]
        missing = np.isnan(column)
        codes = np.searchsorted(lows, np.where(missing, lows[0], column), side="right") - 1
        if self._strict and (~missing & ((codes < 0) | (codes >= len(lows) - 1))).any():
            raise InputError(
                f"{self._attributes[place].attribute.name!r} has values outside [{lows[0]:g}, {lows[-1]:g}), the range "
                "of its noise model. Use the noise model that was written with the table."
            )
        return np.where(missing, len(lows) - 1, codes)

    def model(self, tree: GiniTree, rows: PerturbedRows, classes: npt.NDArray[Any], *, corrected: bool) -> TreeModel:
        threshold = np.zeros(len(tree.feature))
        missing_left = np.zeros(len(tree.feature), dtype=np.bool_)
        totals = tree.counts.sum(axis=1)
        for node in np.flatnonzero(tree.inner):
            place = int(tree.feature[node])
            true = self._strict and corrected
            edges = _edges(self._attributes[place].attribute.domain) if true else self._lows[place]
            threshold[node] = edges[tree.cut[node]]
            missing_left[node] = totals[tree.left[node]] >= totals[tree.right[node]]
        kernel = np.eye(rows.classes) if rows.class_kernel is None else rows.class_kernel
        shares = reconstruct_shares(tree.counts[np.newaxis], kernel[np.newaxis], stop_share=0.0, most=200).shares[0]
        return TreeModel(
            features=tuple(_feature(randomized.attribute, named=self._strict) for randomized in self._attributes),
            classes=tuple(classes.tolist()),
            feature=tree.feature,
            threshold=threshold,
            left=tree.left,
            right=tree.right,
            missing_left=missing_left,
            shares=shares,
        )


def _feature(attribute: Attribute, *, named: bool) -> Feature:
    categories = named and isinstance(attribute.domain, Tree)
    missing = attribute.missing if isinstance(attribute.domain, Grid) else None
    values = attribute.domain.labels if categories else None
    return Feature(name=attribute.name, values=values, missing=missing, column=attribute.column)


def _edges(domain: Domain) -> Floats:
    """The lower edge of each code, and the upper edge of the last; a category is its index."""
    return domain.edge_floats if isinstance(domain, Grid) else np.arange(domain.size + 1, dtype=np.float64)


def _class_kernel(noise: NoiseModel | None) -> Floats | None:
    if noise is None or noise.published.target is None:
        return None
    randomized = noise[noise.published.target]
    if isinstance(randomized.randomizer, Truthful):
        return None
    edges = np.arange(randomized.attribute.domain.size + 1)
    return transition(randomized.channel, edges, edges)


def _classes(noise: NoiseModel | None, target: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Integers]:
    """The classes, and the index of the class of each row. Includes classes of the noise model that have no rows."""
    if noise is None or noise.published.target is None:
        classes, labels = np.unique(target, return_inverse=True)
        return classes, labels.astype(np.int64)
    known = noise.published.classes
    textual = target.dtype.kind in "OUS"
    places = {label: place for place, label in enumerate(known)} if textual else {n: n for n in range(len(known))}
    strange = [value for value in np.unique(target).tolist() if value not in places]
    if strange:
        raise InputError(f"Unknown class {strange[0]!r}. The classes of the noise model are: {', '.join(known)}.")
    labels = np.array([places[value] for value in target.tolist()], dtype=np.int64)
    return np.array(known) if textual else np.arange(len(known)), labels
