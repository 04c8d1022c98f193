"""Chooses the strength of cost-complexity pruning by cross-validation on the training rows.

Cost-complexity pruning (Breiman, Friedman, Olshen & Stone 1984) keeps the subtree that minimizes impurity + strength x
leaves. Five trees, each grown on four fifths of the records, are pruned at every strength of a fixed list and scored on
the held-out fifth by the Brier score, the squared error of the predicted probabilities. This score has no parameter,
and it detects useless splits that do not change the number of errors. Among equal scores the stronger pruning wins.

Folds divide records, not rows: a row with count twelve is twelve records, each assigned to a random fold, as if the
table listed them one by one. Dividing the count of each row evenly would be wrong, because held-out records would
repeat the learned proportions and hide overfitting.

Cross-validation cannot detect the noise of a release, because all records of a cell share it. Holding out whole cells
would; it was tried, alone and in combination, as were the one-standard-error rule, C4.5's pessimistic errors and an
information criterion. On releases of Adult none gains more than 0.4 points of accuracy, because the cells with most
records have little relative noise. Holding out cells alone loses 0.3 points and varies more, pessimistic errors lose
one to four points of AUC, and the information criterion loses 0.3 points of accuracy on raw rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from scumble.mining.benchmark.encoding import Features
from scumble.model.counts import Floats, Integers

FOLDS = 5
STEPS = 60
FIXED_STATE = 1984
"""The seed of the folds and of ties between equal splits in scikit-learn. It is constant so that scores are
reproducible; it protects nobody, and results are not tuned by changing it."""


@dataclass(frozen=True, kw_only=True)
class DistinctRows:
    """A training table: distinct (features, label) rows in a fixed order, and the number of records of each."""

    features: Features
    labels: Integers
    counts: Integers
    classes: int


def fit_tree(rows: DistinctRows, counts: Integers, *, strength: float = 0.0) -> DecisionTreeClassifier:
    """A gini decision tree on the rows with these counts, pruned at the given strength."""
    here = np.flatnonzero(counts)
    tree = DecisionTreeClassifier(criterion="gini", ccp_alpha=strength, random_state=FIXED_STATE)
    return tree.fit(rows.features[here], rows.labels[here], sample_weight=counts[here])


def choose_strength(rows: DistinctRows) -> float:
    """The strength with the smallest Brier score over all folds; the largest such strength among ties."""
    ladder = candidate_strengths(int(rows.counts.sum()))
    score = held_out_scores(rows, ladder)
    # Sums of the same squares in another order may differ by rounding.
    best = np.flatnonzero(score <= score.min() * (1 + 1e-12))
    return float(ladder[best[-1]])


def held_out_scores(rows: DistinctRows, ladder: Floats) -> Floats:
    """The Brier score at each strength, summed over all records, each scored by the tree that was not trained on it."""
    score = np.zeros(len(ladder))
    for held_out in fold_counts(rows.counts):
        learned = rows.counts - held_out
        if learned.any() and held_out.any():
            score += _fold_scores(rows, learned, held_out, ladder)
    return score


def candidate_strengths(records: int) -> Floats:
    """The strengths to try: zero, then from a tenth of the impurity of one record up to the largest impurity."""
    return np.concatenate([[0.0], np.geomspace(0.1 / records, 1.0, STEPS)])


def fold_counts(counts: Integers) -> Iterator[Integers]:
    """The counts of the rows in each fold: a uniform multinomial draw, as successive binomial draws."""
    state = check_random_state(FIXED_STATE)
    left = counts.copy()
    for folds_left in range(FOLDS, 0, -1):
        fold = state.binomial(left, 1 / folds_left)
        left -= fold
        yield fold


def _fold_scores(rows: DistinctRows, learned: Integers, held_out: Integers, ladder: Floats) -> Floats:
    """The summed Brier score of the held-out records at each strength, for the tree grown on the others."""
    grown = fit_tree(rows, learned)
    tree = grown.tree_
    leaves = grown.apply(rows.features)
    levels = _levels(tree.children_left, tree.children_right)
    seen = _records_by_node(levels, tree.children_left, tree.children_right, leaves, rows, learned)
    unseen = _records_by_node(levels, tree.children_left, tree.children_right, leaves, rows, held_out)
    share = seen / seen.sum(axis=1, keepdims=True)
    brier = (unseen * (1 - 2 * share + (share**2).sum(axis=1, keepdims=True))).sum(axis=1)
    impurity = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return scores_when_pruned(levels, tree.children_left, impurity, brier, ladder)


def _levels(left: Integers, right: Integers) -> list[Integers]:
    """The nodes by depth. Each level lists the left children of the level above, then the right children."""
    levels = []
    nodes = np.zeros(1, dtype=np.int64)
    while nodes.size:
        levels.append(nodes)
        inner = nodes[left[nodes] >= 0]
        nodes = np.concatenate([left[inner], right[inner]])
    return levels


def _records_by_node(
    levels: list[Integers], left: Integers, right: Integers, leaves: Integers, rows: DistinctRows, counts: Integers
) -> Floats:
    """The number of records of each class that pass through each node."""
    places = leaves * rows.classes + rows.labels
    records: Floats = np.bincount(places, weights=counts, minlength=len(left) * rows.classes).astype(np.float64)
    records = records.reshape(-1, rows.classes)
    for nodes in reversed(levels):
        inner = nodes[left[nodes] >= 0]
        records[inner] = records[left[inner]] + records[right[inner]]
    return records


def scores_when_pruned(
    levels: list[Integers], left: Integers, impurity: Floats, score: Floats, ladder: Floats
) -> Floats:
    """The score of the tree pruned at each strength, from the impurity and score of each node as a leaf.

    From the bottom up: a node becomes a leaf if that costs no more than its two optimally pruned branches.
    """
    cost_below = score_below = np.zeros((0, len(ladder)))
    for nodes in reversed(levels):
        cost = impurity[nodes, np.newaxis] + ladder
        total = np.repeat(score[nodes, np.newaxis], len(ladder), axis=1)
        inner = np.flatnonzero(left[nodes] >= 0)
        branches = cost_below[: len(inner)] + cost_below[len(inner) :]
        split = branches < cost[inner]
        cost[inner] = np.where(split, branches, cost[inner])
        total[inner] = np.where(split, score_below[: len(inner)] + score_below[len(inner) :], total[inner])
        cost_below, score_below = cost, total
    whole: Floats = score_below[0]
    return whole
