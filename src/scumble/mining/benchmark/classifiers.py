"""The classifiers that measure the utility of a table: a pruned CART tree and gradient boosting (scikit-learn), C4.5.

All learn from distinct rows with counts; a row with count twelve is equivalent to twelve rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.installation import needing
from scumble.mining.benchmark.encoding import Features
from scumble.mining.benchmark.pruning import FIXED_STATE, FOLDS, DistinctRows, RunJobs, grow_and_prune, one_by_one
from scumble.mining.c45.growth import learn
from scumble.mining.c45.tree import C45Tree, Rules
from scumble.model.counts import Floats, Integers

PRUNING_RULE = "cost-complexity, strength by cross-validated Brier score on the training side"


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A trained classifier. If training rows have at most one class, `estimator` is None and it predicts `constant`."""

    classes: int
    estimator: Any = None
    constant: int = 0
    pruning: Mapping[str, Any] | None = None
    """How the classifier was pruned, as plain data; None if it was not."""

    def probabilities(self, features: Features) -> Floats:
        """The probability of each class of the schema for each row; zero for a class without training rows."""
        result = np.zeros((len(features), self.classes))
        if self.estimator is None:
            result[:, self.constant] = 1.0
        else:
            result[:, self.estimator.classes_] = self.estimator.predict_proba(features)
        return result


def pruned_tree(rows: DistinctRows, run: RunJobs = one_by_one) -> Trained:
    """A gini tree, pruned as in `scumble.mining.benchmark.pruning`; the same rule for raw and released tables."""
    pruning = {"rule": PRUNING_RULE, "folds": FOLDS}
    if _constant(rows) is not None:
        return _always(rows, pruning={**pruning, "strength": 0.0, "leaves": 1})
    tree, strength = grow_and_prune(rows, run)
    return Trained(
        classes=rows.classes,
        estimator=tree,
        pruning={**pruning, "strength": strength, "leaves": tree.leaves},
    )


def boosting(rows: DistinctRows, run: RunJobs = one_by_one) -> Trained:
    """Gradient boosting with a hundred small trees and fixed settings.

    scikit-learn's minimum number of rows per leaf is disabled: it counts distinct rows regardless of their weight, and
    a release may have only a few dozen. The leaves are regularized by a penalty on their values, which uses weights.
    """
    if _constant(rows) is not None:
        return _always(rows)
    with needing("evaluate"):
        from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.1,
        max_leaf_nodes=15,
        min_samples_leaf=1,
        l2_regularization=5.0,
        early_stopping=False,
        random_state=FIXED_STATE,
    )
    [fitted] = run([lambda: model.fit(rows.features, rows.labels, sample_weight=rows.counts)])
    return Trained(classes=rows.classes, estimator=fitted)


@dataclass(frozen=True, kw_only=True)
class CodedC45:
    """A C4.5 tree over encoded rows, in which some codes stand for missing numbers."""

    tree: C45Tree
    unknown: Mapping[int, int]

    @property
    def classes_(self) -> Integers:
        return np.arange(self.tree.classes)

    def predict_proba(self, features: Features) -> Floats:
        return self.tree.probabilities(_with_unknown(features, self.unknown))


def c45(rows: DistinctRows, run: RunJobs = one_by_one) -> Trained:
    """C4.5 with the settings of Quinlan's program, release 8. Categories get a branch each, numbers a threshold."""
    rules = Rules()
    pruning = {"rule": "pessimistic errors of C4.5", "confidence": rules.confidence}
    if _constant(rows) is not None:
        return _always(rows, pruning={**pruning, "leaves": 1})
    categorical = np.zeros(rows.features.shape[1], dtype=np.bool_)
    categorical[list(rows.unordered)] = True
    features = _with_unknown(rows.features, rows.unknown)
    weights = rows.counts.astype(np.float64)
    settings: dict[str, Any] = {"classes": rows.classes, "categorical": categorical, "rules": rules}
    [tree] = run([lambda: learn(features, rows.labels, weights, **settings)])
    return Trained(
        classes=rows.classes,
        estimator=CodedC45(tree=tree, unknown=rows.unknown),
        pruning={**pruning, "leaves": tree.leaves},
    )


def _with_unknown(features: Features, unknown: Mapping[int, int]) -> Floats:
    values = features.astype(np.float64)
    for place, code in unknown.items():
        values[values[:, place] == code, place] = np.nan
    return values


def _constant(rows: DistinctRows) -> int | None:
    """The class to predict if there is nothing to learn: the only class present, or the first class without rows."""
    present = np.unique(rows.labels)
    return None if present.size > 1 else int(present[0]) if present.size else 0


def _always(rows: DistinctRows, *, pruning: Mapping[str, Any] | None = None) -> Trained:
    return Trained(classes=rows.classes, constant=_constant(rows) or 0, pruning=pruning)


CLASSIFIERS: Mapping[str, Callable[[DistinctRows, RunJobs], Trained]] = {
    "tree": pruned_tree,
    "boosting": boosting,
    "c45": c45,
}
JOBS: Mapping[str, int] = {"tree": FOLDS + 1}
"""How many jobs of about the same length a classifier consists of; one if it is not listed."""
USUAL = ("tree", "boosting")
"""The classifiers that score a table if none is named."""
