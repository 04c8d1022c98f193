"""Decision trees from blurred rows: Global, ByClass and Local of Agrawal & Srikant (2000, section 4), or uncorrected.

Split points are boundaries of intervals, chosen by gini. Global and ByClass reconstruct once, at the root, and keep the
association of values and intervals down the tree. Local reconstructs again at each node until few rows are left.

Where Local needs reading: rows reach a node by their blurred values, so for an attribute that has been split on, noise
is no longer distributed as the noise model says, and a reconstruction at the node deconvolves a slice as if it were the
whole. Done to the letter it is worse than no correction. So a node reconstructs the attributes that no test on its path
has used, for which the noise is still as it was, and keeps the association of the others.

Beyond the paper, ByClass and Local end by reconstructing the leaves (`leaf_reconstruction`), and are pruned by what
that finds; `Leaves.ASSOCIATED` leaves it out.
"""

from enum import StrEnum

import numpy as np

from scumble.mining.perturbed.description_length import bits_of_a_test, kept, prune, spared_errors
from scumble.mining.perturbed.growth import LEAF, Codes, Grown, best_split, grow
from scumble.mining.perturbed.leaf_reconstruction import MOST_LEAVES, Marginals, with_leaves_reconstructed
from scumble.mining.perturbed.rows import Rows
from scumble.mining.reconstruction.iteration import (
    FEWEST_INTERVALS,
    POINTS_PER_INTERVAL,
    STOP_SHARE,
    number_of_intervals,
)
from scumble.model.counts import Integers

LOCAL_ROWS = FEWEST_INTERVALS * POINTS_PER_INTERVAL
"""Below so many rows Local reconstructs no more: fewer than ten intervals would have their hundred points."""
LOCAL_STEP = 10
"""Local rounds its number of intervals down to a multiple of this, so that few kernels serve all nodes."""


class Algorithm(StrEnum):
    """How a tree is learned from blurred rows."""

    UNCORRECTED = "uncorrected"
    """Values as they are: the paper's Randomized on blurred rows, its Original on true ones."""
    GLOBAL = "global"
    BYCLASS = "byclass"
    LOCAL = "local"


class Leaves(StrEnum):
    """Where the numbers of rows at the leaves of ByClass and Local come from."""

    RECONSTRUCTED = "reconstructed"
    """The paper's iteration once more, over leaves in place of intervals."""
    ASSOCIATED = "associated"
    """The rows that the association sends there: the paper to the letter."""


FIRST_SHARE = 1 / 3
"""Of a test's bits, before leaves are reconstructed: what looks useless by mixed numbers may not be by better ones."""


def train(
    rows: Rows,
    algorithm: Algorithm,
    *,
    intervals: int | None = None,
    pruned: bool = True,
    test_bits: float | None = None,
    local_rows: int = LOCAL_ROWS,
    stop_share: float = STOP_SHARE,
    leaves: Leaves = Leaves.RECONSTRUCTED,
) -> Grown:
    """A tree whose cuts are codes: of true values, or of published ones where nothing is corrected. A tree that is not
    pruned keeps the association at its leaves, of which there are too many to reconstruct."""
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
    spared = spared_errors(first) if pruned else 0.0
    if algorithm is Algorithm.LOCAL:
        tree = _LocalGrowth(rows, spared, local_rows, number, stop_share).grow(codes, edges)
    else:
        tree = _with_edges(grow(codes, rows.labels, everyone, sizes, rows.classes, spared=spared), edges)
    if not pruned:
        return tree
    tree = prune(tree, kept(tree, first))
    if known is None:
        return tree
    while (tree.feature == LEAF).sum() > MOST_LEAVES:
        first *= 2
        tree = prune(tree, kept(tree, first))
    tree = with_leaves_reconstructed(tree, rows, known)
    return prune(tree, kept(tree, bits))


def _with_edges(tree: Grown, edges: list[Integers]) -> Grown:
    """Cuts between intervals as cuts between codes."""
    cut = tree.cut.copy()
    for attribute, places in enumerate(edges):
        here = tree.feature == attribute
        cut[here] = places[cut[here]]
    return Grown(feature=tree.feature, cut=cut, left=tree.left, right=tree.right, counts=tree.counts)


class _LocalGrowth:
    """The growth of one Local tree; nodes are collected in lists, parents before children."""

    def __init__(self, rows: Rows, spared: float, fewest: int, most: int, stop_share: float) -> None:
        self._rows = rows
        self._spared = spared
        self._fewest = fewest
        self._most = most
        self._stop_share = stop_share
        self._links: list[list[int]] = []
        self._counts: list[Integers] = []

    def grow(self, codes: Codes, edges: list[Integers]) -> Grown:
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
            best = best_split(self._histogram(rows, codes, edges), np.array([len(e) - 1 for e in edges]))
            if best is None:
                continue
            attribute, boundary = best
            goes_left = self._sides(codes[:, attribute], boundary, len(edges[attribute]) - 1)
            left, right = self._add(rows[goes_left]), self._add(rows[~goes_left])
            self._links[node] = [attribute, int(edges[attribute][boundary]), left, right]
            stack.append((right, rows[~goes_left], codes[~goes_left], edges, used | {attribute}))
            stack.append((left, rows[goes_left], codes[goes_left], edges, used | {attribute}))
        feature, cut, left_of, right_of = np.array(self._links).T
        return Grown(feature=feature, cut=cut, left=left_of, right=right_of, counts=np.array(self._counts))

    def _reconstruct(
        self, rows: Integers, codes: Codes, edges: list[Integers], used: frozenset[int]
    ) -> tuple[Codes, list[Integers]]:
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

    def _histogram(self, rows: Integers, codes: Codes, edges: list[Integers]) -> Integers:
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
    def _sides(column: Codes, boundary: int, size: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        below = column < boundary
        missing = column >= size
        heavier_left = 2 * below.sum() >= (~missing).sum()
        return below | (missing & heavier_left)

    def _finish(self, node: int, rows: Integers, codes: Codes, edges: list[Integers]) -> None:
        """Below here the association stands: grow the rest of the branch by it."""
        sizes = np.array([len(each) - 1 for each in edges], dtype=np.int64)
        labels = self._rows.labels[rows]
        branch = grow(codes, labels, np.arange(len(rows)), sizes, self._rows.classes, spared=self._spared)
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
