"""Readable versions of Mondrian and of top-down specialization, row by row, and of k, l and t of a table."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product
from math import exp, log, log2

from scumble.model.domain import Domain
from scumble.model.taxonomy import Node

Row = tuple[int, ...]
Box = tuple[tuple[int, int], ...]


def cover(domain: Domain, codes: Iterable[int]) -> Node:
    """The smallest generalized value over some codes."""
    found = set(codes)
    if domain.splits_anywhere:
        return domain.interval(min(found), max(found) + 1)
    fitting = [node for node in domain.root.walk() if all(node.low <= code < node.high for code in found)]
    return min(fitting, key=lambda node: node.high - node.low)


def twin_mondrian(
    rows: Sequence[Row],
    domains: Sequence[Domain],
    k: int,
    *,
    relaxed: bool = False,
    allowed: Callable[[list[int]], bool] = lambda group: True,
) -> list[list[int]]:
    """The groups as lists of row numbers; `allowed` is a further condition on each of them."""

    def width(group: list[int], side: int) -> int:
        node = cover(domains[side], (rows[row][side] for row in group))
        return node.high - node.low - 1

    def satisfied(group: list[int]) -> bool:
        return len(group) >= k and allowed(group)

    everybody = list(range(len(rows)))
    if not satisfied(everybody):
        return []
    spans = [max(width(everybody, side), 1) for side in range(len(domains))]

    def ways(group: list[int], side: int) -> Iterable[list[list[int]]]:
        codes = sorted(rows[row][side] for row in group)
        if not domains[side].splits_anywhere:
            wide = [node for node in domains[side].root.walk() if all(node.low <= code < node.high for code in codes)][
                -1
            ]
            yield [[row for row in group if child.low <= rows[row][side] < child.high] for child in wide.children]
            return
        median = codes[(len(group) - 1) // 2]
        below, ties, above = (
            [row for row in group if rows[row][side] < median],
            [row for row in group if rows[row][side] == median],
            [row for row in group if rows[row][side] > median],
        )
        if relaxed:
            left = len(group) // 2 - len(below)
            yield [below + ties[:left], ties[left:] + above]
            return
        both = [[below + ties, above], [below, ties + above]]
        uneven = [abs(len(halves[0]) - len(halves[1])) for halves in both]
        yield from both if uneven[0] <= uneven[1] else both[::-1]

    def divide(group: list[int]) -> list[list[int]]:
        widths = [width(group, side) / spans[side] for side in range(len(domains))]
        for side in sorted(range(len(domains)), key=lambda side: -widths[side]):
            if widths[side] > 0:
                for parts in ways(sorted(group), side):
                    filled = [part for part in parts if part]
                    if len(filled) > 1 and all(map(satisfied, filled)):
                        return [smaller for part in filled for smaller in divide(part)]
        return [group]

    return divide(everybody)


def information(labels: Sequence[int]) -> float:
    return -sum(n / len(labels) * log2(n / len(labels)) for n in Counter(labels).values()) if labels else 0.0


def twin_specialize(rows: Sequence[Row], domains: Sequence[Domain], labels: Sequence[int], k: int) -> list[list[Box]]:
    """The final cut of each attribute, as ranges of codes; everything is counted again in every round."""
    if len(rows) < k:
        return []
    cuts = [[domain.root] for domain in domains]

    def smallest(cuts: Sequence[Sequence[Node]]) -> int:
        groups: Counter[Hashable] = Counter()
        for row in rows:
            groups[
                tuple(next(n for n in cut if n.low <= code < n.high) for cut, code in zip(cuts, row, strict=True))
            ] += 1
        return min(groups.values())

    def gain(side: int, node: Node, children: Sequence[Node]) -> float:
        def inside(each: Node) -> list[int]:
            return [label for row, label in zip(rows, labels, strict=True) if each.low <= row[side] < each.high]

        here = inside(node)
        after = sum(len(inside(child)) / len(here) * information(inside(child)) for child in children)
        return max(round(information(here) - after, 9), 0.0)

    def best_split(side: int, node: Node) -> tuple[Node, ...] | None:
        domain = domains[side]
        classes = {label for row, label in zip(rows, labels, strict=True) if node.low <= row[side] < node.high}
        if len(classes) < 2 or not domain.positions(node):
            return None
        return max((domain.split(node, at) for at in domain.positions(node)), key=lambda split: gain(side, node, split))

    while True:
        now = smallest(cuts)
        best, best_score = None, -1.0
        for side, cut in enumerate(cuts):
            for place, node in enumerate(cut):
                children = best_split(side, node)
                if children is None:
                    continue
                after = [list(each) for each in cuts]
                after[side][place : place + 1] = children
                score = gain(side, node, children) / (now - smallest(after) + 1)
                if smallest(after) >= k and score > best_score + 1e-12:
                    best, best_score = after, score
        if best is None:
            return [[(node.low, node.high) for node in cut] for cut in cuts]
        cuts = best


def groups_by(rows: Sequence[Sequence[Hashable]], quasi: Sequence[int]) -> dict[Hashable, list[int]]:
    """The numbers of the rows that agree in some columns."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        groups[tuple(row[place] for place in quasi)].append(number)
    return groups


def entropy_values(values: Sequence[Hashable]) -> float:
    return exp(-sum(n / len(values) * log(n / len(values)) for n in Counter(values).values()))


def leaf_distance(domain: Domain, one: int, other: int) -> float:
    """The ground distance of Li et al.: steps in order, or the height of the lowest common ancestor."""
    if domain.splits_anywhere:
        return abs(one - other) / max(domain.size - 1, 1)

    def height(node: Node) -> int:
        return 1 + max(map(height, node.children)) if node.children else 0

    if one == other:
        return 0.0
    covering = [node for node in domain.root.walk() if all(node.low <= code < node.high for code in (one, other))]
    return height(covering[-1]) / height(domain.root)


def moved_earth(domain: Domain, first: Sequence[float], second: Sequence[float]) -> float:
    """The earth mover's distance by linear programming."""
    from scipy.optimize import linprog

    size = domain.size
    pairs = list(product(range(size), range(size)))
    costs = [leaf_distance(domain, *pair) for pair in pairs]
    sums = [[float(pair[side] == value) for pair in pairs] for side in (0, 1) for value in range(size)]
    return float(linprog(costs, A_eq=sums, b_eq=[*first, *second]).fun)
