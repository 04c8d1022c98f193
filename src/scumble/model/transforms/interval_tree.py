"""Trees of intervals over the codes of an attribute, stored breadth first for fast passes from level to level."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Integers
from scumble.model.taxonomy import Node

NumberArray = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class IntervalTree:
    """A tree whose leaves are the codes 0, 1, ... in order, at any depths.

    `children` has the number of children of each node, breadth first, and determines the tree. Raises `ValueError` if
    the numbers do not make a tree, or if a node has a single child.

    >>> tree = IntervalTree.balanced(5, branching=2)
    >>> tree.children, tree.lows.tolist(), tree.highs.tolist()
    ((2, 2, 2, 0, 0, 0, 2, 0, 0), [0, 0, 2, 0, 1, 2, 3, 3, 4], [5, 2, 5, 1, 2, 3, 5, 4, 5])
    """

    children: tuple[int, ...]

    def __post_init__(self) -> None:
        if any(type(each) is not int or each < 0 or each == 1 for each in self.children):
            raise ValueError("a node of the tree has a single child, or the number of its children is not a number")
        reached = accumulate(self.children, initial=1)
        complete = all(place < end for place, (end, _) in enumerate(pairwise(reached)))
        if not complete or sum(self.children) != len(self.children) - 1:
            raise ValueError("the numbers of children do not make a tree")

    @classmethod
    def balanced(cls, size: int, *, branching: int) -> "IntervalTree":
        """Intervals that are divided into `branching` nearly equal parts until each has one code."""

        def parts(low: int, high: int) -> list[tuple[int, int]]:
            number = min(branching, high - low)
            bounds = [low + place * (high - low) // number for place in range(number + 1)]
            return list(pairwise(bounds)) if number > 1 else []

        return cls._breadth_first((0, size), lambda node: parts(*node))

    @classmethod
    def of_taxonomy(cls, root: Node) -> "IntervalTree":
        """The nodes of a taxonomy. A node with a single child is the same interval and is left out."""

        def below(node: Node) -> Sequence[Node]:
            while len(node.children) == 1:
                node = node.children[0]
            return node.children

        return cls._breadth_first(root, below)

    @classmethod
    def _breadth_first(cls, root: Any, below: Any) -> "IntervalTree":
        waiting, numbers = deque([root]), []
        while waiting:
            found = below(waiting.popleft())
            numbers.append(len(found))
            waiting.extend(found)
        return cls(children=tuple(numbers))

    @property
    def nodes(self) -> int:
        return len(self.children)

    @cached_property
    def parents(self) -> Integers:
        """The parent of each node; the root is its own."""
        return np.concatenate([[0], np.repeat(np.arange(self.nodes), self.children)]).astype(np.int64)

    @cached_property
    def first_children(self) -> Integers:
        """The first child of each node; of a leaf, the node where it would be."""
        return 1 + np.cumsum([0, *self.children[:-1]])

    @cached_property
    def depths(self) -> Integers:
        """The number of nodes above each node."""
        depths = np.zeros(self.nodes, dtype=np.int64)
        for number, level in enumerate(self.levels):
            depths[level] = number
        return depths

    @cached_property
    def levels(self) -> list[slice]:
        """The nodes of each depth, from the root down."""
        levels, start, size = [], 0, 1
        while size:
            levels.append(slice(start, start + size))
            start, size = start + size, sum(self.children[start : start + size])
        return levels

    @cached_property
    def inner(self) -> list[Integers]:
        """The nodes with children of each depth that has some, from the root down."""
        numbers = np.array(self.children)
        inner = [level.start + np.flatnonzero(numbers[level]) for level in self.levels]
        return [nodes for nodes in inner if len(nodes)]

    @cached_property
    def sizes(self) -> Integers:
        """The number of codes of each node."""
        sizes = (np.array(self.children) == 0).astype(np.int64)
        for nodes in reversed(self.inner):
            sizes[nodes] = self.sums_of_children(sizes, nodes)
        return sizes

    @cached_property
    def lows(self) -> Integers:
        """The first code of each node."""
        lows = np.zeros(self.nodes, dtype=np.int64)
        for level in self.levels[1:]:
            before = np.cumsum(self.sizes[level]) - self.sizes[level]
            parents = self.parents[level]
            lows[level] = lows[parents] + before - before[self.first_children[parents] - level.start]
        return lows

    @property
    def highs(self) -> Integers:
        """The code after the last one of each node."""
        return self.lows + self.sizes

    @cached_property
    def leaves(self) -> Integers:
        """The node of each code."""
        found = np.flatnonzero(np.array(self.children) == 0)
        return found[np.argsort(self.lows[found])]

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.leaves)

    @property
    def height(self) -> int:
        """The number of nodes on the longest path from the root to a leaf."""
        return len(self.levels)

    def sums_of_children(self, values: NumberArray, nodes: Integers) -> NumberArray:
        """The sum over the children of each of these nodes, which are all inner nodes of one depth. `values` has a line
        for each node of the tree."""
        first = self.first_children[nodes]
        end = int(first[-1]) + self.children[int(nodes[-1])]
        return np.asarray(np.add.reduceat(values[first[0] : end], first - first[0], axis=0))

    def children_of(self, nodes: Integers) -> slice:
        """The children of these nodes, which are all inner nodes of one depth."""
        return slice(int(self.first_children[nodes[0]]), int(self.first_children[nodes[-1]]) + self.children[nodes[-1]])

    def sums(self, table: NumberArray) -> NumberArray:
        """The sum over the codes of each node, along the first axis."""
        climb = np.concatenate([np.zeros_like(table[:1]), np.cumsum(table, axis=0)])
        return climb[self.highs] - climb[self.lows]


def as_column(numbers: NumberArray, beside: NumberArray) -> NumberArray:
    """Numbers along the first axis, to be multiplied with lines of an array."""
    return numbers.reshape(-1, *[1] * (beside.ndim - 1))
