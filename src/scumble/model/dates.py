"""Dates: a calendar taxonomy of years, quarters, months and days, and the reading of one date.

The leaves are the steps of a public range in the order of time. Above them lie the coarser calendar units, and decades
where the range is longer than twenty years.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.notation import Notation
from scumble.model.raw_value import ValueKind
from scumble.model.taxonomy import Tree

MOST_LEAVES = 100_000
YEARS_WITHOUT_DECADES = 20
ISO = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
"""An ISO date, or an ISO timestamp, of which the date counts as it is written."""
_ISO = re.compile(ISO, re.ASCII)
_DIRECTIVES = {
    "%Y": "(?P<year>[0-9]{4})",
    "%m": "(?P<month>[0-9]{2})",
    "%d": "(?P<day>[0-9]{2})",
    "%-m": "(?P<month>[0-9]{1,2})",
    "%-d": "(?P<day>[0-9]{1,2})",
    "%H": "[0-9]{2}",
    "%M": "[0-9]{2}",
    "%S": "[0-9]{2}",
    "%%": "%",
}
_TOKEN = re.compile(r"%-?.|[^%]|%$", re.DOTALL)


class DateStep(StrEnum):
    """The length of the finest dates."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    DAY = "day"


_MONTHS = {DateStep.YEAR: 12, DateStep.QUARTER: 3, DateStep.MONTH: 1}


@dataclass(frozen=True, kw_only=True)
class DateNotation(Notation):
    """Dates from `first` on and before `end`, in steps. Texts are ISO, or in the given format.

    >>> months = DateNotation(first=date(2023, 11, 1), end=date(2024, 2, 1), step=DateStep.MONTH)
    >>> months.labels
    ('2023-11', '2023-12', '2024-01')
    >>> [months.place(ValueKind.TEXT, text) for text in ("2023-12-31T23:59", "1999-01-01", "2030-01-01", "31.1.24")]
    [1, -1, 3, None]
    """

    kind = "date"
    on_a_line = True
    first: date
    end: date
    step: DateStep
    format: str | None = None

    def __post_init__(self) -> None:
        if self.first >= self.end:
            raise InputError(f"`from` {self.first} is not before `to` {self.end}. Write `to` after `from`.")
        for key, day in (("from", self.first), ("to", self.end)):
            begin = _floor(day, self.step)
            if begin != day:
                better = begin if key == "from" or day.year == date.max.year else _next(begin, self.step)
                note = " `to` is the first day after the range." if key == "to" else ""
                raise InputError(
                    f"`{key}: {day}` is not the first day of a {self.step.value}. Write {better}, or choose a finer "
                    f"step.{note}"
                )
        if (self.end - self.first).days > MOST_LEAVES * (28 * _MONTHS[self.step] if self.step in _MONTHS else 1):
            raise InputError(
                f"The range has more than {MOST_LEAVES:,} steps. Choose a coarser step or a shorter range."
            )
        if self.format is not None:
            self._check_format(self.format)

    def _check_format(self, given: str) -> None:
        directives = [token for token in _TOKEN.findall(given) if token.startswith("%")]
        unknown = [token for token in directives if token not in _DIRECTIVES]
        if unknown:
            raise InputError(
                f"The format {given!r} contains {unknown[0]!r}. Available: {', '.join(_DIRECTIVES)}. Names of months "
                "and years of two digits are not read."
            )
        parts = [token.replace("-", "") for token in directives if token not in ("%H", "%M", "%S", "%%")]
        needed = {DateStep.YEAR: ["%Y"], DateStep.DAY: ["%Y", "%m", "%d"]}.get(self.step, ["%Y", "%m"])
        absent = [token for token in needed if token not in parts]
        if absent or len(set(parts)) < len(parts):
            raise InputError(
                f"The format {given!r} does not state every part of a {self.step.value} once. Write each of "
                f"{', '.join(needed)} once."
            )
        if self._pattern is not None and self._read_format("2001-02-03") not in (None, date(2001, 2, 3)):
            raise InputError(f"The format {given!r} reads ISO dates as other dates. Write the dates in ISO's order.")

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        if self.format is None:
            return None
        tokens = _TOKEN.findall(self.format)
        return re.compile("".join(_DIRECTIVES.get(token) or re.escape(token) for token in tokens), re.ASCII)

    @property
    def size(self) -> int:
        """The number of steps."""
        return len(self.starts)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """The first day of each step, counted as `date.toordinal` counts."""
        return np.array([day.toordinal() for day in self._steps()], dtype=np.int64)

    def _steps(self) -> Iterator[date]:
        day = self.first
        while day < self.end:
            yield day
            day = _next(day, self.step)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the steps: 2024, 2024-Q1, 2024-01 or 2024-01-31."""
        return tuple(_label(date.fromordinal(int(day)), self.step) for day in self.starts)

    def is_missing(self, kind: ValueKind, text: str, label: str | None) -> bool:
        """The date of the label is missing, too, in every spelling."""
        if super().is_missing(kind, text, label):
            return True
        missing = None if label is None else self.date_of(label)
        return missing is not None and self.date_of(text) == missing

    def place(self, kind: ValueKind, text: str) -> int | None:
        """The step of a date. Typed dates and timestamps arrive as ISO text."""
        day = self.date_of(text) if kind in (ValueKind.TEXT, ValueKind.NUMBER) else None
        if day is None:
            return None
        return self.size if day >= self.end else int(np.searchsorted(self.starts, day.toordinal(), side="right")) - 1

    def date_of(self, text: str) -> date | None:
        """The date of a text, None where it is not one."""
        text = text.strip()
        if _ISO.fullmatch(text):
            return _date(text[:4], text[5:7], text[8:10])
        return self._read_format(text)

    def _read_format(self, text: str) -> date | None:
        found = None if self._pattern is None else self._pattern.fullmatch(text)
        if found is None:
            return None
        parts = {"month": "1", "day": "1", **found.groupdict()}
        return _date(parts["year"], parts["month"], parts["day"])

    @cached_property
    def tree(self) -> Tree:
        """The calendar over the steps."""
        levels = list(DateStep)[: list(DateStep).index(self.step)]
        years = int(self.labels[-1][:4]) - int(self.labels[0][:4]) + 1
        nested: dict[str, Any] = {}
        for ordinal, leaf in zip(self.starts.tolist(), self.labels, strict=True):
            day = date.fromordinal(ordinal)
            above = nested
            names = [_label(day, level) for level in levels]
            if years > YEARS_WITHOUT_DECADES:
                names.insert(0, f"{day.year // 10 * 10:04}/{day.year // 10 * 10 + 9:04}")
            for name in names:
                above = above.setdefault(name, {})
            above[leaf] = None
        return Tree.nested({f"{self.labels[0]}/{self.labels[-1]}": nested})


def _date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _floor(day: date, step: DateStep) -> date:
    if step is DateStep.DAY:
        return day
    months = _MONTHS[step]
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def _next(day: date, step: DateStep) -> date:
    if step is DateStep.DAY:
        return day + timedelta(days=1)
    months = day.year * 12 + day.month - 1 + _MONTHS[step]
    return date(months // 12, months % 12 + 1, 1)


def _label(day: date, step: DateStep) -> str:
    match step:
        case DateStep.YEAR:
            return f"{day.year:04}"
        case DateStep.QUARTER:
            return f"{day.year:04}-Q{(day.month + 2) // 3}"
        case DateStep.MONTH:
            return f"{day.year:04}-{day.month:02}"
    return day.isoformat()
