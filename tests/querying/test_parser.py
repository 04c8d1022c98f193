"""Conditions: what is written is what is read, and every other text is an error that points at the place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from questions import expressions, small_schemas
from strategies import column_names, labels

from scumble.errors import InputError
from scumble.model.schema import Schema
from scumble.querying.expressions import (
    COMPARISONS,
    EVERYTHING,
    NUMBER,
    Between,
    Both,
    Compared,
    Either,
    Expression,
    Literal,
    Membership,
    Missing,
    Not,
    expression_text,
)
from scumble.querying.parser import DEEPEST, ExpressionError, parse

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["+5", "-.5", "5.", "1e3", "-1E-7", "007"]),
).filter(NUMBER.fullmatch)
VALUES = st.builds(Literal, text=labels()) | st.builds(Literal, text=NUMBERS, number=st.just(True))
NAMES = column_names() | st.sampled_from(["and", "Missing", "in", "hours-per-week", "a`b", 'a"b', "x.y", "1st", ""])
CONDITIONS = st.one_of(
    st.builds(
        Compared,
        attribute=NAMES,
        operator=st.sampled_from([each for each in COMPARISONS if each != "<>"]),
        value=VALUES,
    ),
    st.builds(Membership, attribute=NAMES, values=st.lists(VALUES, min_size=1, max_size=4).map(tuple)),
    st.builds(Between, attribute=NAMES, low=VALUES, high=VALUES),
    st.builds(Missing, attribute=NAMES),
)
EXPRESSIONS = st.recursive(
    CONDITIONS,
    lambda parts: st.one_of(
        st.builds(Not, part=parts),
        st.builds(Both, parts=st.lists(parts, min_size=2, max_size=3).map(tuple)),
        st.builds(Either, parts=st.lists(parts, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@settings(max_examples=400)
@given(expression=EXPRESSIONS)
def test_the_text_of_a_condition_is_read_as_the_same_condition(expression: Expression) -> None:
    assert parse(expression_text(expression)) == expression


@settings(max_examples=50)
@given(data=st.data(), schema=small_schemas())
def test_conditions_on_a_schema_are_read_back(data: st.DataObject, schema: Schema) -> None:
    expression = data.draw(expressions(schema))
    assert parse(expression_text(expression)) == expression


WORDS = st.sampled_from(
    [*"()',`\"<>=!+-.*\n\t ", "and", "or", "not", "in", "between", "is", "missing", "age", "'x'", "40", "2024-01-31"]
)


@settings(max_examples=400)
@given(
    text=st.text(max_size=40) | st.lists(WORDS, max_size=25).map(" ".join) | st.lists(WORDS, max_size=25).map("".join)
)
def test_any_text_is_a_condition_or_an_input_error(text: str) -> None:
    found: Expression | None
    try:
        found = parse(text)
    except ExpressionError as error:
        found, start = None, error.span.start
    else:
        start = 0
    assert 0 <= start <= len(text)
    assert found is None or parse(expression_text(found)) == found


@pytest.mark.parametrize(
    "text", ["(" * 5000, "not " * 5000 + "a = 1", "(" * (DEEPEST + 1) + "a = 1" + ")" * (DEEPEST + 1)]
)
def test_deep_nesting_is_an_input_error(text: str) -> None:
    with pytest.raises(ExpressionError, match="nested deeper"):
        parse(text)


def test_a_very_long_text_is_an_input_error() -> None:
    with pytest.raises(InputError, match="Ask a shorter question"):
        parse("a = 1 or " * 20_000)


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_an_empty_text_means_every_record(text: str) -> None:
    assert parse(text) == EVERYTHING


def test_precedence_quotes_and_spellings() -> None:
    first = Compared(attribute="a", operator="=", value=Literal(text="1", number=True))
    second = Compared(attribute="b c", operator="!=", value=Literal(text="it's"))
    third = Missing(attribute="d")
    assert parse("a = 1 or \"b c\" <> 'it''s' AND not d IS missing") == Either(
        parts=(first, Both(parts=(second, Not(part=third))))
    )
    assert parse("a=1 or `b c`!='it''s'and d is not missing") == parse(
        "a = 1 or (`b c` != 'it''s' and not d is missing)"
    )
    assert parse("x not in (1, -2.5, red)") == Not(
        part=Membership(
            attribute="x",
            values=(Literal(text="1", number=True), Literal(text="-2.5", number=True), Literal(text="red")),
        )
    )
    assert parse("day between 2024-01-31 and 2024-Q2") == Between(
        attribute="day", low=Literal(text="2024-01-31"), high=Literal(text="2024-Q2")
    )
    assert parse("hours-per-week<-5") == Compared(
        attribute="hours-per-week", operator="<", value=Literal(text="-5", number=True)
    )


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("age <", 5, "A value is missing here"),
        ("age < 40 and", 12, "begins with the name"),
        ("age ? 40", 4, "cannot stand here"),
        ("'age' = 40", 0, "is a value"),
        ('age = "old"', 6, "is a name"),
        ("age 40", 4, "comes a comparison"),
        ("age = 40 sex = 'Male'", 9, "cannot follow a complete condition"),
        ("(age = 40", 9, "Write `)` here"),
        ("age in 40", 7, "Write `(` here"),
        ("age between 1 or 2", 14, "Write `and` here"),
        ("age is old", 7, "Write `missing` here"),
        ("job = 'Writer", 6, "not closed"),
        ("two words = 1", 4, "Names with spaces"),
    ],
)
def test_an_error_points_at_its_place(text: str, place: int, problem: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert problem in caught.value.problem
    assert caught.value.span.start == place
    lines = str(caught.value).split("\n")
    assert lines[1] == f"  {text}"
    assert lines[2].index("^") == place + 2


def test_an_error_shows_only_its_line_and_part_of_a_long_one() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("age = 40\nand sex ? 1")
    assert str(caught.value).split("\n")[1:] == ["  and sex ? 1", "          ^"]
    with pytest.raises(ExpressionError) as caught:
        parse("a = 1 or " * 100 + "?")
    shown, caret = str(caught.value).split("\n")[1:]
    assert len(shown) <= 102
    assert shown[caret.index("^")] == "?"
