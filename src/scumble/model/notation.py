"""How the values of an attribute are written in a table: the reading of one raw value, apart from its domain.

A domain is a structure: a tree or a grid over codes. A notation finds the place of a raw value among the finest values
of that structure. It is given the canonical kind and text of the value (`scumble.model.raw_value`) and looks at nothing
else. A text that equals the label of a leaf always means that leaf; a notation is asked about all other values. An
attribute without a notation reads categories by their labels alone, and numbers in plain notation.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.grid import Grid
from scumble.model.raw_value import ValueKind
from scumble.model.taxonomy import Nested, Tree

DECIMAL_SIGNS = (".", ",")
THOUSANDS_SIGNS = (".", ",", " ", "'", "\u2019", "\u00a0", "\u202f")


class Notation:
    """The reading of one value. `place` returns its place among the finest values, in the order of codes."""

    kind: ClassVar[str]
    """What a value is, in one or two words."""
    on_a_line: ClassVar[bool] = False
    """Whether the values lie on a line, as numbers and dates do: a value outside the range then has a nearest end."""

    @property
    def size(self) -> int:
        """The number of finest values, without a separate one for missing values."""
        raise NotImplementedError

    def is_missing(self, kind: ValueKind, text: str, label: str | None) -> bool:
        """Whether a value is missing, given the label of missing values."""
        if self.on_a_line:
            return kind is ValueKind.MISSING or (kind is ValueKind.TEXT and text.strip() in {"", (label or "").strip()})
        return text == "" and kind is not ValueKind.OFF

    def place(self, kind: ValueKind, text: str) -> int | None:
        """The place of a value; None where it cannot be read. -1 lies below the range and `size` above it."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class NumberNotation(Notation):
    """Numbers as text, with a declared decimal sign and thousands separator. Typed numbers are not affected.

    With a separator, the digits before the decimal sign are either all together, or in groups: one to three digits,
    then groups of exactly three.

    >>> german = NumberNotation(decimal=",", thousands=".")
    >>> [german.number(ValueKind.TEXT, text) for text in ("31.288,61", "31288,61", "31.28", " 1.000 ", "1e3")]
    [31288.61, 31288.61, None, 1000.0, 1000.0]
    """

    kind = "number"
    on_a_line = True
    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMAL_SIGNS:
            raise InputError(f"The decimal sign is {self.decimal!r}. Write a point or a comma.")
        if self.thousands is not None and self.thousands not in THOUSANDS_SIGNS:
            raise InputError(
                f"The thousands separator is {self.thousands!r}. Write a point, a comma, a space or an apostrophe."
            )
        if self.thousands == self.decimal:
            raise InputError(f"{self.decimal!r} is both decimal sign and thousands separator. Give two different ones.")

    @cached_property
    def pattern(self) -> str:
        """The texts that are numbers, once surrounding spaces are removed. Infinities are numbers, NaN is not."""
        point = f"[{self.decimal}]"
        whole = "[0-9]+" if self.thousands is None else f"([0-9]+|[0-9]{{1,3}}([{self.thousands}][0-9]{{3}})+)"
        return rf"^[+-]?(({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity))$"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.ASCII)  # without it, "ınf" with a dotless i would match

    def number(self, kind: ValueKind, text: str) -> float | None:
        """A canonical value as the nearest double, None where it is not a number."""
        if kind is ValueKind.NUMBER:
            return float(text)
        text = text.strip()
        if kind is not ValueKind.TEXT or not self._compiled.fullmatch(text):
            return None
        return float(text.replace(self.thousands or "", "").replace(self.decimal, "."))

    def is_missing(self, kind: ValueKind, text: str, label: str | None) -> bool:
        """An equal number is missing, too. The label is a number of the schema file, which is in plain notation."""
        if super().is_missing(kind, text, label):
            return True
        number = self.number(kind, text)
        return number is not None and label is not None and number == PLAIN.number(ValueKind.TEXT, label)


PLAIN = NumberNotation()
"""Numbers with a decimal point and without a thousands separator, as programs write them."""


@dataclass(frozen=True, kw_only=True)
class IntervalNotation(Notation):
    """Numbers, read into the leaves of a taxonomy of nested intervals. Leaf i is [edges[i], edges[i + 1])."""

    kind = "number in nested intervals"
    on_a_line = True
    edges: tuple[Decimal, ...]
    numbers: NumberNotation = PLAIN

    def __post_init__(self) -> None:
        _ = self.edge_floats

    @cached_property
    def edge_floats(self) -> npt.NDArray[np.float64]:
        """Every edge as the double nearest to it. Raises `InputError` if the edges do not increase."""
        return Grid(edges=self.edges).edge_floats

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    def is_missing(self, kind: ValueKind, text: str, label: str | None) -> bool:
        return self.numbers.is_missing(kind, text, label)

    def place(self, kind: ValueKind, text: str) -> int | None:
        number = self.numbers.number(kind, text)
        return None if number is None else int(np.searchsorted(self.edge_floats, number, side="right")) - 1

    @classmethod
    def nested(cls, taxonomy: Nested, numbers: NumberNotation = PLAIN) -> "tuple[IntervalNotation, Tree]":
        """The notation and the taxonomy of nested intervals, whose children must tile their parent.

        >>> found, tree = IntervalNotation.nested({"[0, 9)": {"[0,5)": {"[0,2)": None, "[2,5)": None}, "[5,9)": None}})
        >>> [str(edge) for edge in found.edges], tree.labels
        (['0', '2', '5', '9'], ('[0,2)', '[2,5)', '[5,9)'))
        """
        edges: list[Decimal] = []

        def build(label: str, below: "Nested | None") -> tuple[str, Decimal, Decimal, "Nested | None"]:
            low, high = interval_ends(label)
            name = Grid(edges=(low, high)).root.label
            if not below:
                edges.append(low)
                return name, low, high, None
            parts = [build(each, further) for each, further in below.items()]
            gaps = any(left[2] != right[1] for left, right in pairwise(parts))
            if gaps or (parts[0][1], parts[-1][2]) != (low, high):
                listed = ", ".join(part[0] for part in parts)
                raise InputError(f"{listed} do not tile {name}. Write them in order, each from the end of the last.")
            return name, low, high, {part[0]: part[3] for part in parts}

        if len(taxonomy) != 1:
            raise InputError("A taxonomy of intervals has one root. Put all intervals below the whole range.")
        ((root, below),) = taxonomy.items()
        name, _, high, nested = build(root, below)
        return cls(edges=(*edges, high), numbers=numbers), Tree.nested({name: nested})


def interval_ends(label: str) -> tuple[Decimal, Decimal]:
    """The ends of an interval that is written `[low,high)`. Raises `InputError` for another text."""
    found = _INTERVAL.fullmatch(label)
    if found is None:
        raise InputError(f"{label!r} is not an interval. Write `[low,high)`, such as [0,50).")
    return Decimal(found[1]), Decimal(found[2])


_DECIMAL = r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)"
_INTERVAL = re.compile(rf"\s*\[\s*{_DECIMAL}\s*,\s*{_DECIMAL}\s*\)\s*", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class BooleanNotation(Notation):
    """Booleans: typed ones, the texts true and false in any case, and further texts, exactly as listed.

    >>> BooleanNotation(false=("no", "0"), true=("yes", "1")).place(ValueKind.NUMBER, "1")
    1
    """

    kind = "boolean"
    false: tuple[str, ...] = ()
    true: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for texts, other in ((self.false, "true"), (self.true, "false")):
            if any(text.lower() == other for text in texts):
                raise InputError(f"The texts of a boolean list {other!r} under its opposite. Remove it there.")
        both = [text for text in self.false if text in self.true]
        if both:
            raise InputError(f"{both[0]!r} means both false and true. List it once.")

    @property
    def size(self) -> int:
        return 2

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict.fromkeys(self.false, 0) | dict.fromkeys(self.true, 1)

    def place(self, kind: ValueKind, text: str) -> int | None:
        if kind is not ValueKind.NUMBER and text.lower() in {"false", "true"}:
            return int(text.lower() == "true")
        return self._places.get(text)

    @property
    def tree(self) -> Tree:
        """The leaves false and true."""
        return Tree.flat(["false", "true"])
