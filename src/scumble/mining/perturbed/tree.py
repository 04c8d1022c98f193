"""Decision trees from perturbed rows: Global, ByClass and Local of Agrawal & Srikant (2000, section 4), or uncorrected.

Split points are boundaries of intervals, chosen by the gini index. Global and ByClass reconstruct once, at the root,
and keep the association of values with intervals for the whole tree. Local reconstructs at every node that has enough
rows.

Local differs from the paper in one point. Rows reach a node by their perturbed values, so for an attribute that the
path has tested, the noise at the node no longer has the distribution of the noise model. Reconstructing it anyway, as
the paper says, is worse than no correction. A node therefore reconstructs only the attributes that its path has not
tested, and keeps the association of the others.

Beyond the paper, ByClass and Local finally reconstruct the class counts of their leaves (`leaf_reconstruction`) and
prune by these. `Leaves.ASSOCIATED` omits this step.
"""

from dataclasses import replace
from enum import StrEnum

import numpy as np

from scumble.mining.perturbed.description_length import bits_of_a_test, errors_worth_a_split, prune, splits_to_keep
from scumble.mining.perturbed.growth import GiniTree, IntervalCodes, best_gini_split, grow_gini_tree
from scumble.mining.perturbed.leaf_reconstruction import MOST_LEAVES, Marginals, with_leaves_reconstructed
from scumble.mining.perturbed.rows import PerturbedRows
from scumble.mining.reconstruction.iteration import (
    FEWEST_INTERVALS,
    POINTS_PER_INTERVAL,
    STOP_SHARE,
    number_of_intervals,
)
from scumble.mining.tree_model import LEAF
from scumble.model.counts import Integers

LOCAL_ROWS = FEWEST_INTERVALS * POINTS_PER_INTERVAL
"""With fewer rows at a node, Local stops reconstructing: it needs ten intervals of a hundred points each."""
LOCAL_STEP = 10
"""Local rounds its number of intervals down to a multiple of this, so that nodes share kernels."""


class Algorithm(StrEnum):
    """How a tree is learned from perturbed rows."""

    UNCORRECTED = "uncorrected"
    """No correction: the paper's Randomized on perturbed rows, its Original on true rows."""
    GLOBAL = "global"
    BYCLASS = "byclass"
    LOCAL = "local"


class Leaves(StrEnum):
    """Where ByClass and Local get the class counts of their leaves from."""

    RECONSTRUCTED = "reconstructed"
    """From Equation 3, over leaves in place of intervals."""
    ASSOCIATED = "associated"
    """From the rows that the association sends to the leaf, as in the paper."""


FIRST_SHARE = 1 / 3
"""The share of a test's bits that pruning charges before the leaves are reconstructed. A split that looks useless by
the associated counts may prove useful by the reconstructed ones."""


def train_tree(
    rows: PerturbedRows,
    algorithm: Algorithm,
    *,
    intervals: int | None = None,
    pruned: bool = True,
    test_bits: float | None = None,
    local_rows: int = LOCAL_ROWS,
    stop_share: float = STOP_SHARE,
    leaves: Leaves = Leaves.RECONSTRUCTED,
) -> GiniTree:
    """Learn a tree. Its cuts are codes of true values, or of reported values if nothing is corrected.

    An unpruned tree keeps the associated counts: it has too many leaves to reconstruct.
    """
    number = intervals or number_of_intervals(len(rows.labels))
    everyone, every = np.arange(len(rows.labels)), range(len(rows.attributes))
    known = None
    if algorithm is Algorithm.UNCORRECTED:
        codes, edges = rows.as_they_are()
    else:
        groups = np.zeros_like(rows.labels) if algorithm is Algorithm.GLOBAL else rows.labels
        parts = rows.partitions(number)
        known = Marginals(parts=parts, shares=rows.reconstruct(everyone, groups, parts, every, stop_share))
        codes = rows.associate(everyone, groups, parts, every, known.shares)
        edges = [part.intervals for part in parts.each]
    sizes = np.array([len(each) - 1 for each in edges], dtype=np.int64)
    bits = bits_of_a_test(sizes) if test_bits is None else test_bits
    by_class = known is not None and algorithm is not Algorithm.GLOBAL
    if not (pruned and by_class and leaves is Leaves.RECONSTRUCTED):
        known = None
    first = bits if known is None else FIRST_SHARE * bits
    spared = errors_worth_a_split(first) if pruned else 0.0
    if algorithm is Algorithm.LOCAL:
        tree = _LocalGrowth(rows, spared, local_rows, number, stop_share).grow(codes, edges)
    else:
        tree = _with_edges(grow_gini_tree(codes, rows.labels, everyone, sizes, rows.classes, spared=spared), edges)
    if not pruned:
        return tree
    tree = prune(tree, splits_to_keep(tree, first))
    if known is None:
        return tree
    while tree.leaves > MOST_LEAVES:
        first *= 2
        tree = prune(tree, splits_to_keep(tree, first))
    tree = with_leaves_reconstructed(tree, rows, known)
    return prune(tree, splits_to_keep(tree, bits))


def _with_edges(tree: GiniTree, edges: list[Integers]) -> GiniTree:
    """The tree with cuts between codes in place of cuts between intervals."""
    cut = tree.cut.copy()
    for attribute, places in enumerate(edges):
        here = tree.feature == attribute
        cut[here] = places[cut[here]]
    return replace(tree, cut=cut)


class _LocalGrowth:
    """Grows one Local tree. Nodes are collected in lists, parents before children."""

    def __init__(self, rows: PerturbedRows, spared: float, fewest: int, most: int, stop_share: float) -> None:
        self._rows = rows
        self._spared = spared
        self._fewest = fewest
        self._most = most
        self._stop_share = stop_share
        self._links: list[list[int]] = []
        self._counts: list[Integers] = []

    def grow(self, codes: IntervalCodes, edges: list[Integers]) -> GiniTree:
        everyone = np.arange(len(self._rows.labels))
        stack = [(self._add(everyone), everyone, codes, edges, frozenset[int]())]
        while stack:
            node, rows, codes, edges, used = stack.pop()
            counts = self._counts[node]
            if counts.sum() - counts.max() <= self._spared:
                continue
            if len(rows) < self._fewest:
                self._finish(node, rows, codes, edges)
                continue
            if len(self._links) > 1:
                codes, edges = self._reconstruct(rows, codes, edges, used)
            best = best_gini_split(self._histogram(rows, codes, edges), np.array([len(e) - 1 for e in edges]))
            if best is None:
                continue
            attribute, boundary = best
            goes_left = self._sides(codes[:, attribute], boundary, len(edges[attribute]) - 1)
            left, right = self._add(rows[goes_left]), self._add(rows[~goes_left])
            self._links[node] = [attribute, int(edges[attribute][boundary]), left, right]
            stack.append((right, rows[~goes_left], codes[~goes_left], edges, used | {attribute}))
            stack.append((left, rows[goes_left], codes[goes_left], edges, used | {attribute}))
        feature, cut, left_of, right_of = np.array(self._links).T
        return GiniTree(feature=feature, cut=cut, left=left_of, right=right_of, counts=np.array(self._counts))

    def _reconstruct(
        self, rows: Integers, codes: IntervalCodes, edges: list[Integers], used: frozenset[int]
    ) -> tuple[IntervalCodes, list[Integers]]:
        which = [attribute for attribute in range(len(edges)) if attribute not in used]
        if not which:
            return codes, edges
        number = min(number_of_intervals(len(rows)), self._most)
        parts = self._rows.partitions(max(number // LOCAL_STEP * LOCAL_STEP, FEWEST_INTERVALS))
        codes, edges = codes.copy(), list(edges)
        labels = self._rows.labels[rows]
        shares = self._rows.reconstruct(rows, labels, parts, which, self._stop_share)
        codes[:, which] = self._rows.associate(rows, labels, parts, which, shares)
        for attribute in which:
            edges[attribute] = parts.each[attribute].intervals
        return codes, edges

    def _histogram(self, rows: Integers, codes: IntervalCodes, edges: list[Integers]) -> Integers:
        classes, labels = self._rows.classes, self._rows.labels[rows]
        widest = max(len(each) - 1 for each in edges)
        tables = []
        for column in codes.T.astype(np.int64):
            table = np.bincount(column * classes + labels, minlength=(widest + 1) * classes)
            tables.append(table.reshape(-1, classes)[:widest])
        for table, each in zip(tables, edges, strict=True):
            table[len(each) - 1 :] = 0  # missing values
        return np.stack(tables)

    @staticmethod
    def _sides(column: IntervalCodes, boundary: int, size: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        below = column < boundary
        missing = column >= size
        heavier_left = 2 * below.sum() >= (~missing).sum()
        return below | (missing & heavier_left)

    def _finish(self, node: int, rows: Integers, codes: IntervalCodes, edges: list[Integers]) -> None:
        """Grow the subtree below a node with the association of this node, without further reconstruction."""
        sizes = np.array([len(each) - 1 for each in edges], dtype=np.int64)
        labels = self._rows.labels[rows]
        branch = grow_gini_tree(codes, labels, np.arange(len(rows)), sizes, self._rows.classes, spared=self._spared)
        branch = _with_edges(branch, edges)
        first = len(self._links) - 1
        numbers = np.concatenate([[node], first + np.arange(1, len(branch.feature))])
        self._links += [[LEAF, 0, LEAF, LEAF] for _ in range(len(branch.feature) - 1)]
        self._counts += list(branch.counts[1:])
        for place, number in enumerate(numbers):
            if branch.feature[place] != LEAF:
                left, right = numbers[branch.left[place]], numbers[branch.right[place]]
                self._links[number] = [int(branch.feature[place]), int(branch.cut[place]), int(left), int(right)]

    def _add(self, rows: Integers) -> int:
        self._links.append([LEAF, 0, LEAF, LEAF])
        self._counts.append(np.bincount(self._rows.labels[rows], minlength=self._rows.classes))
        return len(self._links) - 1
