"""The values of a numeric attribute: intervals of numbers, and missing numbers after them.

If the public grid is known, its cells are the values (`CellValues`): a number in a condition is compared with the lower
edge of each cell, which is the value that releases publish. Where a release publishes only generalized intervals, these
are divided at the numbers of the question (`PieceValues`).
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.measured_tables import AttributeBins
from scumble.model.notation import NumberNotation
from scumble.model.raw_value import ValueKind
from scumble.model.schema import Attribute
from scumble.model.values import Column, codes_within
from scumble.querying.expressions import Between, Compared, Condition, Literal, Membership
from scumble.querying.values import Range, UnknownValue, Values

_INTERVAL = re.compile(r"\[\s*([^,\s]+)\s*,\s*([^,\s]+)\s*\)")


class NumberValues(Values):
    """Consecutive half-open intervals of numbers, then missing values."""

    attribute: Attribute
    single = False
    """Whether each interval stands for one published number, its lower edge."""

    @property
    def starts(self) -> Floats:
        """The lower edge of each interval."""
        raise NotImplementedError

    @property
    def grid(self) -> Grid:
        """The domain in the schema of the release."""
        domain = self.attribute.domain
        assert isinstance(domain, Grid)
        return domain

    @property
    def size(self) -> int:
        return len(self.starts) + (self.grid.missing is not None)

    @property
    def missing(self) -> int | None:
        return None if self.grid.missing is None else len(self.starts)

    @property
    def in_order(self) -> bool:
        return True

    def range_of(self, value: Literal) -> Range:
        if _is_missing(value, self.grid.missing):
            last = len(self.starts)
            return Range(low=last, high=last + 1, below=last, upto=last)
        low, high = numbers_of(self.attribute, value)
        below, upto = (int(place) for place in np.searchsorted(self.starts, [low, high]))
        if _is_interval(value):
            return Range(low=below, high=upto, below=below, upto=upto)
        return self._point(value, low, below, upto)

    def _point(self, value: Literal, number: float, below: int, upto: int) -> Range:
        raise NotImplementedError

    def bins(self, bins: AttributeBins) -> Integers:
        assert bins.edges is not None
        places = np.searchsorted(bins.edges, self.starts, side="right") - 1
        places = places.clip(0, len(bins.edges) - 2)
        return places if self.missing is None else np.append(places, bins.missing if bins.missing is not None else 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellValues(NumberValues):
    """The cells of a public grid."""

    attribute: Attribute
    single = True

    @cached_property
    def starts(self) -> Floats:
        return self.grid.edge_floats[:-1]

    def _point(self, value: Literal, number: float, below: int, upto: int) -> Range:
        ends = self.grid.edge_floats[[0, -1]]
        if not ends[0] <= number < ends[1]:
            return Range(low=below, high=below, below=below, upto=upto)
        cell = int(np.searchsorted(self.starts, number, side="right")) - 1
        inside = number > self.starts[cell]
        label = self.grid.interval(cell, cell + 1).label
        note = f"{value.text} lies inside the cell {label} of {self.attribute.name!r}, which counts as a whole."
        return Range(low=cell, high=cell + 1, below=below, upto=upto, inexact=note if inside else "")

    def places(self, column: Column) -> Integers:
        return codes_within(self.grid, column, clamp=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class PieceValues(NumberValues):
    """The intervals of a generalized grid, divided at the numbers of a question."""

    attribute: Attribute
    numbers: tuple[float, ...] = ()

    @cached_property
    def edges(self) -> Floats:
        """All edges: of the published intervals, and the numbers of the question inside the range."""
        published = self.grid.edge_floats
        inside = [number for number in self.numbers if published[0] < number < published[-1]]
        return np.union1d(published, inside)

    @property
    def starts(self) -> Floats:
        return self.edges[:-1]

    @property
    def weights(self) -> Floats:
        """The widths; none for missing values, which share an interval with numbers or are alone."""
        widths = np.diff(self.edges)
        return widths if self.missing is None else np.append(widths, 0.0 if self.grid.joined else 1.0)

    def _point(self, value: Literal, number: float, below: int, upto: int) -> Range:
        return Range(low=below, high=upto, below=below, upto=upto)

    def _noted(self, value: Literal, notes: list[str], *, equal: bool = False) -> Range:
        if equal and not _is_missing(value, self.grid.missing) and not _is_interval(value):
            raise UnknownValue(
                f"The release publishes intervals of {self.attribute.name!r}, no single numbers. Ask for a range.",
                value,
            )
        return super()._noted(value, notes, equal=equal)


def numbers_of(attribute: Attribute, value: Literal) -> tuple[float, float]:
    """The number that a value writes, and the next larger one; or the ends of an interval such as '[15,28)'."""
    interval = None if value.number else _INTERVAL.fullmatch(value.text.strip())
    found = [_read_number(attribute.numbers, text, value) for text in (interval.groups() if interval else ())]
    if interval:
        if any(number is None for number in found) or found[0] >= found[1]:  # type: ignore[operator]
            raise UnknownValue(f"{value.text!r} is not an interval of numbers. Write it as '[15,28)'.", value)
        return found[0], found[1]  # type: ignore[return-value]
    number = _read_number(attribute.numbers, value.text, value)
    if number is None:
        raise UnknownValue(f"{attribute.name!r} is a number, {value.text!r} is not.", value)
    return number, math.nextafter(number, math.inf)


def numbers_in(attribute: Attribute, conditions: Iterable[Condition]) -> tuple[float, ...]:
    """All numbers that conditions on an attribute compare it with, each with the next larger one."""
    found: list[float] = []
    for condition in conditions:
        match condition:
            case Compared(value=value):
                values: tuple[Literal, ...] = (value,)
            case Membership(values=several):
                values = several
            case Between(low=low, high=high):
                values = (low, high)
            case _:
                continue
        known = (each for each in values if not _is_missing(each, attribute.missing))
        found += [number for each in known for number in numbers_of(attribute, each)]
    return tuple(found)


def _read_number(numbers: NumberNotation, text: str, value: Literal) -> float | None:
    return float(text) if value.number else numbers.number(ValueKind.TEXT, text)


def _is_missing(value: Literal, label: str | None) -> bool:
    return not value.number and value.text == label


def _is_interval(value: Literal) -> bool:
    return not value.number and _INTERVAL.fullmatch(value.text.strip()) is not None
