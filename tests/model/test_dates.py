"""Dates: the calendar taxonomy, and the reading of a date in every spelling and type."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import MOMENTS, dates

from scumble.engines.coding import coder
from scumble.errors import InputError
from scumble.model.dates import DateNotation, DateStep
from scumble.model.schema import Attribute, Outside
from scumble.model.values import Flaw, code_of, read_value

NEW_YORK = timezone(timedelta(hours=-5))


def over(first: str, end: str, step: str, form: str | None = None) -> DateNotation:
    return DateNotation(first=date.fromisoformat(first), end=date.fromisoformat(end), step=DateStep(step), format=form)


def attribute(notation: DateNotation, missing: str | None = None, outside: Outside = Outside.CLAMP) -> Attribute:
    tree = notation.tree if missing is None else notation.tree.with_leaf(missing)
    return Attribute(name="born", domain=tree, outside=outside, missing=missing, notation=notation)


MONTHS = attribute(over("2023-11-01", "2024-03-01", "month"), missing="?")


@pytest.mark.parametrize(
    ("value", "code", "flaw"),
    [
        *((value, 2, None) for value in ("2024-01-31", " 2024-01-01 ", "2024-01-31T23:59:59.9", "2024-01-31 09:30")),
        *((value, 2, None) for value in (date(2024, 1, 31), datetime(2024, 1, 31, 9), np.datetime64("2024-01-31"))),
        ("2024-01", 2, None),
        (datetime(2024, 1, 31, 23, 30, tzinfo=NEW_YORK), 3, None),
        ("2024-01-31T23:30:00-05:00", 2, None),
        *((value, 0, Flaw.OUTSIDE) for value in ("2023-10-31", date.min, "0001-01-01")),
        *((value, 3, Flaw.OUTSIDE) for value in ("2024-03-01", date.max)),
        *(
            (value, 4, Flaw.UNREADABLE)
            for value in ("2024-02-30", "2024-1-31", "31.01.2024", "2024", 2024, True, [], "x")
        ),
        *((value, 4, Flaw.MISSING) for value in (None, "", " ", " ? ")),
        ("?", 4, None),
    ],
)
def test_a_date_is_read_by_the_documented_rules(value: Any, code: int, flaw: Flaw | None) -> None:
    reading = read_value(MONTHS, value)
    assert (reading.code, reading.flaw) == (code, flaw)


def test_the_date_that_means_missing_is_missing_in_every_spelling() -> None:
    here = attribute(over("1890-01-01", "2030-01-01", "year"), missing="1900-01-01")
    values = ("1900-01-01", "1900-01-01T00:00:00", date(1900, 1, 1), datetime(1900, 1, 1, tzinfo=UTC))
    assert {code_of(here, value) for value in values} == {here.missing_code}
    columns = [pa.array(["1900-01-01 00:00"]), pa.array([date(1900, 1, 1)]), pa.array([datetime(1900, 1, 1)])]
    assert {int(coder(here)(column).codes[0]) for column in columns} == {here.missing_code}
    assert code_of(here, "1900-01-02") == 10


@pytest.mark.parametrize(
    ("form", "step", "text", "day"),
    [
        ("%d.%m.%Y", "day", "31.01.2024", date(2024, 1, 31)),
        ("%d.%m.%Y", "day", "31.1.2024", None),
        ("%-d.%-m.%Y", "day", "3.1.2024", date(2024, 1, 3)),
        ("%-d.%-m.%Y", "day", "31.02.2024", None),
        ("%Y%m%d", "day", "20240131", date(2024, 1, 31)),
        ("%m/%Y", "month", "02/2024", date(2024, 2, 1)),
        ("%Y", "year", "2024", date(2024, 1, 1)),
        ("%d.%m.%Y %H:%M", "day", "31.01.2024 09:30", date(2024, 1, 31)),
        ("%d.%m.%Y", "day", "2024-01-31", date(2024, 1, 31)),
        ("%d+%m+%Y", "day", "31+01+2024", date(2024, 1, 31)),
    ],
)
def test_a_format_is_strict(form: str, step: str, text: str, day: date | None) -> None:
    assert over("2000-01-01", "2030-01-01", step, form).date_of(text) == day


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: over("2024-01-02", "2025-01-01", "month"), "not the first day of a month. Write 2024-01-01"),
        (lambda: over("2024-01-01", "2025-02-01", "quarter"), "`to: 2025-02-01` is not the first day of a quarter"),
        (lambda: over("2024-01-01", "2025-02-01", "quarter"), "Write 2025-04-01, or"),
        (lambda: over("2023-01-01", "2023-12-31", "month"), "Write 2024-01-01, or"),
        (lambda: over("2023-01-01", "9999-12-31", "month"), "Write 9999-12-01, or"),
        (lambda: over("2023-12-31", "2025-01-01", "year"), "Write 2023-01-01, or"),
        (lambda: over("2024-01-01", "2024-01-01", "year"), "is not before"),
        (lambda: over("0001-01-01", "9999-01-01", "day"), "more than 100,000 steps"),
        (lambda: over("2024-01-01", "2025-01-01", "day", "%d. %B %Y"), "contains '%B'"),
        (lambda: over("2024-01-01", "2025-01-01", "day", "%m/%Y"), "does not state every part"),
        (lambda: over("2024-01-01", "2025-01-01", "day", "%d%d%m%Y"), "does not state every part"),
        (lambda: over("2024-01-01", "2025-01-01", "day", "%Y-%d-%m"), "reads ISO dates as other dates"),
    ],
)
def test_what_cannot_be_served_is_refused_with_advice(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_the_levels_of_the_calendar() -> None:
    days = over("2023-12-30", "2024-01-02", "day").tree
    assert days.to_nested() == {
        "2023-12-30/2024-01-01": {
            "2023": {"2023-Q4": {"2023-12": {"2023-12-30": None, "2023-12-31": None}}},
            "2024": {"2024-Q1": {"2024-01": {"2024-01-01": None}}},
        }
    }
    assert [node.label for node in over("2004-01-01", "2024-01-01", "year").tree.root.children][:2] == ["2004", "2005"]
    decades = over("2004-01-01", "2025-01-01", "year").tree.root
    assert decades.label == "2004/2024"
    assert [node.label for node in decades.children] == ["2000/2009", "2010/2019", "2020/2029"]
    quarters = over("2023-10-01", "2024-07-01", "quarter").tree
    assert quarters.labels == ("2023-Q4", "2024-Q1", "2024-Q2")


@given(drawn=dates(), day=st.dates())
def test_the_place_of_a_day_is_the_step_that_contains_it(drawn: Any, day: date) -> None:
    notation = drawn[1]
    place = code_of(attribute(notation), day)
    inside = min(max(day, notation.first), notation.end - timedelta(days=1))
    starts = [date.fromordinal(int(start)) for start in notation.starts]
    assert place == max(index for index, start in enumerate(starts) if start <= inside)
    assert notation.tree.labels == notation.labels


@given(drawn=dates(), values=st.lists(st.sampled_from(MOMENTS) | st.dates().map(str), max_size=8))
def test_whole_columns_of_text_are_read_as_single_values(drawn: Any, values: list[str]) -> None:
    tree, notation, missing = drawn
    here = Attribute(name="born", domain=tree, outside=Outside.CLAMP, missing=missing, notation=notation)
    for kind in (pa.string(), pa.large_binary()):
        column = pa.array([value.encode() for value in values], pa.binary()).cast(kind)
        assert coder(here)(column).codes.tolist() == [code_of(here, value) for value in values]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@given(counts=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2**31), max_size=6))
def test_whole_columns_of_timestamps_are_read_as_single_values(unit: str, counts: list[int | None]) -> None:
    column = pa.array(counts, pa.int64()).view(pa.timestamp(unit))
    single = [coder(MONTHS)(column.slice(place, 1)).codes[0] for place in range(len(counts))]
    assert coder(MONTHS)(column).codes.tolist() == single


def test_all_years_that_there_are() -> None:
    assert over("0001-01-01", "9999-01-01", "year").size == 9_998
    with pytest.raises(InputError, match="more than 100,000 steps"):
        over("0001-01-01", "9999-01-01", "month")
