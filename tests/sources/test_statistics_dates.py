"""Formats of dates, times and timestamps, as statistics programs name them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.model.raw_value import ValueKind, canonical
from scumble.sources.object_column import OFF_DOMAIN
from scumble.sources.statistics_dates import date_reader

DAY = 24 * 60 * 60


@pytest.mark.parametrize(
    ("ending", "declared", "number", "text"),
    [
        (".dta", "%td", 0, "1960-01-01"),
        (".dta", "%tdCCYY.NN.DD", -1, "1959-12-31"),
        (".dta", "%d", 1, "1960-01-02"),
        (".dta", "%-tc", 500, "1960-01-01T00:00:00.5"),
        (".sav", "EDATE10", DAY, "1582-10-15"),
        (".zsav", "DATETIME23.2", 0.5, "1582-10-14T00:00:00.5"),
        (".sav", "TIME8", 34200, "09:30:00"),
        (".sas7bdat", "DATE9", 0, "1960-01-01"),
        (".sas7bdat", "YYMMDDN8.", 0.9, "1960-01-01"),
        (".xpt", "E8601DT19.", 1, "1960-01-01T00:00:01"),
        (".xpt", "TIME8.", 86399, "23:59:59"),
    ],
)
def test_declared_formats(ending: str, declared: str, number: float, text: str) -> None:
    read = date_reader(ending, declared)
    assert read is not None and read(number) == text


@pytest.mark.parametrize(
    ("ending", "declared"),
    [
        (".dta", "%9.0g"),
        (".dta", "%tm"),
        (".dta", "%tC"),
        (".sav", "F8.2"),
        (".sav", "DOLLAR10"),
        (".xpt", ""),
        (".xpt", "$8."),
    ],
)
def test_other_formats_are_numbers(ending: str, declared: str) -> None:
    assert date_reader(ending, declared) is None


@given(
    declared=st.sampled_from(
        [(".dta", "%td"), (".dta", "%tc"), (".sav", "DATE"), (".sav", "TIME"), (".xpt", "DATETIME")]
    ),
    number=st.floats() | st.sampled_from([1e15, math.nextafter(1e15, 0), -1e15, math.nan, math.inf]),
)
def test_every_number_is_a_text_or_off_the_domain(declared: tuple[str, str], number: float) -> None:
    read = date_reader(*declared)
    assert read is not None
    value = read(number)
    assert value is OFF_DOMAIN or canonical(value)[0] is ValueKind.TEXT
