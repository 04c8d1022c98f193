"""Taxonomy trees: public domains of categories, coded so that every generalized value is an interval of codes.

The finest values of a domain have the codes 0 .. size-1, and the leaves below a node have contiguous codes. A
generalized value is therefore a `Node` over the codes [low, high), and a cell of a table is a box.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

from scumble.errors import InputError
from scumble.model.raw_value import canonical

LARGE_DIGITS = 16
"""Whole numbers beyond 2^53 have at least so many."""
_WHOLE = re.compile("-?[1-9][0-9]*")


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

    splits_anywhere: ClassVar[bool] = False
    """Whether a node is split at a chosen position. A node of a tree is split into its children."""
    root: Node
    origin: "Tree | None" = field(default=None, compare=False, repr=False)
    """The finer tree this one was truncated from, which still reads the raw values below its leaves."""

    def __eq__(self, other: object) -> bool:
        """The same nodes in the same places and the same origin. Nested intervals in this order determine the tree."""
        if not isinstance(other, Tree):
            return NotImplemented
        return type(self) is type(other) and [*self.root.walk()] == [*other.root.walk()] and self.origin == other.origin

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

    def with_leaves(self, labels: Sequence[str]) -> "Tree":
        """The tree with further leaves below its root, which must have children. They get the last codes.

        >>> Tree.nested({"Any": {"Artist": {"Dancer": None}}}).with_leaves(["Lawyer"]).labels
        ('Dancer', 'Lawyer')
        """
        if self == Tree.flat(self.labels):
            return Tree.flat([*self.labels, *labels])
        return Tree.nested({self.root.label: {**(self.to_nested()[self.root.label] or {}), **dict.fromkeys(labels)}})

    @property
    def labels(self) -> tuple[str, ...]:
        """The finest values, by code."""
        return self._leaf_labels

    @cached_property
    def _leaf_labels(self) -> tuple[str, ...]:
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
                codes |= dict.fromkeys(self.origin.leaves_below(label), code)
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

    def labels_below(self, label: str) -> Iterator[str]:
        """The node of this name and all below it."""
        return (node.label for node in self.node(label).walk())

    def leaves_below(self, label: str) -> Sequence[str]:
        """The finest values of the node of this name."""
        node = self.node(label)
        return self.labels[node.low : node.high]

    def to_nested(self) -> Nested:
        """The inverse of `nested`."""

        def below(node: Node) -> "Nested | None":
            return {child.label: below(child) for child in node.children} or None

        return {self.root.label: below(self.root)}

    @property
    def finest(self) -> "Tree":
        """The tree of the public schema, from which this one was truncated or which it is."""
        return self.origin or self

    @cached_property
    def codes_of_finest(self) -> tuple[int, ...]:
        """For every leaf of the finest tree, the code of the leaf of this tree that covers it."""
        return tuple(self.codes[label] for label in self.finest.labels)

    def with_leaf(self, label: str) -> "Tree":
        """The tree with a further leaf below its root, which gets the last code."""
        branches = self.to_nested()[self.root.label]
        if not branches:
            raise InputError(f"{self.root.label!r} is both root and leaf. Put it below a root, beside {label!r}.")
        if label in branches:
            raise InputError(f"missing {label!r} has values below it in the taxonomy. Name a leaf or a new value.")
        return Tree.nested({self.root.label: {**branches, label: None}})

    def interval(self, low: int, high: int) -> Node:
        """The node that covers exactly these codes, the topmost one if there are several."""
        found = next((node for node in self.root.walk() if (node.low, node.high) == (low, high)), None)
        if found is None:
            raise InputError(f"The taxonomy has no node over the codes {low} to {high - 1}. Choose one of its nodes.")
        return found

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
