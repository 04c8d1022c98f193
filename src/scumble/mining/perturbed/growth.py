"""Grows a binary decision tree by the gini index over small integer codes: the growth phase of SLIQ and SPRINT.

The split of a node is chosen from its histograms (attribute x code x class); candidates are the boundaries between
codes. The loops are compiled. A node costs rows x attributes, plus one pass over its histograms.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.mining.tree_model import FlatTree
from scumble.model.counts import Integers

IntervalCodes = npt.NDArray[np.uint16]
"""Codes of intervals, one column per attribute. A code of the number of intervals or more is a missing value."""

LEAST_GAIN = 1e-9
"""A smaller relative gain of the gini index is rounding error."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GiniTree(FlatTree):
    """A tree over codes. Rows with a code below `cut` go left; missing codes go to the side with more rows."""

    cut: Integers
    counts: Integers
    """Rows by class at each node: shape (nodes, classes)."""


def grow_gini_tree(
    codes: IntervalCodes, labels: Integers, rows: Integers, sizes: Integers, classes: int, *, spared: float = 0.0
) -> GiniTree:
    """A tree over the given rows.

    A node is a leaf if no boundary lowers the gini index, or if at most `spared` of its rows are outside its majority
    class: pruning would remove such a split again. A code of `sizes[attribute]` or more is a missing value.
    """
    arrays = _grow(codes, labels, rows.copy(), sizes, classes, spared)
    return GiniTree(feature=arrays[0], cut=arrays[1], left=arrays[2], right=arrays[3], counts=arrays[4])


@compiled
def _grow(codes, labels, rows, sizes, classes, spared):  # type: ignore[no-untyped-def]
    attributes = len(sizes)
    widest = 1
    for attribute in range(attributes):
        widest = max(widest, sizes[attribute])
    room = max(2 * len(rows) + 1, 3)
    feature = np.full(room, -1, np.int64)
    cut = np.zeros(room, np.int64)
    left = np.full(room, -1, np.int64)
    right = np.full(room, -1, np.int64)
    counts = np.zeros((room, classes), np.int64)
    histogram = np.zeros((attributes, widest, classes), np.int64)
    spare = np.empty_like(rows)
    stack = [(0, 0, len(rows))]
    made = 1
    while len(stack) > 0:
        node, start, stop = stack.pop()
        for place in range(start, stop):
            counts[node, labels[rows[place]]] += 1
        size = stop - start
        if size < 2 or size - counts[node].max() <= spared:
            continue
        _fill(codes, labels, rows, start, stop, sizes, histogram)
        chosen, boundary, heavier_left = _best(histogram, sizes, classes, counts[node])
        if chosen < 0:
            continue
        middle = _divide(codes, rows, spare, start, stop, chosen, boundary, sizes[chosen], heavier_left)
        feature[node] = chosen
        cut[node] = boundary
        left[node] = made
        right[node] = made + 1
        stack.append((made + 1, middle, stop))
        stack.append((made, start, middle))
        made += 2
    return feature[:made], cut[:made], left[:made], right[:made], counts[:made]


@compiled
def _fill(codes, labels, rows, start, stop, sizes, histogram):  # type: ignore[no-untyped-def]
    histogram[:] = 0
    for place in range(start, stop):
        row = rows[place]
        label = labels[row]
        for attribute in range(len(sizes)):
            code = codes[row, attribute]
            if code < sizes[attribute]:
                histogram[attribute, code, label] += 1


@compiled
def _best(histogram, sizes, classes, counts):  # type: ignore[no-untyped-def]
    """The attribute and boundary with the smallest weighted gini index, and whether more rows go left.

    Equivalently, the largest sum of squared counts over size on both sides. The gain is scaled to all rows of the node,
    so that an attribute with many missing values does not win by few rows."""
    best = LEAST_GAIN
    chosen, boundary, heavier_left = -1, 0, True
    everything = counts.sum()
    total = np.zeros(classes)
    below = np.zeros(classes)
    for attribute in range(len(sizes)):
        total[:] = 0.0
        below[:] = 0.0
        for code in range(sizes[attribute]):
            for label in range(classes):
                total[label] += histogram[attribute, code, label]
        known = total.sum()
        if known < 2:
            continue
        whole = (total * total).sum() / known
        under = 0.0
        for code in range(1, sizes[attribute]):
            step = 0.0
            for label in range(classes):
                step += histogram[attribute, code - 1, label]
                below[label] += histogram[attribute, code - 1, label]
            under += step
            over = known - under
            if step == 0.0 or under == 0.0:
                continue
            if over == 0.0:
                break
            squares_below = 0.0
            squares_above = 0.0
            for label in range(classes):
                squares_below += below[label] * below[label]
                squares_above += (total[label] - below[label]) * (total[label] - below[label])
            gain = (squares_below / under + squares_above / over - whole) / everything
            if gain > best:
                best = gain
                chosen, boundary, heavier_left = attribute, code, under >= over
    return chosen, boundary, heavier_left


@compiled
def _divide(codes, rows, spare, start, stop, chosen, boundary, size, heavier_left):  # type: ignore[no-untyped-def]
    """Move the rows that go left to the front, keeping the order on each side; returns where the right side begins."""
    low, high = start, 0
    for place in range(start, stop):
        row = rows[place]
        code = codes[row, chosen]
        if heavier_left if code >= size else code < boundary:
            rows[low] = row
            low += 1
        else:
            spare[high] = row
            high += 1
    for place in range(high):
        rows[low + place] = spare[place]
    return low


def best_gini_split(histogram: Integers, sizes: Integers) -> tuple[int, int] | None:
    """The split that `grow_gini_tree` would choose at a node: attribute and boundary; None if none lowers the index.

    `histogram` has shape (attributes, codes, classes).
    """
    rows = histogram.sum(axis=2).sum(axis=1).max(keepdims=True)
    chosen, boundary, _ = _best(histogram, sizes, histogram.shape[2], rows)
    return None if chosen < 0 else (int(chosen), int(boundary))
