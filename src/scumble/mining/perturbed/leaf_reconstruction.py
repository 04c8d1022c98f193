"""Equation 3 over the leaves of a tree: how many rows of each class lie in each, all tests of a path taken together.

The paper rebuilds one attribute at a time and lets ranks say which rows go together, so a leaf's numbers still mix rows
from its neighbours: with the true distribution of every attribute in hand, Function 2 at 100 % uniform privacy is
learned to 76 % that way (`scumble reproduce as-limits`). A leaf is a box of intervals, and noise on the attributes of a
row is independent. So how likely a row is blurred from a leaf into what it tells is a product over the tested
attributes, and the paper's iteration over leaves in place of intervals takes neighbours apart again. The tests stay as
they were grown; only the numbers they are pruned and judged by change.

Within a leaf an attribute is taken to be distributed as its class is between the leaf's bounds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.mining.perturbed.association import whole_counts
from scumble.mining.perturbed.growth import LEAF, Grown
from scumble.mining.perturbed.rows import Partitions, Rows
from scumble.mining.reconstruction.iteration import Floats, stopping_difference
from scumble.model.counts import Integers

MOST_LEAVES = 512
LARGEST_TABLE = 2**25
"""Rows times leaves held at once. Beyond it evenly spaced rows stand for all: the shares of so many are sure enough."""
MOST_STEPS = 200
LEAF_STOP_SHARE = 0.1
"""Of the chi-square test's threshold: ten times the paper's for intervals. Leaves overlap more than intervals, and late
steps fit the noise: on people of the paper's functions, drawn with other seeds than the figures', 100 steps lost up to
5 points that 20 to 40 had won."""

Box = Mapping[int, tuple[int, int]]
"""The codes an attribute has at a leaf, from the first to before the last, for those that a test on its path names."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Marginals:
    """What is known of each attribute by itself: its intervals, and the shares of each class in them."""

    parts: Partitions
    shares: Floats
    """Shape (attributes, classes, intervals)."""


def with_leaves_reconstructed(tree: Grown, rows: Rows, known: Marginals) -> Grown:
    """The same tests with the classes' numbers rebuilt at every leaf, and added up above."""
    boxes = leaf_boxes(tree, [int(part.intervals[-1]) for part in known.parts.each])
    leaves = np.array(list(boxes))
    counts = np.zeros_like(tree.counts)
    for label in range(rows.classes):
        members = np.flatnonzero(rows.labels == label)
        if len(members):
            start = tree.counts[leaves, label] + 0.5
            chances = _chances(rows, members, known, label, list(boxes.values()))
            counts[leaves, label] = whole_counts(_iterate(chances, start / start.sum()), len(members))
    # Children come after their parents, so going backwards meets them first.
    for node in range(len(counts) - 1, -1, -1):
        if tree.feature[node] != LEAF:
            counts[node] = counts[tree.left[node]] + counts[tree.right[node]]
    return Grown(feature=tree.feature, cut=tree.cut, left=tree.left, right=tree.right, counts=counts)


def leaf_boxes(tree: Grown, ends: list[int]) -> dict[int, Box]:
    """The box of every leaf; `ends` are the codes there are of each attribute."""
    boxes: dict[int, Box] = {}
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


def _chances(rows: Rows, members: Integers, known: Marginals, label: int, boxes: list[Box]) -> npt.NDArray[np.float32]:
    """How much likelier each row's published values are from each leaf than from the whole class: shape (rows, leaves).

    A missing value says nothing.
    """
    every = max(math.ceil(len(members) * len(boxes) / LARGEST_TABLE), 1)
    codes = rows.codes[members[::every]]
    bins = known.parts.kernels.shape[1]
    # The bin after the last one is that of missing values.
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
    """By bin: how likely a value of the class between two codes is blurred into it, over how likely any value is."""
    part, kernel = known.parts.each[attribute], known.parts.kernels[attribute]
    shares = known.shares[attribute, label]
    overlap = np.minimum(high, part.intervals[1:]) - np.maximum(low, part.intervals[:-1])
    inside = np.zeros_like(shares)
    inside[: part.size] = np.maximum(overlap, 0) / np.diff(part.intervals)
    weights = inside * shares
    # Where the class has nothing, as much as there is room.
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


def _iterate(chances: npt.NDArray[np.float32], start: Floats) -> Floats:
    """Equation 3 with a row for each bin and a leaf for each interval, from `start`, until two estimates are alike."""
    shares, rows = start, len(chances)
    limit = stopping_difference(len(start), LEAF_STOP_SHARE)
    for _ in range(MOST_STEPS):
        expected = chances @ shares.astype(np.float32)
        weight = np.divide(np.float32(1), expected, out=np.zeros_like(expected), where=expected > 0)
        raised = shares * (weight @ chances)
        new = raised / raised.sum() if raised.sum() > 0 else shares
        change = rows * float(((new - shares) ** 2 / np.maximum(shares, np.finfo(np.float64).tiny)).sum())
        shares = new
        if change < limit:
            break
    return shares
