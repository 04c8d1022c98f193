"""The two classifiers that judge a table: a pruned decision tree and gradient boosting, both by scikit-learn.

Both learn from distinct rows with counts, and treat a row that counts twelve times like twelve rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from scumble.mining.benchmark.encoding import Features
from scumble.mining.benchmark.pruning import FIXED_STATE, FOLDS, DistinctRows, Floats, choose_strength, grow

PRUNING_RULE = "cost-complexity, strength by cross-validated Brier score on the training side"


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A trained classifier. Where training saw one class or none, `estimator` is None and it predicts `constant`."""

    classes: int
    estimator: Any = None
    constant: int = 0
    pruning: Mapping[str, Any] | None = None
    """How the classifier was pruned, as plain data, if it was."""

    def probabilities(self, features: Features) -> Floats:
        """A probability for each row and each class of the schema; zero for a class that training never saw."""
        result = np.zeros((len(features), self.classes))
        if self.estimator is None:
            result[:, self.constant] = 1.0
        else:
            result[:, self.estimator.classes_] = self.estimator.predict_proba(features)
        return result


def pruned_tree(rows: DistinctRows) -> Trained:
    """A gini tree, pruned as `scumble.mining.benchmark.pruning` says: the rule for raw and released tables alike."""
    pruning = {"rule": PRUNING_RULE, "folds": FOLDS}
    if _constant(rows) is not None:
        return _always(rows, pruning={**pruning, "strength": 0.0, "leaves": 1})
    strength = choose_strength(rows)
    tree = grow(rows, rows.counts, strength=strength)
    return Trained(
        classes=rows.classes,
        estimator=tree,
        pruning={**pruning, "strength": strength, "leaves": int(tree.get_n_leaves())},
    )


def boosting(rows: DistinctRows) -> Trained:
    """A hundred small trees in sequence, with fixed settings.

    scikit-learn's limit on the rows in a leaf is off, for it counts distinct rows, whatever they weigh, and a release
    may have a few dozen; what restrains the leaves is a penalty on their values, which does go by weight.
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
    """The class to predict where there is nothing to learn: the only one there, or the first of none."""
    present = np.unique(rows.labels)
    return None if present.size > 1 else int(present[0]) if present.size else 0


def _always(rows: DistinctRows, *, pruning: Mapping[str, Any] | None = None) -> Trained:
    return Trained(classes=rows.classes, constant=_constant(rows) or 0, pruning=pruning)


CLASSIFIERS: Mapping[str, Callable[[DistinctRows], Trained]] = {"tree": pruned_tree, "boosting": boosting}
