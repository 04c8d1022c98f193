"""The sides of a mixed domain: bins of codes, where a range of codes may be split, and how far bins are apart.

The codes of every attribute are in a public total order: numbers, dates and ordered categories by rank, categories in
the order of the taxonomy, in which the leaves below a node are adjacent. A missing value has a code of its own. The
distance of two categories is the height of their lowest common ancestor. It is consistent with the order: for codes
a <= b <= c, the distance of a and c is at least that of a and b, and at least that of b and c. Nothing here reads rows.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.methods.coordinates import Amounts, missing_apart
from scumble.methods.microaggregate.partition import POSITIONS, positions
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Node

MOST_BINS = 128
"""A domain of so many codes has a bin for each. A longer one has at most so many bins."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One attribute of a mixed table, with its public bins."""

    attribute: Attribute
    starts: tuple[int, ...]
    """The first code of each bin, ascending; the first is 0."""

    @classmethod
    def of(cls, attribute: Attribute) -> "Side":
        """The side of an attribute. Bins are codes where these are few, else ranges of codes: nodes of a taxonomy, or
        ranges of equal length, which are finer near zero for numbers. A missing value in an ordered domain has a bin
        of its own."""
        domain, missing = attribute.domain, missing_apart(attribute)
        ranks = domain.size if missing is None else missing
        if ranks <= MOST_BINS:
            starts = list(range(ranks))
        elif isinstance(domain, Grid):
            starts = sorted({0, *positions(domain, 0, ranks), *_evenly(ranks, MOST_BINS // 2)})
        elif attribute.in_order:
            starts = _evenly(ranks, MOST_BINS)
        else:
            starts = _cut(domain.root)
        return cls(attribute=attribute, starts=(*starts, *([] if missing is None else [missing])))

    @property
    def size(self) -> int:
        """The number of codes."""
        return self.attribute.domain.size

    @property
    def bins(self) -> int:
        return len(self.starts)

    @cached_property
    def missing(self) -> int | None:
        """The bin of missing values, if they are apart from values in order; else None."""
        return None if missing_apart(self.attribute) is None else self.bins - 1

    @cached_property
    def lengths(self) -> Integers:
        """The number of codes in each bin."""
        return np.diff([*self.starts, self.size])

    @property
    def numeric(self) -> bool:
        """Whether values have amounts to be averaged: numbers, dates and nested intervals."""
        return self.attribute.on_a_line

    @cached_property
    def amounts(self) -> tuple[Amounts, Floats]:
        """The scale of a numeric side, and the average amount of the codes of each bin."""
        scale = Amounts.of(self.attribute)
        if scale.table is None:
            return scale, np.array(self.starts) + (self.lengths - 1) / 2
        ends = np.minimum(np.cumsum(self.lengths), len(scale.table))
        tables = [scale.table[start:end] for start, end in zip(self.starts, ends, strict=True)]
        return scale, np.array([float(np.mean(table)) if table else 0.0 for table in tables])

    def within(self, low: int, high: int) -> slice:
        """The bins of the codes [low, high), whose ends are ends of bins."""
        return slice(bisect_left(self.starts, low), bisect_left(self.starts, high))

    def bin_of(self, codes: npt.NDArray[np.integer]) -> Integers:
        """The bin of each code."""
        return np.searchsorted(np.array(self.starts), codes, side="right") - 1

    def edges(self, low: int, high: int) -> tuple[int, ...]:
        """The codes before which the range [low, high) may be split; none if it lies in one bin.

        A range of categories is split between two children of the lowest node that contains it. So records in different
        parts are as far apart as any two records of the range.
        """
        inside = self.starts[self.within(low, high)][1:]
        if self.attribute.in_order:
            return tuple(inside)
        node = self.attribute.domain.root
        while lower := next((child for child in node.children if child.low <= low and high <= child.high), None):
            node = lower
        between = {child.low for child in node.children}
        return tuple(code for code in inside if code in between)

    def offered(self, low: int, high: int) -> tuple[int, ...]:
        """The edges of a range, repeated or thinned out evenly to the number of positions that every box is offered."""
        edges = self.edges(low, high)
        return tuple(edges[int(place)] for place in np.rint(np.linspace(0, len(edges) - 1, POSITIONS)))

    @cached_property
    def nearness(self) -> Integers:
        """For each pair of bins, the depth of the lowest node above both: the height of the taxonomy minus their
        distance. A bin is nearer to itself than to any other."""
        depth = np.zeros((self.bins, self.bins), dtype=np.int64)
        for level, node in _inner_nodes(self.attribute.domain.root, 0):
            inside = self.within(node.low, node.high)
            depth[inside, inside] = np.maximum(depth[inside, inside], level)
        np.fill_diagonal(depth, depth.max(initial=0) + 1)
        return depth

    def words(self, low: int, high: int) -> list[str]:
        """The range of codes in words: an interval, or the topmost nodes of the taxonomy that it consists of."""
        domain = self.attribute.domain
        if isinstance(domain, Grid | Ordered):
            return [domain.interval(low, high).label]
        if self.attribute.in_order and high - low > 1:
            return [f"{domain.labels[low]} to {domain.labels[high - 1]}"]
        return [node.label for node in _topmost(domain.root, low, high)]


def _cut(root: Node) -> list[int]:
    """The first codes of the nodes of a cut: the largest node is replaced by its children while there is room.

    A node with too many children is divided into ranges of consecutive children.
    """
    cut = [root]
    while True:
        room = [node for node in cut if node.children and len(cut) - 1 + len(node.children) <= MOST_BINS]
        if not room:
            break
        largest = max(room, key=lambda node: node.high - node.low)
        place = cut.index(largest)
        cut[place : place + 1] = largest.children
    if len(cut) > 1 or not root.children:
        return [node.low for node in cut]
    lows = [child.low for child in root.children]
    return [lows[place] for place in _evenly(len(lows), MOST_BINS)]


def _evenly(number: int, parts: int) -> list[int]:
    """The first places of so many parts of nearly equal length."""
    return [number * part // parts for part in range(parts)]


def _inner_nodes(node: Node, level: int) -> list[tuple[int, Node]]:
    below = [each for child in node.children for each in _inner_nodes(child, level + 1)]
    return [(level, node), *below] if node.children else []


def _topmost(node: Node, low: int, high: int) -> list[Node]:
    if node.high <= low or high <= node.low:
        return []
    if (low <= node.low and node.high <= high) or not node.children:
        return [node]
    return [each for child in node.children for each in _topmost(child, low, high)]
