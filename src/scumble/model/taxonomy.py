"""Public domains of attributes: taxonomy trees and numeric grids, coded so that every generalized value is an interval.

The finest values of a domain have the codes 0 .. size-1. The leaves below a node of a tree have contiguous codes, and
so do the cells of an interval of a grid. A generalized value is therefore a `Node` over the codes [low, high), and a
cell of a table is a box.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact, Rounded
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.raw_value import canonical

LARGEST_DOMAIN = 2**31
LARGEST_EXPONENT = 308
SMALLEST_EXPONENT = -400
"""Edges are compared with doubles; exact arithmetic on numbers far beyond their range would be very slow."""

LARGE_DIGITS = 16
"""Whole numbers beyond 2^53 have at least so many."""
_WHOLE = re.compile("-?[1-9][0-9]*")
_EXACT = Context(prec=1000, traps=[Inexact, Rounded])
"""Enough digits for any sum and product of such numbers; Python's default context rounds to 28."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A generalized value: a label for the codes [low, high), with its children in the taxonomy."""

    label: str
    low: int
    high: int
    children: tuple["Node", ...] = field(default=(), compare=False, repr=False)

    def leaves(self) -> Iterator["Node"]:
        return (node for node in self.walk() if not node.children)

    def walk(self) -> Iterator["Node"]:
        """The node itself and all below it, parents before children, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


Nested = Mapping[str, "Nested | None"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """A taxonomy: leaves at any depths, nodes with a single child allowed, names unique.

    >>> job = Tree.nested({"Any": {"Professional": {"Engineer": None, "Lawyer": None}, "Artist": None}})
    >>> [(node.label, node.low, node.high) for node in job.root.children]
    [('Professional', 0, 2), ('Artist', 2, 3)]
    """

    root: Node
    origin: "Tree | None" = field(default=None, compare=False, repr=False)
    """The finer tree this one was truncated from, which still reads the raw values below its leaves."""

    def __eq__(self, other: object) -> bool:
        """The same nodes in the same places and the same origin. Nested intervals in this order determine the tree."""
        if not isinstance(other, Tree):
            return NotImplemented
        return [*self.root.walk()] == [*other.root.walk()] and self.origin == other.origin

    def __hash__(self) -> int:
        return hash(self.root)

    @classmethod
    def nested(cls, taxonomy: Nested) -> "Tree":
        """A tree from nested mappings parent -> children, a leaf having none."""
        if len(taxonomy) != 1:
            roots = ", ".join(repr(name) for name in taxonomy) or "none"
            raise InputError(f"A taxonomy has one root, here: {roots}. Put all branches below a single node.")
        seen: set[str] = set()

        def build(label: str, below: "Nested | None", low: int) -> Node:
            if label in seen:
                raise InputError(f"The taxonomy names {label!r} twice. Node and leaf names are unique within a tree.")
            seen.add(label)
            if not below:
                return Node(label=label, low=low, high=low + 1)
            children: list[Node] = []
            high = low
            for name, grandchildren in below.items():
                children.append(build(name, grandchildren, high))
                high = children[-1].high
            return Node(label=label, low=low, high=high, children=tuple(children))

        ((label, below),) = taxonomy.items()
        return cls(root=build(label, below, 0))

    @classmethod
    def flat(cls, labels: Sequence[str], *, root: str = "Any") -> "Tree":
        """A tree of one level, as for the labels of a class."""
        repeated = next((label for label, times in Counter(labels).items() if times > 1), None)
        if repeated is not None:
            raise InputError(f"{repeated!r} is listed twice. Labels are unique.")
        while root in labels:
            root = f"{root}*"
        return cls.nested({root: dict.fromkeys(labels)})

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The finest values, by code."""
        return tuple(leaf.label for leaf in self.root.leaves())

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self.root.high

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """The code of every value that can be read: leaves and, of a truncated tree, all that lies below them."""
        codes = {label: code for code, label in enumerate(self.labels)}
        if self.origin is not None:
            for label, code in tuple(codes.items()):
                codes |= dict.fromkeys((leaf.label for leaf in self.origin.node(label).leaves()), code)
        return codes

    @cached_property
    def large_numbers(self) -> Mapping[str, int]:
        """The codes of whole numbers beyond 2^53, by the canonical text of the nearest double."""
        codes: dict[str, int] = {}
        for label, code in self.codes.items():
            if len(label) >= LARGE_DIGITS and _WHOLE.fullmatch(label):
                codes.setdefault(canonical(Decimal(label))[1], code)
        return codes

    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        return {node.label: node for node in self.root.walk()}

    def node(self, label: str) -> Node:
        """The node of this name. Raises `InputError` if there is none."""
        try:
            return self._nodes[label]
        except KeyError:
            raise InputError(f"The taxonomy has no node {label!r}. Use one of its names exactly as written.") from None

    def to_nested(self) -> Nested:
        """The inverse of `nested`."""

        def below(node: Node) -> "Nested | None":
            return {child.label: below(child) for child in node.children} or None

        return {self.root.label: below(self.root)}

    def positions(self, node: Node) -> range:
        """The ways to specialize a node: one, into its children, or none."""
        return range(1 if node.children else 0)

    def split(self, node: Node, position: int) -> tuple[Node, ...]:
        """The children of a node."""
        del position
        return node.children

    def truncate(self, nodes: Sequence[Node]) -> "Tree":
        """The tree whose leaves are these nodes, which must cover it; raw values below them stay readable."""
        keep = {node.label: code for code, node in enumerate(nodes)}

        def rebuild(node: Node) -> Node:
            if node.label in keep:
                return Node(label=node.label, low=keep[node.label], high=keep[node.label] + 1)
            if not node.children:
                raise InputError(f"The cut has no node on the path to {node.label!r}. List one node on each path.")
            children = tuple(rebuild(child) for child in node.children)
            return Node(label=node.label, low=children[0].low, high=children[-1].high, children=children)

        tree = Tree(root=rebuild(self.root), origin=self.origin or self)
        if [leaf.low for leaf in tree.root.leaves()] != list(range(len(nodes))):
            raise InputError("The cut lists a node below another one, twice, or out of order. List one on each path.")
        return tree


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A numeric domain cut into cells at public edges: cell i holds the values in [edge(i), edge(i + 1)).

    Missing values have their own code after the last cell, or share the last cell if a published cut joined them.

    >>> age = Grid.regular(low=Decimal(15), high=Decimal(95), step=Decimal(1))
    >>> age.size, age.interval(0, 13).label
    (80, '[15,28)')
    """

    edges: tuple[Decimal, ...]
    """All edges of an irregular grid; the first and the last of a regular one."""
    step: Decimal | None = None
    missing: str | None = None
    joined: bool = False

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or any(not edge.is_finite() for edge in self.edges):
            raise InputError(
                "A numeric domain needs at least two finite edges. Give low and high, or at least two edges."
            )
        _check_range(*self.edges)
        if any(left >= right for left, right in zip(self.edges, self.edges[1:], strict=False)):
            raise InputError(f"The edges {self._text()} are not in ascending order. Sort them; low must be below high.")
        if self.cells > LARGEST_DOMAIN:
            raise InputError(
                f"The numeric domain {self._text()} has {self.cells:,} cells, more than {LARGEST_DOMAIN:,}. "
                "Give a larger step."
            )
        if self.missing is not None and self.missing.startswith("["):
            raise InputError(
                f"The label of missing values, {self.missing!r}, looks like an interval. Choose another label."
            )

    @classmethod
    def regular(cls, *, low: Decimal, high: Decimal, step: Decimal, missing: str | None = None) -> "Grid":
        """A grid from `low` to `high` in cells of width `step`, which must divide the range evenly."""
        if not (step.is_finite() and low.is_finite() and high.is_finite() and step > 0):
            raise InputError(f"step {step} is not a positive number. Give the width of one cell, such as 1.")
        _check_range(low, high, step)
        if Fraction(high) > Fraction(low) and (Fraction(high) - Fraction(low)) % Fraction(step) != 0:
            raise InputError(f"step {step} does not divide [{low}, {high}) evenly. Move high or change the step.")
        return cls(edges=(low, high), step=step, missing=missing)

    @cached_property
    def cells(self) -> int:
        """The number of intervals, without the code of missing values."""
        if self.step is None:
            return len(self.edges) - 1
        return int((Fraction(self.edges[1]) - Fraction(self.edges[0])) / Fraction(self.step))

    @property
    def size(self) -> int:
        """The number of codes, including the one of missing values."""
        return self.cells + (self.missing is not None and not self.joined)

    @property
    def missing_code(self) -> int | None:
        """The code of missing values, or None."""
        return None if self.missing is None else self.size - 1

    def edge(self, position: int) -> Decimal:
        """The lower edge of a cell; of the position after the last cell, the upper end of the domain."""
        if self.step is None:
            return self.edges[position]
        return _EXACT.fma(self.step, Decimal(position), self.edges[0])

    @cached_property
    def edge_floats(self) -> npt.NDArray[np.float64]:
        """Every edge as the double nearest to it."""
        if self.step is None:
            return np.array([float(edge) for edge in self.edges])
        low, step = Fraction(self.edges[0]), Fraction(self.step)
        denominator = low.denominator * step.denominator
        first, width = int(low * denominator), int(step * denominator)
        if max(abs(first), abs(first + width * self.cells), denominator) < 2**53:
            # A quotient of two exact doubles is rounded once, as float(Decimal) is.
            return (first + width * np.arange(self.cells + 1, dtype=np.int64)) / denominator
        return np.array([float(self.edge(position)) for position in range(self.cells + 1)])

    def interval(self, low: int, high: int) -> Node:
        """The generalized value over the codes [low, high)."""
        numbers = min(high, self.cells)
        if low >= self.cells:
            return Node(label=str(self.missing), low=low, high=high)
        label = f"[{_plain(self.edge(low))},{_plain(self.edge(numbers))})"
        if self.missing is not None and (high > self.cells or (self.joined and high == self.cells)):
            label = f"{label}|{self.missing}"
        return Node(label=label, low=low, high=high)

    @property
    def root(self) -> Node:
        """The whole domain as one generalized value."""
        return self.interval(0, self.size)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The finest values, by code."""
        return tuple(self.interval(code, code + 1).label for code in range(self.size))

    def positions(self, node: Node) -> range:
        """The positions at which an interval can be split: before each of its codes but the first."""
        return range(node.low + 1, node.high)

    def split(self, node: Node, position: int) -> tuple[Node, ...]:
        """The two intervals below and above a position."""
        return self.interval(node.low, position), self.interval(position, node.high)

    def truncate(self, nodes: Sequence[Node]) -> "Grid":
        """The grid whose cells are these intervals, which must cover it in order."""
        bounds = [node.low for node in nodes] + [self.size]
        numbers = sorted({min(bound, self.cells) for bound in bounds})
        apart = self.missing is not None and not self.joined and bounds[-2] == self.cells
        return Grid(
            edges=tuple(self.edge(position) for position in numbers),
            missing=self.missing,
            joined=self.missing is not None and not apart,
        )

    def _text(self) -> str:
        return "[" + ", ".join(_plain(edge) for edge in self.edges[:8]) + (", ..." if len(self.edges) > 8 else "") + "]"


def _plain(number: Decimal) -> str:
    """A decimal without exponent or trailing zeros, and zero without a sign.

    >>> _plain(Decimal("1E+2")), _plain(Decimal("0.50")), _plain(Decimal("-0.0"))
    ('100', '0.5', '0')
    """
    text = f"{number:f}" if number else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _check_range(*numbers: Decimal) -> None:
    for number in numbers:
        exponent = number.as_tuple().exponent
        if number.adjusted() > LARGEST_EXPONENT or not isinstance(exponent, int) or exponent < SMALLEST_EXPONENT:
            raise InputError(
                f"{number} is outside the range of doubles. Give the domain in another unit of measurement."
            )


Domain = Tree | Grid
