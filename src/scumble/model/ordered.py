"""Ordered categories: a grid with names, split between any two neighbours and published by names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from scumble.errors import InputError
from scumble.model.taxonomy import Nested, Node, Tree

TO = ".."


@dataclass(frozen=True, kw_only=True, eq=False)
class Ordered(Tree):
    """Categories in a public order. They are read and published as categories, and split anywhere as a grid is.

    A label of missing values that is not one of the names has the last code, and intervals that include it end with it.
    Like the intervals of a grid, those of ordered categories have no children.

    >>> pain = Ordered.of(["none", "mild", "moderate", "severe"], missing="?")
    >>> [node.label for node in pain.split(pain.root, 1)]
    ['none', 'mild..severe|?']
    """

    splits_anywhere: ClassVar[bool] = True
    names: tuple[str, ...]
    """The labels by code. In a published schema they are labels of intervals."""
    apart: str | None = None
    """The label of missing values, where it was added after the names."""

    @classmethod
    def of(cls, names: Sequence[str], *, missing: str | None = None) -> "Ordered":
        """Categories in this order."""
        if not names:
            raise InputError("`ordered` is empty. List the categories from first to last.")
        odd = [name for name in names if TO in name or not name or "." in (name[0], name[-1])]
        if odd:
            raise InputError(
                f"{odd[0]!r} is empty, begins or ends with a point, or contains {TO!r}, which joins the ends of an "
                "interval of ordered categories. Rename it."
            )
        apart = missing if missing not in names else None
        if apart is not None and any(name.endswith(f"|{apart}") for name in names):
            raise InputError(f"A name ends with |{apart}, as intervals with missing values do. Rename it.")
        labels = Tree.flat([*names, *([] if apart is None else [apart])]).labels
        label = _label(labels, apart, 0, len(labels))
        return cls(root=Node(label=label, low=0, high=len(labels)), names=labels, apart=apart)

    def __eq__(self, other: object) -> bool:
        """The same names in the same order, and the same origin."""
        if not isinstance(other, Ordered):
            return NotImplemented
        return (self.names, self.apart, self.origin) == (other.names, other.apart, other.origin)

    def __hash__(self) -> int:
        return hash(self.names)

    @property
    def labels(self) -> tuple[str, ...]:
        """The finest values, by code."""
        return self.names

    @cached_property
    def _finest(self) -> "Ordered":
        return self.origin if isinstance(self.origin, Ordered) else self

    @cached_property
    def _starts(self) -> list[int]:
        """The finest code at which each code starts, and the end of the last."""
        if self._finest is self:
            return list(range(self.size + 1))
        return [*(self._finest.node(label).low for label in self.names), self._finest.size]

    def labels_below(self, label: str) -> Iterator[str]:
        """The interval of this label and all names in it."""
        node = self.node(label)
        yield label
        yield from (name for name in self.names[node.low : node.high] if name != label)

    def interval(self, low: int, high: int) -> Node:
        """The generalized value over the codes [low, high)."""
        finest = self._finest
        label = _label(finest.names, finest.apart, self._starts[low], self._starts[high])
        return Node(label=label, low=low, high=high)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    def node(self, label: str) -> Node:
        """The interval of this label. Raises `InputError` if there is none."""
        codes = self._places
        if label in codes:
            return self.interval(codes[label], codes[label] + 1)
        with_missing = self.apart is not None and label.endswith(f"|{self.apart}")
        first, _, last = (label.removesuffix(f"|{self.apart}") if with_missing else label).partition(TO)
        low, high = codes.get(first), codes.get(last or first)
        if self.origin is None and low is not None and high is not None and low <= high:
            found = self.interval(low, self.size if with_missing else high + 1)
            if found.label == label:
                return found
        raise InputError(f"The ordered categories have no interval {label!r}. Write FIRST{TO}LAST with two of them.")

    def to_nested(self) -> Nested:
        """The categories below one root, without their order."""
        return {self.root.label: dict.fromkeys(self.names)} if self.size > 1 else {self.root.label: None}

    def positions(self, node: Node) -> range:
        """The positions at which an interval can be split: before each of its codes but the first."""
        return range(node.low + 1, node.high)

    def split(self, node: Node, position: int) -> tuple[Node, ...]:
        """The two intervals before and after a position."""
        return self.interval(node.low, position), self.interval(position, node.high)

    def truncate(self, nodes: Sequence[Node]) -> "Ordered":
        """The ordered categories whose finest values are these intervals, which must cover it in order."""
        bounds = [node.low for node in nodes] + [self.size]
        if [node.high for node in nodes] != bounds[1:] or bounds[:1] != [0]:
            raise InputError("The cut lists intervals with gaps, twice, or out of order. List intervals that join up.")
        root = Node(label=self.root.label, low=0, high=len(nodes))
        return Ordered(root=root, names=tuple(node.label for node in nodes), origin=self._finest)


def _label(names: Sequence[str], apart: str | None, low: int, high: int) -> str:
    """The label of the interval of the finest codes [low, high)."""
    with_missing = apart is not None and high == len(names) and low < high - 1
    last = high - 2 if with_missing else high - 1
    label = names[low] if low == last else f"{names[low]}{TO}{names[last]}"
    return f"{label}|{apart}" if with_missing else label
