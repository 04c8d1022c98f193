"""Reconstructs the class counts at the leaves of a tree: Equation 3 of Agrawal & Srikant (2000) over leaves.

The paper reconstructs one attribute at a time and associates values with intervals by rank. The counts of a leaf
therefore still contain rows of neighbouring leaves: even with the true distribution of every attribute, Function 2 at
100 % uniform privacy reaches only 76 % accuracy (`scumble reproduce as-limits`).

A leaf is a box of intervals, and the noise on different attributes of a row is independent. The likelihood of a row's
report given a leaf is thus a product over the attributes that the path tests. The paper's iteration, with leaves in
place of intervals, separates neighbouring leaves. The tests of the tree do not change; only the counts do, which
pruning and prediction use.

Assumption: within a leaf, an attribute has the reconstructed distribution of its class, restricted to the leaf's
bounds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.mining.perturbed.association import whole_counts
from scumble.mining.perturbed.growth import GiniTree
from scumble.mining.perturbed.rows import IntervalPartitions, PerturbedRows
from scumble.mining.reconstruction.iteration import stopping_difference
from scumble.mining.tree_model import LEAF
from scumble.model.counts import Floats, Integers

MOST_LEAVES = 512
LARGEST_TABLE = 2**25
"""Largest number of rows x leaves in memory. Beyond it, evenly spaced rows are used as a sample of all rows."""
MOST_STEPS = 200
LEAF_STOP_SHARE = 0.1
"""The stopping difference as a share of the chi-square threshold: ten times the paper's value for intervals. Leaves
overlap more than intervals, and late steps fit noise: on the paper's functions (with other seeds than the figures) 100
steps lost up to 5 points of accuracy that 20 to 40 steps had gained."""

LeafBox = Mapping[int, tuple[int, int]]
"""For each attribute that the path to a leaf tests: the range of its codes, from the first to before the last."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Marginals:
    """The reconstructed distribution of each attribute in each class."""

    parts: IntervalPartitions
    shares: Floats
    """Shape (attributes, classes, intervals)."""


def with_leaves_reconstructed(tree: GiniTree, rows: PerturbedRows, known: Marginals) -> GiniTree:
    """The same tests, with reconstructed class counts at the leaves and their sums above."""
    boxes = leaf_boxes(tree, [int(part.intervals[-1]) for part in known.parts.each])
    leaves = np.array(list(boxes))
    counts = np.zeros_like(tree.counts)
    for label in range(rows.classes):
        members = np.flatnonzero(rows.labels == label)
        if len(members):
            start = tree.counts[leaves, label] + 0.5
            likelihoods = _likelihoods(rows, members, known, label, list(boxes.values()))
            counts[leaves, label] = whole_counts(_iterate(likelihoods, start / start.sum()), len(members))
    for node in tree.bottom_up():
        counts[node] = counts[tree.left[node]] + counts[tree.right[node]]
    return replace(tree, counts=counts)


def leaf_boxes(tree: GiniTree, ends: list[int]) -> dict[int, LeafBox]:
    """The box of every leaf; `ends` is the number of codes of each attribute."""
    boxes: dict[int, LeafBox] = {}
    stack: list[tuple[int, dict[int, tuple[int, int]]]] = [(0, {})]
    while stack:
        node, box = stack.pop()
        attribute, cut = int(tree.feature[node]), int(tree.cut[node])
        if attribute == LEAF:
            boxes[node] = box
            continue
        low, high = box.get(attribute, (0, ends[attribute]))
        stack.append((int(tree.right[node]), {**box, attribute: (cut, high)}))
        stack.append((int(tree.left[node]), {**box, attribute: (low, cut)}))
    return boxes


def _likelihoods(
    rows: PerturbedRows, members: Integers, known: Marginals, label: int, boxes: list[LeafBox]
) -> npt.NDArray[np.float32]:
    """Pr[report | leaf, class] / Pr[report | class] for each row and leaf: shape (rows, leaves).

    A missing value has ratio one.
    """
    every = max(math.ceil(len(members) * len(boxes) / LARGEST_TABLE), 1)
    codes = rows.codes[members[::every]]
    bins = known.parts.kernels.shape[1]
    # The bin after the last one is for missing values.
    tables: list[npt.NDArray[np.float32]] = []
    numbers: dict[tuple[int, int, int], int] = {}
    for box in boxes:
        for attribute, (low, high) in box.items():
            if (attribute, low, high) not in numbers:
                numbers[attribute, low, high] = len(tables)
                tables.append(_ratios(known, label, attribute, low, high))
    deepest = max((len(box) for box in boxes), default=0)
    which = np.full((len(boxes), deepest + 1), -1)
    for place, box in enumerate(boxes):
        which[place, : len(box)] = [numbers[attribute, low, high] for attribute, (low, high) in box.items()]
    owner = np.array([attribute for attribute, _, _ in numbers] or [0])
    places = np.stack([known.parts.places(a, codes[:, a]) for a in range(codes.shape[1])], axis=1)
    places = np.where(places < 0, bins, places).astype(np.uint16)
    result = np.empty((len(codes), len(boxes)), dtype=np.float32)
    _multiply(places, which, owner, np.stack(tables) if tables else np.ones((1, bins + 1), np.float32), result)
    return result


def _ratios(known: Marginals, label: int, attribute: int, low: int, high: int) -> npt.NDArray[np.float32]:
    """Pr[bin | class, value between two codes] / Pr[bin | class] for each bin, and one for a missing value."""
    part, kernel = known.parts.each[attribute], known.parts.kernels[attribute]
    shares = known.shares[attribute, label]
    overlap = np.minimum(high, part.intervals[1:]) - np.maximum(low, part.intervals[:-1])
    inside = np.zeros_like(shares)
    inside[: part.size] = np.maximum(overlap, 0) / np.diff(part.intervals)
    weights = inside * shares
    # Where the class has no mass, assume a uniform distribution over the cells.
    weights = weights / weights.sum() if weights.sum() > 0 else inside / inside.sum()
    whole = kernel @ shares
    ratio = np.divide(kernel @ weights, whole, out=np.zeros_like(whole), where=whole > 0)
    return np.append(ratio, 1.0).astype(np.float32)


@compiled
def _multiply(places, which, owner, tables, result):  # type: ignore[no-untyped-def]
    for row in range(len(places)):
        for leaf in range(len(which)):
            product = np.float32(1.0)
            for factor in which[leaf]:
                if factor < 0:
                    break
                product *= tables[factor, places[row, owner[factor]]]
            result[row, leaf] = product


def _iterate(likelihoods: npt.NDArray[np.float32], start: Floats) -> Floats:
    """Equation 3 with rows as bins and leaves as intervals, from `start`, until two successive estimates are close."""
    shares, rows = start, len(likelihoods)
    limit = stopping_difference(len(start), LEAF_STOP_SHARE)
    for _ in range(MOST_STEPS):
        expected = likelihoods @ shares.astype(np.float32)
        weight = np.divide(np.float32(1), expected, out=np.zeros_like(expected), where=expected > 0)
        raised = shares * (weight @ likelihoods)
        new = raised / raised.sum() if raised.sum() > 0 else shares
        change = rows * float(((new - shares) ** 2 / np.maximum(shares, np.finfo(np.float64).tiny)).sum())
        shares = new
        if change < limit:
            break
    return shares
