"""Grows the gini tree of scikit-learn's `DecisionTreeClassifier` from codes and counts, several times faster.

The tree is the same, node by node. Sums of counts are exact, so a split has the same impurity whether rows are sorted
or counted by code. Among equally good splits the first one wins, in an order of features that is random: the same
generator (xorshift, 32 bits), asked in the same order, gives the same ties. A feature that is constant at a node is not
looked at below it.
"""

from typing import Any, NamedTuple

import numpy as np

from scumble.compiled import compiled
from scumble.mining.benchmark.encoding import Features
from scumble.model.counts import Floats, Integers

FEW = 24
"""Up to so many cases are sorted by insertion."""
SMALLEST = float(np.finfo(np.float64).eps)
LARGEST_RANDOM = 2**31 - 1


class CartTree(NamedTuple):
    """A tree as arrays over its nodes, the root first. Values up to the threshold go left; a leaf has no children."""

    children_left: Integers
    children_right: Integers
    feature: Integers
    threshold: Floats
    impurity: Floats
    weighted_n_node_samples: Floats
    counts: Floats
    """The records of each class, shape (nodes, classes)."""

    def apply(self, features: Features) -> Integers:
        """The leaf of each row."""
        leaves = np.empty(len(features), dtype=np.int64)
        _apply(np.ascontiguousarray(features), self, leaves)
        return leaves


def grow(features: Features, labels: Integers, counts: Integers, *, classes: int, seed: int) -> CartTree:
    """The unpruned tree of rows with positive counts; values of features are non-negative integers."""
    rows = len(labels)
    room, width = max(2 * rows - 1, 1), features.shape[1]
    left, right, tested = (np.full(room, -1, dtype=np.int64) for _ in range(3))
    threshold, impurity, weight = (np.zeros(room) for _ in range(3))
    tree = CartTree(left, right, tested, threshold, impurity, weight, np.zeros((room, classes)))
    codes = np.ascontiguousarray(features.T).astype(np.int32)
    sizes = codes.max(axis=1, initial=0).astype(np.int64) + 1
    order = np.arange(rows, dtype=np.int32)
    weights, coded_labels = counts.astype(np.float64), labels.astype(np.int32)
    stack = np.empty((rows + 2, 5), dtype=np.int64)
    impurities = np.empty(rows + 2)
    names, constant = np.arange(width), np.zeros(width, dtype=np.int64)
    made = _grow(codes, coded_labels, weights, sizes, order, stack, impurities, names, constant, seed, tree)
    kept: Any = (array[:made].copy() for array in tree)
    return CartTree(*kept)


@compiled
def _grow(  # type: ignore[no-untyped-def]
    codes, labels, weights, sizes, order, stack, impurities, names, constant, seed, tree
):
    """Grow from the root, left branches first. Returns the number of nodes.

    `stack` has for each waiting node where its rows begin and end in `order`, its parent, its side, and how many
    features are constant in its parent: the first of `constant`.
    """
    rows, classes = len(order), tree.counts.shape[1]
    moved = np.empty(rows, dtype=np.int32)
    table = np.zeros((max(sizes.max(), 1), classes))
    few = np.empty((FEW, 2), dtype=np.int64)
    left, best_left = np.zeros(classes), np.zeros(classes)
    state = np.empty(1, dtype=np.int64)
    state[0] = seed
    made, waiting = 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, rows, -1, 0, 0
    whole = 0.0
    while waiting:
        waiting -= 1
        begin, end, parent, side, known = stack[waiting]
        node = made
        made += 1
        total = tree.counts[node]
        for place in range(begin, end):
            total[labels[order[place]]] += weights[order[place]]
        weight = total.sum()
        if parent < 0:
            whole = weight
            impurity = _gini(total, weight)
        else:
            impurity = impurities[waiting]
            if side:
                tree.children_right[parent] = node
            else:
                tree.children_left[parent] = node
        tree.impurity[node], tree.weighted_n_node_samples[node] = impurity, weight
        if end - begin < 2 or impurity <= SMALLEST:
            continue
        best, feature, low, high = -np.inf, -1, -1, -1
        undrawn, found, drawn = len(names), 0, 0
        while undrawn > known + found:
            place = drawn + _random(state) % (undrawn - found - drawn)
            if place < known:
                names[drawn], names[place] = names[place], names[drawn]
                drawn += 1
                continue
            place += found
            name = names[place]
            rows_here = (labels, weights, order, begin, end)
            value, lower, upper = _best_cut(
                codes[name], rows_here, sizes[name], total, weight, best, table, few, left, best_left
            )
            if lower == -2:
                names[place], names[known + found] = names[known + found], names[place]
                found += 1
                continue
            undrawn -= 1
            names[undrawn], names[place] = names[place], names[undrawn]
            if lower >= 0:
                best, feature, low, high = value, name, lower, upper
        names[:known] = constant[:known]
        constant[known : known + found] = names[known : known + found]
        if feature < 0:
            continue
        on_left = best_left.sum()
        impurity_left = _gini(best_left, on_left)
        for label in range(classes):
            left[label] = total[label] - best_left[label]
        impurity_right = _gini(left, weight - on_left)
        gained = impurity - (weight - on_left) / weight * impurity_right - on_left / weight * impurity_left
        if weight / whole * gained + SMALLEST < 0.0:
            continue
        middle = _divide(codes[feature], order, begin, end, low, moved)
        tree.feature[node], tree.threshold[node] = feature, low / 2.0 + high / 2.0
        for right in (1, 0):
            stack[waiting, 0] = middle if right else begin
            stack[waiting, 1] = end if right else middle
            stack[waiting, 2], stack[waiting, 3], stack[waiting, 4] = node, right, known + found
            impurities[waiting] = impurity_right if right else impurity_left
            waiting += 1
    return made


@compiled
def _random(state):  # type: ignore[no-untyped-def]
    word = state[0]
    word ^= (word << 13) & 0xFFFFFFFF
    word ^= word >> 17
    word ^= (word << 5) & 0xFFFFFFFF
    state[0] = word
    return word & 0x7FFFFFFF


@compiled
def _gini(counts, weight):  # type: ignore[no-untyped-def]
    squares = 0.0
    for count in counts:
        squares += count * count
    return 1.0 - squares / (weight * weight)


@compiled
def _best_cut(  # type: ignore[no-untyped-def]
    column, rows_here, size, total, weight, best, table, few, left, best_left
):
    """The best cut of a feature if it is better than `best`: its value and the codes on both sides.

    The codes are -1 without a better cut, -2 if the feature is constant. `best_left` gets the records of each class on
    the left. `table` and `few` are room for counts and for a few rows.
    """
    labels, weights, order, begin, end = rows_here
    classes = len(total)
    lower, upper, previous, distinct = -1, -1, -1, 0
    left[:] = 0.0
    if end - begin <= FEW or size > 16 * (end - begin):
        cases = end - begin
        pairs = few
        if cases <= FEW:
            for place in range(cases):
                row = order[begin + place]
                code: Any = np.int64(column[row])
                spot = place
                while spot > 0 and few[spot - 1, 0] > code:
                    few[spot, 0], few[spot, 1] = few[spot - 1, 0], few[spot - 1, 1]
                    spot -= 1
                few[spot, 0], few[spot, 1] = code, row
        else:
            here = np.empty(cases, dtype=np.int64)
            for place in range(cases):
                here[place] = column[order[begin + place]]
            pairs = np.empty((cases, 2), dtype=np.int64)
            sorted_places = np.argsort(here)
            for place in range(cases):
                pairs[place, 0], pairs[place, 1] = here[sorted_places[place]], order[begin + sorted_places[place]]
        if pairs[0, 0] == pairs[cases - 1, 0]:
            return best, -2, -2
        for place in range(cases):
            code, row = pairs[place, 0], pairs[place, 1]
            if previous >= 0 and code != previous:
                value = _value(left, total, weight)
                if value > best:
                    best, lower, upper = value, previous, code
                    best_left[:] = left
            left[labels[row]] += weights[row]
            previous = code
        return best, lower, upper
    for place in range(begin, end):
        row = order[place]
        table[column[row], labels[row]] += weights[row]
    for code in range(size):
        step = 0.0
        for label in range(classes):
            step += table[code, label]
        if step == 0.0:
            continue
        distinct += 1
        if previous >= 0:
            value = _value(left, total, weight)
            if value > best:
                best, lower, upper = value, previous, code
                best_left[:] = left
        for label in range(classes):
            left[label] += table[code, label]
            table[code, label] = 0.0
        previous = code
    if distinct < 2:
        return best, -2, -2
    return best, lower, upper


@compiled
def _value(left, total, weight):  # type: ignore[no-untyped-def]
    """Minus the impurity of both sides, weighted by their records."""
    on_left, squares_left, squares_right = 0.0, 0.0, 0.0
    for label in range(len(total)):
        other = total[label] - left[label]
        on_left += left[label]
        squares_left += left[label] * left[label]
        squares_right += other * other
    on_right = weight - on_left
    right = 1.0 - squares_right / (on_right * on_right)
    return -on_right * right - on_left * (1.0 - squares_left / (on_left * on_left))


@compiled
def _divide(column, order, begin, end, cut, moved):  # type: ignore[no-untyped-def]
    """Move rows with codes up to the cut before the others, both in their order; returns where the others begin."""
    middle, others = begin, 0
    for place in range(begin, end):
        row = order[place]
        if column[row] <= cut:
            order[middle] = row
            middle += 1
        else:
            moved[others] = row
            others += 1
    for place in range(others):
        order[middle + place] = moved[place]
    return middle


@compiled
def _apply(features, tree, leaves):  # type: ignore[no-untyped-def]
    for row in range(len(features)):
        node = 0
        while tree.children_left[node] >= 0:
            if features[row, tree.feature[node]] <= tree.threshold[node]:
                node = tree.children_left[node]
            else:
                node = tree.children_right[node]
        leaves[row] = node
