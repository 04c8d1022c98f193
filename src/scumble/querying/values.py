"""The values of an attribute that a question can distinguish, and which of them a condition means.

Values of categories are the leaves of the finest taxonomy. Values of numbers are the cells of the public grid: a number
in a condition is compared with the lower edge of each cell, which is the value that releases publish. Where a release
publishes only generalized intervals, its grid is not known; the intervals are then divided at the numbers of the
question (`PieceValues`).
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.counts import Floats, Integers
from scumble.model.dates import DateNotation
from scumble.model.grid import Grid
from scumble.model.measured_tables import AttributeBins
from scumble.model.notation import NumberNotation
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.model.values import Column, codes_within, read_value
from scumble.querying.expressions import Between, Compared, Condition, Literal, Membership, Missing

Mask = npt.NDArray[np.bool_]
_INTERVAL = re.compile(r"\[\s*([^,\s]+)\s*,\s*([^,\s]+)\s*\)")
MOST_LISTED = 8


class UnknownValue(Exception):
    """A value that an attribute does not have. The caller knows the text of the question and raises the error."""

    def __init__(self, problem: str, value: Literal | None = None) -> None:
        super().__init__(problem)
        self.problem, self.value = problem, value


@dataclass(frozen=True, kw_only=True)
class Range:
    """Consecutive values that a written value means, and where it stands in their order.

    `low` and `high` bound the values that are equal to it; values before `below` are smaller, and those before `upto`
    are smaller or equal.
    """

    low: int
    high: int
    below: int
    upto: int
    inexact: str = ""
    """Why the values do not match the written one exactly; empty if they do."""


class Values:
    """The distinguishable values of one attribute. Subclasses: `LeafValues`, `CellValues` and `PieceValues`."""

    attribute: Attribute

    @property
    def size(self) -> int:
        """The number of distinguishable values, missing values included."""
        raise NotImplementedError

    @property
    def missing(self) -> int | None:
        """The place of missing values, or None."""
        raise NotImplementedError

    @property
    def in_order(self) -> bool:
        """Whether values can be compared by < and >."""
        raise NotImplementedError

    def range_of(self, value: Literal) -> Range:
        """The values that a written value means. Raises `UnknownValue` if there are none."""
        raise NotImplementedError

    def bins(self, bins: AttributeBins) -> Integers:
        """The bin of each value in a measured table."""
        raise NotImplementedError

    def places(self, column: Column) -> Integers:
        """The place of each value of a published column."""
        raise NotImplementedError

    @property
    def weights(self) -> Floats:
        """The share of each value inside a generalized one, up to a factor, if nothing else is known."""
        return np.ones(self.size)

    def mask(self, condition: Condition, notes: list[str]) -> Mask:
        """For each value, whether it satisfies a condition on this attribute."""
        found = np.zeros(self.size, dtype=np.bool_)
        match condition:
            case Missing():
                if self.missing is None:
                    raise UnknownValue(f"{self.attribute.name!r} has no missing values in this release.")
                found[self.missing] = True
            case Membership(values=values):
                for value in values:
                    self._equal(found, self._noted(value, notes, equal=True))
            case Between(low=low, high=high):
                self._check_order("between", low)
                found[self._noted(low, notes).below : self._noted(high, notes).upto] = True
                self._without_missing(found)
            case Compared(operator="=" | "!=" as operator, value=value):
                self._equal(found, self._noted(value, notes, equal=True))
                return found if operator == "=" else ~found
            case Compared(operator=operator, value=value):
                self._check_order(operator, value)
                place = self._noted(value, notes)
                smaller = np.arange(self.size) < (place.below if operator in ("<", ">=") else place.upto)
                found = smaller if operator in ("<", "<=") else ~smaller
                self._without_missing(found)
        return found

    def _equal(self, found: Mask, place: Range) -> None:
        found[place.low : place.high] = True

    def _without_missing(self, found: Mask) -> None:
        if self.missing is not None:
            found[self.missing] = False

    def _check_order(self, operator: str, value: Literal) -> None:
        if not self.in_order:
            raise UnknownValue(
                f"{self.attribute.name!r} has categories without an order, so `{operator}` means nothing. Use = or in.",
                value,
            )

    def _noted(self, value: Literal, notes: list[str], *, equal: bool = False) -> Range:
        place = self.range_of(value)
        if equal and place.low >= place.high:
            raise UnknownValue(f"{value.text} lies outside the domain of {self.attribute.name!r}.", value)
        if place.inexact and place.inexact not in notes:
            notes.append(place.inexact)
        return place


@dataclass(frozen=True, kw_only=True, eq=False)
class LeafValues(Values):
    """The leaves of the finest taxonomy of a categorical attribute."""

    attribute: Attribute

    @cached_property
    def tree(self) -> Tree:
        """The finest taxonomy."""
        domain = self.attribute.domain
        assert isinstance(domain, Tree)
        return domain.finest

    @property
    def size(self) -> int:
        return self.tree.size

    @property
    def missing(self) -> int | None:
        label = self.attribute.missing
        return None if label is None else self.tree.codes.get(label)

    @property
    def in_order(self) -> bool:
        return self.attribute.in_order

    def range_of(self, value: Literal) -> Range:
        for text in dict.fromkeys((value.text, canonical(_number(value))[1] if value.number else value.text)):
            try:
                node = self.tree.node(text)
            except InputError:
                continue
            return Range(low=node.low, high=node.high, below=node.low, upto=node.high)
        return self._by_notation(value)

    def _by_notation(self, value: Literal) -> Range:
        name, notation = self.attribute.name, self.attribute.notation
        fine = replace(self.attribute, domain=self.tree, outside=Outside.DROP)
        raw = _number(value) if value.number else value.text
        if notation is not None and notation.on_a_line:
            place = notation.place(*canonical(raw))
            if place is None and not value.number:
                place = notation.place(ValueKind.TEXT, value.text)
            if place is not None and not 0 <= place < notation.size:
                end = 0 if place < 0 else notation.size
                return Range(low=end, high=end, below=end, upto=end)
        code = read_value(fine, raw).code
        if code is None:
            raise UnknownValue(f"{name!r} has no value {value.text!r}.{_nearest(value.text, self._names)}", value)
        inside = self._inside(value, code)
        note = f"{value.text} lies inside {self.tree.labels[code]!r} of {name!r}, which counts as a whole."
        return Range(
            low=code,
            high=code + 1,
            below=code + inside,
            upto=code + 1,
            inexact=note if inside else "",
        )

    def _inside(self, value: Literal, code: int) -> bool:
        """Whether a date or number lies after the beginning of its leaf."""
        notation = self.attribute.notation
        if isinstance(notation, DateNotation):
            day = notation.date_of(value.text)
            return day is not None and day.toordinal() > int(notation.starts[code])
        edges = getattr(notation, "edge_floats", None)
        return edges is not None and value.number and float(value.text) > float(edges[code])

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([*(node.label for node in self.tree.root.walk()), *self.tree.labels]))

    def bins(self, bins: AttributeBins) -> Integers:
        assert bins.of_leaf is not None
        return bins.of_leaf

    def places(self, column: Column) -> Integers:
        return codes_within(self.tree, column)


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


def _number(value: Literal) -> int | float:
    number = float(value.text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def nearest_names(text: str, names: Iterable[str]) -> list[str]:
    """The names that are written most like a text; case is ignored."""
    lower: dict[str, str] = {}
    for name in names:
        lower.setdefault(name.lower(), name)
    return [lower[each] for each in get_close_matches(text.lower(), list(lower), n=3, cutoff=0.5)]


def _nearest(text: str, names: list[str]) -> str:
    near = nearest_names(text, names)
    if near:
        return f" Did you mean {' or '.join(repr(each) for each in near)}?"
    listed = ", ".join(repr(name) for name in names[:MOST_LISTED])
    return f" Available: {listed}{', ...' if len(names) > MOST_LISTED else ''}."
