"""Growing a binary decision tree by gini over small whole-number codes: the growth phase of SLIQ and SPRINT.

A node's histograms (attribute x code x class) decide its split, and candidates are the boundaries between codes. The
loops are compiled: a node costs its rows times its attributes, plus its histograms once.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.counts import Integers

Codes = npt.NDArray[np.uint16]

LEAF = -1
LEAST_GAIN = 1e-9
"""Of gini, as a share: less is rounding, not gain."""


@dataclass(frozen=True, kw_only=True)
class Grown:
    """Nodes in the order they were made, parents before children. Row counts by class at each; `feature` is LEAF at
    leaves, elsewhere rows with code below `cut` go `left`, and missing codes where more rows go."""

    feature: Integers
    cut: Integers
    left: Integers
    right: Integers
    counts: Integers


def grow(
    codes: Codes, labels: Integers, rows: Integers, sizes: Integers, classes: int, *, spared: float = 0.0
) -> Grown:
    """A tree over the given rows. A node is a leaf when no boundary lowers gini, or when no more than `spared` of its
    rows are of other classes than most: what pruning would take away again need not grow. A code of `sizes[a]` or more
    is missing."""
    arrays = _grow(codes, labels, rows.copy(), sizes, classes, spared)
    return Grown(feature=arrays[0], cut=arrays[1], left=arrays[2], right=arrays[3], counts=arrays[4])


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
    """The attribute and boundary with the least weighted gini: the greatest sum of squares over size on both sides,
    scaled to all rows where some are missing."""
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
    """Rows that go left first, each side in its order; returns where the right side begins."""
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


def best_split(histogram: Integers, sizes: Integers) -> tuple[int, int] | None:
    """The attribute and boundary that `grow` would choose at a node with these histograms, shape (attributes, codes,
    classes); None where none lowers gini."""
    rows = histogram.sum(axis=2).sum(axis=1).max(keepdims=True)
    chosen, boundary, _ = _best(histogram, sizes, histogram.shape[2], rows)
    return None if chosen < 0 else (int(chosen), int(boundary))
