"""The two classifiers that measure the utility of a table: a pruned decision tree and gradient boosting (scikit-learn).

Both learn from distinct rows with counts; a row with count twelve is equivalent to twelve rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from scumble.mining.benchmark.encoding import Features
from scumble.mining.benchmark.pruning import FIXED_STATE, FOLDS, DistinctRows, choose_strength, fit_tree
from scumble.model.counts import Floats

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


def pruned_tree(rows: DistinctRows) -> Trained:
    """A gini tree, pruned as in `scumble.mining.benchmark.pruning`; the same rule for raw and released tables."""
    pruning = {"rule": PRUNING_RULE, "folds": FOLDS}
    if _constant(rows) is not None:
        return _always(rows, pruning={**pruning, "strength": 0.0, "leaves": 1})
    strength = choose_strength(rows)
    tree = fit_tree(rows, rows.counts, strength=strength)
    return Trained(
        classes=rows.classes,
        estimator=tree,
        pruning={**pruning, "strength": strength, "leaves": int(tree.get_n_leaves())},
    )


def boosting(rows: DistinctRows) -> Trained:
    """Gradient boosting with a hundred small trees and fixed settings.

    scikit-learn's minimum number of rows per leaf is disabled: it counts distinct rows regardless of their weight, and
    a release may have only a few dozen. The leaves are regularized by a penalty on their values, which uses weights.
    """
    if _constant(rows) is not None:
        return _always(rows)
    model = HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.1,
        max_leaf_nodes=15,
        min_samples_leaf=1,
        l2_regularization=5.0,
        early_stopping=False,
        random_state=FIXED_STATE,
    )
    model.fit(rows.features, rows.labels, sample_weight=rows.counts)
    return Trained(classes=rows.classes, estimator=model)


def _constant(rows: DistinctRows) -> int | None:
    """The class to predict if there is nothing to learn: the only class present, or the first class without rows."""
    present = np.unique(rows.labels)
    return None if present.size > 1 else int(present[0]) if present.size else 0


def _always(rows: DistinctRows, *, pruning: Mapping[str, Any] | None = None) -> Trained:
    return Trained(classes=rows.classes, constant=_constant(rows) or 0, pruning=pruning)


CLASSIFIERS: Mapping[str, Callable[[DistinctRows], Trained]] = {"tree": pruned_tree, "boosting": boosting}
