"""`C45Classifier`: C4.5 with scikit-learn's interface."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.installation import needing
from scumble.mining.c45.growth import learn
from scumble.mining.c45.text import tree_text
from scumble.mining.c45.tree import Rules
from scumble.model.counts import Floats

with needing("evaluate"):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data


class C45Classifier(ClassifierMixin, BaseEstimator):
    """C4.5 (Quinlan 1993) with the threshold correction of release 8 (Quinlan 1996).

    Gain ratio among tests of at least average gain, one branch for each category, thresholds for numbers, unknown
    values (NaN) as fractional cases, pessimistic pruning. There are no windows, no groups of categories (`-s`) and no
    rules. Unlike Quinlan's program, a leaf without training cases predicts the class shares of its parent.

    Parameters
    ----------
    categorical : sequence of int, optional
        The columns with categories, which may be any numbers. The others are numeric.
    minimum_cases : float
        The number of cases that at least two branches of a test must have (Quinlan's `-m`).
    confidence : float
        The confidence level of pruning (Quinlan's `-c`, as a share). Smaller values prune more.
    raising : bool
        Whether pruning may replace a node by its largest branch. Replacement by a leaf is always considered.
    pruned : bool
        Whether the tree is pruned at all.
    threshold_cost : bool
        Whether the gain of a threshold is reduced by the cost of naming it, as since release 8.

    `sample_weight` may be any non-negative numbers: a row of weight twelve is equivalent to twelve rows.
    """

    def __init__(
        self,
        *,
        categorical: Sequence[int] | None = None,
        minimum_cases: float = 2.0,
        confidence: float = 0.25,
        raising: bool = True,
        pruned: bool = True,
        threshold_cost: bool = True,
    ) -> None:
        self.categorical = categorical
        self.minimum_cases = minimum_cases
        self.confidence = confidence
        self.raising = raising
        self.pruned = pruned
        self.threshold_cost = threshold_cost

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> "C45Classifier":
        """Learn from rows `X` and classes `y`."""
        values, target = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(target)
        self.classes_, labels = np.unique(target, return_inverse=True)
        self.tree_ = learn(
            values,
            labels,
            _weights(sample_weight, len(values)),
            classes=len(self.classes_),
            categorical=self._categorical(),
            rules=self._rules(),
        )
        return self

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """The class shares of the leaf that each row reaches."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return self.tree_.probabilities(values)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def export_text(self) -> str:
        """The tree as text, one line for each branch."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(self.n_features_in_)])
        return tree_text(self.tree_, features=list(names), classes=self.classes_.tolist())

    def _categorical(self) -> npt.NDArray[np.bool_]:
        flags = np.zeros(self.n_features_in_, dtype=np.bool_)
        for column in () if self.categorical is None else self.categorical:
            if not 0 <= column < self.n_features_in_:
                raise InputError(
                    f"The categorical column {column} does not exist. Give numbers from 0 to {self.n_features_in_ - 1}."
                )
            flags[column] = True
        return flags

    def _rules(self) -> Rules:
        if not self.minimum_cases > 0:
            raise InputError(f"minimum_cases is {self.minimum_cases!r}. Give a positive number.")
        if not 0 < self.confidence <= 1:
            raise InputError(f"The confidence is {self.confidence!r}. Give a number above 0 and at most 1.")
        return Rules(
            minimum_cases=float(self.minimum_cases),
            confidence=float(self.confidence),
            raising=bool(self.raising),
            pruned=bool(self.pruned),
            threshold_cost=bool(self.threshold_cost),
        )


def _weights(given: npt.ArrayLike | None, rows: int) -> Floats:
    """A finite, non-negative number for each row."""
    if given is None:
        return np.ones(rows)
    alike = isinstance(given, int | float | np.number)
    weights: Floats = check_array(
        [given] * rows if alike else given, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (rows,) or weights.min() < 0 or weights.max() <= 0:
        # scikit-learn's estimator checks require a ValueError.
        raise ValueError("sample_weight needs one non-negative number per row, and one above zero.")
    return weights
