"""Hints of a notation read the values that they are made from, and are given for dates and booleans only."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from scumble.flows.notation_hints import notation_hint
from scumble.flows.text_shapes import DATE_FORMATS
from scumble.model.dates import DateNotation, DateStep
from scumble.model.notation import PLAIN, BooleanNotation
from scumble.model.raw_value import ValueKind

DATES = DateNotation(first=date(2000, 1, 1), end=date(2030, 1, 1), step=DateStep.DAY)


@given(
    days=st.lists(st.dates(date(2000, 1, 1), date(2029, 12, 31)), min_size=1),
    form=st.sampled_from([form for form in DATE_FORMATS if "%-" not in form]),
)
def test_a_format_reads_the_dates_that_it_was_guessed_from(days: list[date], form: str) -> None:
    texts = [day.strftime(form) for day in days]
    hint = notation_hint(DATES, [*texts, "unknown"])
    if hint is None:
        assert all(DATES.date_of(text) is not None for text in texts), "only dates that are read anyway need none"
        return
    assert [hint.notation.place(ValueKind.TEXT, text) is not None for text in texts] == [True] * len(texts)
    expected = [DATES.place(ValueKind.TEXT, day.isoformat()) for day in days]
    assert hint.doubt or [hint.notation.place(ValueKind.TEXT, text) for text in texts] == expected


def test_texts_of_booleans_are_added_to_those_of_the_schema() -> None:
    hint = notation_hint(BooleanNotation(false=("0",), true=("1",)), ["Ja", "nein", "perhaps"])
    assert hint is not None
    assert hint.notation == BooleanNotation(false=("0", "nein"), true=("1", "Ja"))
    assert hint.entry == 'boolean: {"false": ["0", "nein"], "true": ["1", "Ja"]}'


def test_other_values_get_no_hint() -> None:
    assert notation_hint(BooleanNotation(), ["ja"]) is None
    assert notation_hint(DATES, ["soon", "27.9.20"]) is None
    assert notation_hint(PLAIN, ["27.09.2020"]) is None
    assert notation_hint(None, ["ja", "nein"]) is None
    assert notation_hint(DATES, []) is None
