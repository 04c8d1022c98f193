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

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.installation import needing
from scumble.mining.benchmark.encoding import Features
from scumble.mining.benchmark.gini_tree import LARGEST_RANDOM, CartTree, grow
from scumble.model.counts import Floats, Integers

FOLDS = 5
STEPS = 60
STRENGTHS_AT_ONCE = 8
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
    unordered: tuple[int, ...] = ()
    """The features with categories, whose codes have no order of their own."""
    unknown: Mapping[int, int] = field(default_factory=dict)
    """The code of missing numbers by feature."""


Jobs = Iterable[Callable[[], Any]]
RunJobs = Callable[[Jobs], list[Any]]
"""Runs jobs that do not depend on each other, one by one or at once, and returns their results in order."""


def one_by_one(jobs: Jobs) -> list[Any]:
    return [job() for job in jobs]


@dataclass(frozen=True, kw_only=True)
class PrunedTree:
    """A grown tree, and for each of its nodes the node that it belongs to after pruning."""

    grown: CartTree
    kept: Integers
    """The first pruned node on the path from the root; a node that is not below one stands for itself."""

    @property
    def classes_(self) -> Integers:
        return np.arange(self.grown.counts.shape[1])

    @property
    def leaves(self) -> int:
        leaves = np.flatnonzero(self.grown.children_left < 0)
        return len(np.unique(self.kept[leaves]))

    def predict_proba(self, features: Features) -> Floats:
        """The class shares of the training records at each row's leaf."""
        shares: Floats = self.grown.counts / self.grown.weighted_n_node_samples[:, np.newaxis]
        return shares[self.kept[self.grown.apply(features)]]


def grow_and_prune(rows: DistinctRows, run: RunJobs = one_by_one) -> tuple[PrunedTree, float]:
    """The tree of all records, pruned at the strength that cross-validation chooses, and this strength.

    The trees of the folds and that of all records do not depend on each other, so they can be grown at once.
    """
    ladder = candidate_strengths(int(rows.counts.sum()))
    *scores, grown = run([*fold_jobs(rows, ladder), lambda: fit_tree(rows, rows.counts)])
    strength = best_strength(ladder, scores)
    return prune(grown, strength), strength


def fit_tree(rows: DistinctRows, counts: Integers) -> CartTree:
    """A gini decision tree on the rows with these counts, not pruned: scikit-learn's with `FIXED_STATE`."""
    with needing("evaluate"):
        from sklearn.utils import check_random_state

    here = np.flatnonzero(counts)
    seed = int(check_random_state(FIXED_STATE).randint(0, LARGEST_RANDOM))
    return grow(rows.features[here], rows.labels[here], counts[here], classes=rows.classes, seed=seed)


def prune(tree: CartTree, strength: float) -> PrunedTree:
    """The smallest subtree that minimizes impurity + strength x leaves. Without a strength it is the whole tree.

    scikit-learn finds the same subtree by removing the weakest branch, one after the other, each time by a look at all
    nodes: on a million distinct rows that takes minutes. From the bottom up, every node is looked at once.
    """
    kept = np.arange(len(tree.feature))
    if strength:
        levels = _levels(tree.children_left, tree.children_right)
        pruned = _pruned_nodes(levels, tree.children_left, _impurities(tree), strength)
        for nodes in levels:
            inner = nodes[tree.children_left[nodes] >= 0]
            ends = pruned[kept[inner]]
            for children in (tree.children_left[inner], tree.children_right[inner]):
                kept[children] = np.where(ends, kept[inner], children)
    return PrunedTree(grown=tree, kept=kept)


def _pruned_nodes(levels: list[Integers], left: Integers, impurity: Floats, strength: float) -> npt.NDArray[np.bool_]:
    """The inner nodes that are no better than a leaf, however their branches are pruned."""
    pruned = np.zeros(len(left), dtype=np.bool_)
    cost_below = np.zeros(0)
    for nodes in reversed(levels):
        cost = impurity[nodes] + strength
        inner = np.flatnonzero(left[nodes] >= 0)
        branches = cost_below[: len(inner)] + cost_below[len(inner) :]
        pruned[nodes[inner]] = branches >= cost[inner]
        cost[inner] = np.minimum(branches, cost[inner])
        cost_below = cost
    return pruned


def choose_strength(rows: DistinctRows) -> float:
    """The strength with the smallest Brier score over all folds; the largest such strength among ties."""
    ladder = candidate_strengths(int(rows.counts.sum()))
    return best_strength(ladder, one_by_one(fold_jobs(rows, ladder)))


def best_strength(ladder: Floats, scores: Iterable[Floats]) -> float:
    """The strength with the smallest sum of the scores of all folds; the largest such strength among ties."""
    score = sum(scores, np.zeros(len(ladder)))
    # Sums of the same squares in another order may differ by rounding.
    best = np.flatnonzero(score <= score.min() * (1 + 1e-12))
    return float(ladder[best[-1]])


def held_out_scores(rows: DistinctRows, ladder: Floats) -> Floats:
    """The Brier score at each strength, summed over all records, each scored by the tree that was not trained on it."""
    return sum(one_by_one(fold_jobs(rows, ladder)), np.zeros(len(ladder)))


def fold_jobs(rows: DistinctRows, ladder: Floats) -> list[Callable[[], Floats]]:
    """For each fold, a job that grows the tree of the other folds and scores it on this one."""
    folds = [(rows.counts - held_out, held_out) for held_out in fold_counts(rows.counts)]
    return [
        partial(_fold_scores, rows, learned, held_out, ladder)
        for learned, held_out in folds
        if learned.any() and held_out.any()
    ]


def candidate_strengths(records: int) -> Floats:
    """The strengths to try: zero, then from a tenth of the impurity of one record up to the largest impurity."""
    return np.concatenate([[0.0], np.geomspace(0.1 / records, 1.0, STEPS)])


def fold_counts(counts: Integers) -> Iterator[Integers]:
    """The counts of the rows in each fold: a uniform multinomial draw, as successive binomial draws."""
    with needing("evaluate"):
        from sklearn.utils import check_random_state

    state = check_random_state(FIXED_STATE)
    left = counts.copy()
    for folds_left in range(FOLDS, 0, -1):
        fold = state.binomial(left, 1 / folds_left)
        left -= fold
        yield fold


def _fold_scores(rows: DistinctRows, learned: Integers, held_out: Integers, ladder: Floats) -> Floats:
    """The summed Brier score of the held-out records at each strength, for the tree grown on the others."""
    tree = fit_tree(rows, learned)
    leaves = tree.apply(rows.features)
    levels = _levels(tree.children_left, tree.children_right)
    seen = _records_by_node(levels, tree.children_left, tree.children_right, leaves, rows, learned)
    unseen = _records_by_node(levels, tree.children_left, tree.children_right, leaves, rows, held_out)
    share = seen / seen.sum(axis=1, keepdims=True)
    brier = (unseen * (1 - 2 * share + (share**2).sum(axis=1, keepdims=True))).sum(axis=1)
    # A few strengths at a time: a level of a large tree has a hundred thousand nodes.
    some = [ladder[start : start + STRENGTHS_AT_ONCE] for start in range(0, len(ladder), STRENGTHS_AT_ONCE)]
    impurities = _impurities(tree)
    return np.concatenate([scores_when_pruned(levels, tree.children_left, impurities, brier, each) for each in some])


def _impurities(tree: CartTree) -> Floats:
    """The impurity of each node, weighted by its share of the records."""
    impurities: Floats = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return impurities


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
