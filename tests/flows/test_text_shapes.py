"""The shapes of texts that drafts and proposals recognise: what each reads is read by the notation that it proposes."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.flows.text_shapes import (
    DATE_FORMATS,
    NUMBER_NOTATIONS,
    boolean_texts,
    code_shape,
    date_shape,
    look_of,
    number_notation,
)
from scumble.model.dates import DateNotation, DateStep
from scumble.model.prefixes import PrefixNotation
from scumble.model.raw_value import ValueKind

DATES = st.lists(st.dates(date(800, 1, 1), date(2800, 12, 31)), min_size=1, max_size=5)


@given(dates=DATES, form=st.sampled_from(DATE_FORMATS))
def test_dates_in_any_format_are_read_into_their_range(dates: list[date], form: str) -> None:
    written = [_written(day, form) for day in dates]
    shape = date_shape(written)
    assert shape is not None
    assert shape.ambiguous or [shape.first, shape.last] == [min(dates), max(dates)]
    entry = shape.entry
    notation = DateNotation(
        first=date.fromisoformat(entry["from"]),
        end=date.fromisoformat(entry["to"]),
        step=DateStep(entry["step"]),
        format=entry.get("format"),
    )
    places = [notation.place(ValueKind.TEXT, text) for text in written]
    assert all(place is not None and 0 <= place < notation.size for place in places)


def _written(day: date, form: str) -> str:
    """Python's `%Y` has no leading zeros before the year 1000."""
    parts = {"%Y": f"{day.year:04}", "%m": f"{day.month:02}", "%d": f"{day.day:02}", "%-m": str(day.month)}
    parts |= {"%-d": str(day.day), "%H": "09", "%M": "30", "%S": "59"}
    return re.sub("%-?[A-Za-z]", lambda found: parts[found[0]], form)


@given(st.lists(st.from_regex(r"[A-Z]{1,2}[0-9]{2,4}([.-][0-9])?", fullmatch=True), min_size=1))
def test_codes_are_read_by_the_shape_that_is_found(codes: list[str]) -> None:
    shape = code_shape(codes)
    if shape is not None:
        notation = PrefixNotation(levels=shape.levels, pattern=shape.pattern, ignore=shape.ignore)
        assert all(notation.place(ValueKind.TEXT, code) is not None for code in codes)


@given(st.lists(st.sampled_from(["1,234", "1.234", "3,5", "3.5", "1 000", "1.234.567,8", "7", "x"]), min_size=1))
def test_the_notation_that_is_found_reads_every_number(texts: list[str]) -> None:
    found = number_notation(texts)
    readable = [all(each.number(ValueKind.TEXT, text) is not None for text in texts) for each in NUMBER_NOTATIONS]
    assert found == (NUMBER_NOTATIONS[readable.index(True)] if any(readable) else None)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["yes", "No"], (["No"], ["yes"])),
        (["TRUE", "false"], ([], [])),
        (["yes"], None),
        (["yes", "no", "maybe"], None),
        (["yes", "false"], None),
    ],
)
def test_both_truth_values_are_needed(texts: list[str], found: tuple[list[str], list[str]] | None) -> None:
    assert boolean_texts(texts) == found


@pytest.mark.parametrize("texts", [["12-34", "AB-CD"], ["A1", "B2"], ["12345", "ABCDE"], ["Ärger1", "Ärger2"]])
def test_texts_without_one_shape_are_not_codes(texts: list[str]) -> None:
    assert code_shape(texts) is None


def test_free_text_is_called_so() -> None:
    assert look_of(["Ada Lovelace", "Alan Turing"]).startswith("names or free text")
    assert look_of(["Ada Lovelace", "Alan Turing"], only_warn=True) == ""
