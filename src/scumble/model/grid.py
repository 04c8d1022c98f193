"""Numeric grids: public domains of numbers, cut into cells at exact edges.

The cells have the codes 0 .. cells-1 in ascending order; an interval of cells is a generalized value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, Rounded
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.taxonomy import Node

LARGEST_DOMAIN = 2**31
LARGEST_EXPONENT = 308
SMALLEST_EXPONENT = -400
"""Edges are compared with doubles; exact arithmetic on numbers far beyond their range would be very slow."""

_EXACT = Context(prec=1000, traps=[Inexact, Rounded])
"""Enough digits for any sum and product of such numbers; Python's default context rounds to 28."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A numeric domain cut into cells at public edges: cell i holds the values in [edge(i), edge(i + 1)).

    Missing values have their own code after the last cell, or share the last cell if a published cut joined them.

    >>> age = Grid.regular(low=Decimal(15), high=Decimal(95), step=Decimal(1))
    >>> age.size, age.interval(0, 13).label
    (80, '[15,28)')
    """

    splits_anywhere: ClassVar[bool] = True
    """Whether an interval is split at a chosen position."""
    edges: tuple[Decimal, ...]
    """All edges of an irregular grid; the first and the last of a regular one.

    Edges and steps drop trailing zeros and exponents, so equal grids are written alike: 0.20 becomes 0.2.
    """
    step: Decimal | None = None
    missing: str | None = None
    joined: bool = False

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or any(not edge.is_finite() for edge in self.edges):
            raise InputError(
                "A numeric domain needs at least two finite edges. Give low and high, or at least two edges."
            )
        _check_range(*self.edges)
        object.__setattr__(self, "edges", tuple(map(_canonical, self.edges)))
        if self.step is not None:
            object.__setattr__(self, "step", _canonical(self.step))
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
        return _canonical(_EXACT.fma(self.step, Decimal(position), self.edges[0]))

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


def _canonical(number: Decimal) -> Decimal:
    """The same number, represented as every equal one.

    >>> _canonical(Decimal("1E+2")), _canonical(Decimal("0.50")), _canonical(Decimal("-0.0"))
    (Decimal('100'), Decimal('0.5'), Decimal('0'))
    """
    return Decimal(_plain(number))


def _check_range(*numbers: Decimal) -> None:
    for number in numbers:
        exponent = number.as_tuple().exponent
        if number.adjusted() > LARGEST_EXPONENT or not isinstance(exponent, int) or exponent < SMALLEST_EXPONENT:
            raise InputError(
                f"{number} is outside the range of doubles. Give the domain in another unit of measurement."
            )
