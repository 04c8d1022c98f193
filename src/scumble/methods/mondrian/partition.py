"""The partition of Mondrian: divides the table along one attribute after the other while all parts stay large enough.

A part is divided along the attribute in which it is widest, relative to the whole table. If that would leave a part
with fewer than k records, or with too little diversity, the next widest attribute is tried. The records of a part that
cannot be divided form a group.

- Numbers, dates and ordered categories are divided at the median. Strict: equal values stay together. Relaxed: the two
  halves have equal sizes, and records with the median itself go to either.
- Categories are divided into the children of the lowest node of the taxonomy that covers the part.

Ties between attributes: the first in the schema. `tests/support/anonymity_twins.py` has the readable version.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from scumble.compiled import compiled
from scumble.model.counts import Integers
from scumble.model.diversity import MoveCosts
from scumble.model.domain import Domain
from scumble.model.taxonomy import Node

ROUNDING = 1e-12


class SensitiveRule(IntEnum):
    """What the values of the sensitive attribute must satisfy in every group."""

    NONE = 0
    DISTINCT = 1
    ENTROPY = 2
    CLOSENESS = 3


@dataclass(frozen=True, kw_only=True)
class GroupCondition:
    """The condition on every group: at least k records, and a rule about the sensitive attribute with its limit."""

    k: int
    rule: SensitiveRule = SensitiveRule.NONE
    limit: float = 0.0
    values: int = 1
    """The number of values of the sensitive attribute."""
    costs: MoveCosts | None = None


def partition(
    columns: Sequence[Integers],
    domains: Sequence[Domain],
    condition: GroupCondition,
    *,
    sensitive: Integers | None = None,
    relaxed: bool = False,
) -> Integers | None:
    """The group of each row, or None if even the whole table does not satisfy the condition.

    `columns` are the codes of the quasi-identifier, `sensitive` those of the sensitive attribute. A relaxed partition
    depends on the order of rows, so the rows must be in an order that follows from their values.
    """
    rows = len(columns[0])
    codes = np.stack(columns)
    secret = np.zeros(rows, dtype=np.int64) if sensitive is None else sensitive
    shares = np.bincount(secret, minlength=condition.values) / max(rows, 1)
    costs = condition.costs
    none: Integers = np.zeros(0, dtype=np.int64)
    ranges = (none, none, np.zeros(0)) if costs is None else (costs.lows, costs.highs, costs.weights)
    labels: Integers = np.zeros(rows, dtype=np.int64)
    groups = _partition(
        codes,
        *_flat_trees(domains),
        condition.k,
        relaxed,
        secret,
        (int(condition.rule), condition.limit, shares, *ranges),
        labels,
    )
    return labels if groups else None


def covering_range(domain: Domain, low: int, high: int) -> tuple[int, int]:
    """The smallest generalized value that covers the codes from `low` to `high`, both included."""
    if domain.splits_anywhere:
        return low, high + 1
    node = domain.root
    while True:
        below = next((child for child in node.children if child.low <= low and high < child.high), None)
        if below is None:
            return node.low, node.high
        node = below


def _flat_trees(domains: Sequence[Domain]) -> tuple[Integers, Integers, Integers, Integers]:
    """All taxonomies in flat arrays: the root of each attribute, -1 if it is split anywhere; and of each node the first
    code, the place of its first child, and how many children it has. The children of a node stand side by side."""
    roots: list[int] = []
    nodes: list[int] = []
    children: list[tuple[int, int]] = []
    for domain in domains:
        roots.append(-1 if domain.splits_anywhere else len(nodes))
        waiting: list[Node] = [] if domain.splits_anywhere else [domain.root]
        base = len(nodes)
        while len(nodes) - base < len(waiting):
            node = waiting[len(nodes) - base]
            children.append((base + len(waiting), len(node.children)))
            nodes.append(node.low)
            waiting.extend(node.children)
    links = np.array(children, dtype=np.int64).reshape(-1, 2)
    return np.array(roots), np.array(nodes, dtype=np.int64), links[:, 0].copy(), links[:, 1].copy()


@compiled
def _child_of(node_low, first, number, code):  # type: ignore[no-untyped-def]
    """The number of the child, among those of a node, that covers a code."""
    low, high = 0, number - 1
    while low < high:
        middle = (low + high + 1) // 2
        if node_low[first + middle] <= code:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def _lowest_cover(root, node_low, node_first, node_children, least, most):  # type: ignore[no-untyped-def]
    """The lowest node that covers two codes and has more than one child, or a leaf."""
    node = root
    while node_children[node] > 0:
        low = _child_of(node_low, node_first[node], node_children[node], least)
        high = _child_of(node_low, node_first[node], node_children[node], most)
        if low != high:
            break
        node = node_first[node] + low
    return node


@compiled
def _satisfied(histogram, size, k, rule):  # type: ignore[no-untyped-def]
    """Whether a group of this size with these counts of the sensitive attribute satisfies the condition."""
    kind, limit, shares, lows, highs, weights = rule
    if size < k:
        return False
    if kind == 1:
        found = 0
        for count in histogram:
            found += count > 0
        return found >= limit - ROUNDING
    if kind == 2:
        entropy = 0.0
        for count in histogram:
            if count > 0:
                entropy -= count / size * np.log(count / size)
        return entropy >= np.log(limit) - ROUNDING
    if kind == 3:
        upto = np.zeros(len(histogram) + 1)
        for value in range(len(histogram)):
            upto[value + 1] = upto[value] + histogram[value] / size - shares[value]
        moved = 0.0
        for place in range(len(lows)):
            moved += weights[place] * abs(upto[highs[place]] - upto[lows[place]])
        return moved <= limit + ROUNDING
    return True


@compiled
def _all_satisfied(order, low, high, part, parts, k, sensitive, rule):  # type: ignore[no-untyped-def]
    """Whether every part with records satisfies the condition. There must be at least two."""
    sizes = np.zeros(parts, dtype=np.int64)
    for place in range(low, high):
        sizes[part[place]] += 1
    filled = 0
    for number in range(parts):
        filled += sizes[number] > 0
        if 0 < sizes[number] < k:
            return False
    if filled < 2:
        return False
    if rule[0] == 0:
        return True
    histograms = np.zeros((parts, len(rule[2])), dtype=np.int64)
    for place in range(low, high):
        histograms[part[place], sensitive[order[place]]] += 1
    for number in range(parts):
        if sizes[number] and not _satisfied(histograms[number], sizes[number], k, rule):
            return False
    return True


@compiled
def _assign_halves(codes, order, low, high, part, threshold, ties_left):  # type: ignore[no-untyped-def]
    """Codes below the threshold go to part 0, codes above it to part 1, the first `ties_left` equal ones to part 0."""
    for place in range(low, high):
        code = codes[order[place]]
        part[place] = code > threshold
        if code == threshold:
            part[place] = ties_left <= 0
            ties_left -= 1


@compiled
def _divide(codes, order, low, high, part, tree, least, most, k, relaxed, sensitive, rule):  # type: ignore[no-untyped-def]
    """Assign each record of a part to a smaller part. Returns how many there are, or 0 if none is allowed."""
    root, node_low, node_first, node_children = tree
    if root >= 0:
        node = _lowest_cover(root, node_low, node_first, node_children, least, most)
        parts = node_children[node]
        for place in range(low, high):
            part[place] = _child_of(node_low, node_first[node], parts, codes[order[place]])
        return parts if _all_satisfied(order, low, high, part, parts, k, sensitive, rule) else 0
    number = high - low
    values = np.sort(codes[order[low:high]])
    middle = values[(number - 1) // 2]
    below = np.searchsorted(values, middle, side="left")
    upto = np.searchsorted(values, middle, side="right")
    if relaxed:
        _assign_halves(codes, order, low, high, part, middle, number // 2 - below)
        return 2 if _all_satisfied(order, low, high, part, 2, k, sensitive, rule) else 0
    # The paper divides after the median. If that is less even than before it, before it is tried first.
    after_first = abs(2 * upto - number) <= abs(2 * below - number)
    for attempt in range(2):
        ties = upto - below if (attempt == 0) == after_first else 0
        _assign_halves(codes, order, low, high, part, middle, ties)
        if _all_satisfied(order, low, high, part, 2, k, sensitive, rule):
            return 2
    return 0


@compiled
def _partition(  # type: ignore[no-untyped-def]
    codes, roots, node_low, node_first, node_children, k, relaxed, sensitive, rule, labels
):
    """Fill in the group of each row and return the number of groups."""
    attributes, number = codes.shape
    order, spare = np.arange(number), np.empty(number, dtype=np.int64)
    part = np.zeros(number, dtype=np.int64)
    whole = np.zeros(len(rule[2]), dtype=np.int64)
    for row in range(number):
        whole[sensitive[row]] += 1
    if number == 0 or not _satisfied(whole, number, k, rule):
        return 0
    stack = np.empty((number + 1, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1], depth, groups = 0, number, 1, 0
    least, most = np.empty(attributes, dtype=np.int64), np.empty(attributes, dtype=np.int64)
    spans, widths = np.zeros(attributes), np.empty(attributes)
    while depth > 0:
        depth -= 1
        low, high = stack[depth, 0], stack[depth, 1]
        for side in range(attributes):
            smallest = largest = codes[side, order[low]]
            for place in range(low, high):
                code = codes[side, order[place]]
                smallest, largest = min(smallest, code), max(largest, code)
            least[side], most[side] = smallest, largest
            covered = np.float64(largest - smallest)
            if roots[side] >= 0 and largest > smallest:
                node = _lowest_cover(roots[side], node_low, node_first, node_children, smallest, largest)
                covered = np.float64(_leaves(node, node_low, node_first, node_children) - 1)
            if high - low == number:
                spans[side] = max(covered, 1.0)
            widths[side] = covered / spans[side]
        parts = 0
        while parts == 0 and high - low >= 2 * k:
            widest = np.argmax(widths)
            if widths[widest] <= 0:
                break
            tree = (roots[widest], node_low, node_first, node_children)
            parts = _divide(
                codes[widest], order, low, high, part, tree, least[widest], most[widest], k, relaxed, sensitive, rule
            )
            widths[widest] = 0.0
        if parts == 0:
            for place in range(low, high):
                labels[order[place]] = groups
            groups += 1
            continue
        ends = np.zeros(parts + 1, dtype=np.int64)
        for place in range(low, high):
            ends[part[place] + 1] += 1
        for wanted in range(parts):
            if ends[wanted + 1]:
                stack[depth, 0], stack[depth, 1] = low + ends[wanted], low + ends[wanted] + ends[wanted + 1]
                depth += 1
            ends[wanted + 1] += ends[wanted]
        for place in range(low, high):  # keeps the order within each part
            spare[low + ends[part[place]]] = order[place]
            ends[part[place]] += 1
        order[low:high] = spare[low:high]
    return groups


@compiled
def _leaves(node, node_low, node_first, node_children):  # type: ignore[no-untyped-def]
    """How many leaves a node covers."""
    last = node
    while node_children[last] > 0:
        last = node_first[last] + node_children[last] - 1
    return node_low[last] + 1 - node_low[node]
