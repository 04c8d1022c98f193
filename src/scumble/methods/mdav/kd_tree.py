"""A k-d tree in flat arrays that finds the farthest and nearest points of a shrinking set, for MDAV.

Results are exact, including ties: they equal those of a search through all points in which the lowest row number wins
among equal distances. A distance is a sum of squares, computed coordinate by coordinate in order, and rounding is
monotone. So the same sum over the sides of a node's box bounds the *computed* distance of every point in it, and no
branch that matters is pruned. Boxes shrink when points are removed; otherwise empty corners would be searched again and
again.

Arrays: `tree = (points, rows, lows, highs, alive, first)`, with points in the order of the leaves. The children of node
i are 2i + 1 and 2i + 2, and the leaves are the last row of nodes. The positions of leaf l start at `first[l]`; the
first `alive` of them have not been removed.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.counts import Integers

LEAF_POINTS = 12

KdTree = tuple[Any, ...]


def build_tree(points: npt.NDArray[np.float64]) -> KdTree:
    """Build the tree over all points. Nodes are split at the median of their widest side until leaves are small."""
    number = len(points)
    height = max(0, math.ceil(math.log2(max(number, 1) / LEAF_POINTS)))
    order = np.arange(number, dtype=np.int64)
    leaves = 1 << height
    first = np.empty(leaves + 1, dtype=np.int64)
    _sort_into_leaves(points, order, first, height)
    nodes = 2 * leaves - 1
    lows, highs = np.empty((nodes, points.shape[1])), np.empty((nodes, points.shape[1]))
    alive = np.zeros(nodes, dtype=np.int64)
    placed = np.ascontiguousarray(points[order])
    alive[leaves - 1 :] = np.diff(first)
    _measure_boxes(placed, lows, highs, alive, first)
    return placed, order, lows, highs, alive, first


@compiled
def _sort_into_leaves(points, order, first, height):  # type: ignore[no-untyped-def]
    """Split the range of every node, level by level. At the end `first` holds where each leaf begins."""
    number, sides = points.shape
    bounds = np.zeros(2, dtype=np.int64)
    bounds[1] = number
    for _ in range(height):
        finer = np.empty(2 * len(bounds) - 1, dtype=np.int64)
        for node in range(len(bounds) - 1):
            low, high = bounds[node], bounds[node + 1]
            middle = (low + high) // 2
            finer[2 * node], finer[2 * node + 1] = low, middle
            if high - low > 1:
                widest, width = 0, -1.0
                for side in range(sides):
                    smallest = largest = points[order[low], side]
                    for place in range(low, high):
                        value = points[order[place], side]
                        smallest, largest = min(smallest, value), max(largest, value)
                    if largest - smallest > width:
                        widest, width = side, largest - smallest
                keys = np.empty(high - low)
                for place in range(low, high):
                    keys[place - low] = points[order[place], widest]
                order[low:high] = order[low:high][np.argsort(keys, kind="mergesort")]
        finer[-1] = number
        bounds = finer
    first[:] = bounds


@compiled
def _measure_boxes(points, lows, highs, alive, first):  # type: ignore[no-untyped-def]
    leaves = len(first) - 1
    for leaf in range(leaves):
        _measure_leaf(points, lows, highs, alive, first, leaf)
    for node in range(leaves - 2, -1, -1):
        _join_children(lows, highs, alive, node)


@compiled
def _measure_leaf(points, lows, highs, alive, first, leaf):  # type: ignore[no-untyped-def]
    node = len(first) - 2 + leaf
    lows[node], highs[node] = np.inf, -np.inf
    for place in range(first[leaf], first[leaf] + alive[node]):
        for side in range(points.shape[1]):
            lows[node, side] = min(lows[node, side], points[place, side])
            highs[node, side] = max(highs[node, side], points[place, side])


@compiled
def _join_children(lows, highs, alive, node):  # type: ignore[no-untyped-def]
    left, right = 2 * node + 1, 2 * node + 2
    alive[node] = alive[left] + alive[right]
    for side in range(lows.shape[1]):
        lows[node, side] = min(lows[left, side], lows[right, side])
        highs[node, side] = max(highs[left, side], highs[right, side])


@compiled
def _distance(point, other):  # type: ignore[no-untyped-def]
    total = 0.0
    for side in range(len(point)):
        difference = point[side] - other[side]
        total += difference * difference
    return total


@compiled
def _farthest_in_box(low, high, target):  # type: ignore[no-untyped-def]
    total = 0.0
    for side in range(len(target)):
        difference = max(abs(low[side] - target[side]), abs(high[side] - target[side]))
        total += difference * difference
    return total


@compiled
def _nearest_in_box(low, high, target):  # type: ignore[no-untyped-def]
    total = 0.0
    for side in range(len(target)):
        difference = 0.0
        if target[side] < low[side]:
            difference = low[side] - target[side]
        elif target[side] > high[side]:
            difference = target[side] - high[side]
        total += difference * difference
    return total


@compiled
def farthest(tree, target):  # type: ignore[no-untyped-def]
    """The position of the point farthest from a target; among equals, the one with the lowest row number."""
    points, rows, lows, highs, alive, first = tree
    leaves = len(first) - 1
    stack, bounds = np.empty(64, dtype=np.int64), np.empty(64)
    stack[0], bounds[0], depth = 0, np.inf, 1
    best, found = -1.0, -1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bounds[depth] < best:
            continue
        if node >= leaves - 1:
            start = first[node - leaves + 1]
            for place in range(start, start + alive[node]):
                distance = _distance(points[place], target)
                if distance > best or (distance == best and rows[place] < rows[found]):
                    best, found = distance, place
            continue
        left, right = 2 * node + 1, 2 * node + 2
        to_left = _farthest_in_box(lows[left], highs[left], target) if alive[left] else -1.0
        to_right = _farthest_in_box(lows[right], highs[right], target) if alive[right] else -1.0
        if to_left > to_right:
            left, right, to_left, to_right = right, left, to_right, to_left
        for child, bound in ((left, to_left), (right, to_right)):
            if bound >= best and alive[child]:
                stack[depth], bounds[depth] = child, bound
                depth += 1
    return found


@compiled
def nearest(tree, target, number, distances, places):  # type: ignore[no-untyped-def]
    """Fill `places` with the positions of the `number` points nearest to a target; lowest row numbers win ties.

    `distances` and `places` form a heap with the farthest point first, which a nearer point replaces.
    """
    points, rows, lows, highs, alive, first = tree
    leaves = len(first) - 1
    stack, bounds = np.empty(64, dtype=np.int64), np.empty(64)
    stack[0], bounds[0], depth = 0, 0.0, 1
    size = 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if size == number and bounds[depth] > distances[0]:
            continue
        if node >= leaves - 1:
            start = first[node - leaves + 1]
            for place in range(start, start + alive[node]):
                distance = _distance(points[place], target)
                if size < number:
                    distances[size], places[size] = distance, place
                    size += 1
                    _rise(rows, distances, places, size - 1)
                elif distance < distances[0] or (distance == distances[0] and rows[place] < rows[places[0]]):
                    distances[0], places[0] = distance, place
                    _sink(rows, distances, places, size)
            continue
        left, right = 2 * node + 1, 2 * node + 2
        to_left = _nearest_in_box(lows[left], highs[left], target) if alive[left] else np.inf
        to_right = _nearest_in_box(lows[right], highs[right], target) if alive[right] else np.inf
        if to_left < to_right:
            left, right, to_left, to_right = right, left, to_right, to_left
        for child, bound in ((left, to_left), (right, to_right)):
            if alive[child] and (size < number or bound <= distances[0]):
                stack[depth], bounds[depth] = child, bound
                depth += 1


@compiled
def _after(rows, distances, places, one, other):  # type: ignore[no-untyped-def]
    """Whether entry `one` comes after `other`: farther, or as far with a higher row number."""
    if distances[one] != distances[other]:
        return distances[one] > distances[other]
    return rows[places[one]] > rows[places[other]]


@compiled
def _rise(rows, distances, places, entry):  # type: ignore[no-untyped-def]
    while entry > 0 and _after(rows, distances, places, entry, (entry - 1) // 2):
        above = (entry - 1) // 2
        distances[entry], distances[above] = distances[above], distances[entry]
        places[entry], places[above] = places[above], places[entry]
        entry = above


@compiled
def _sink(rows, distances, places, size):  # type: ignore[no-untyped-def]
    entry = 0
    while 2 * entry + 1 < size:
        below = 2 * entry + 1
        if below + 1 < size and _after(rows, distances, places, below + 1, below):
            below += 1
        if not _after(rows, distances, places, below, entry):
            return
        distances[entry], distances[below] = distances[below], distances[entry]
        places[entry], places[below] = places[below], places[entry]
        entry = below


@compiled
def remove(tree, leaf_of, place_of, row):  # type: ignore[no-untyped-def]
    """Remove the point of a row and shrink the boxes above it."""
    points, rows, lows, highs, alive, first = tree
    leaf = leaf_of[row]
    node = len(first) - 2 + leaf
    place, last = place_of[row], first[leaf] + alive[node] - 1
    for side in range(points.shape[1]):
        points[place, side], points[last, side] = points[last, side], points[place, side]
    rows[place], rows[last] = rows[last], rows[place]
    place_of[rows[place]], place_of[rows[last]] = place, last
    alive[node] -= 1
    _measure_leaf(points, lows, highs, alive, first, leaf)
    while node > 0:
        node = (node - 1) // 2
        _join_children(lows, highs, alive, node)


def addresses(tree: KdTree) -> tuple[Integers, Integers]:
    """The leaf and the position of each row."""
    rows, first = tree[1], tree[5]
    leaf_of, place_of = np.empty_like(rows), np.empty_like(rows)
    leaf_of[rows] = np.repeat(np.arange(len(first) - 1), np.diff(first))
    place_of[rows] = np.arange(len(rows))
    return leaf_of, place_of
