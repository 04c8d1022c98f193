"""Columns of numbers: whole columns are read as single values are, in every declared style."""

import math

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from kinds import STYLED, STYLES

from scumble.engines.number_columns import read_numbers
from scumble.model.notation import PLAIN, NumberNotation
from scumble.model.values import is_missing_number, number_of


@given(
    values=st.lists(st.none() | st.sampled_from(STYLED) | st.text(".,0123 '-", max_size=7), max_size=8),
    numbers=st.sampled_from([PLAIN, *STYLES]),
    missing=st.sampled_from([None, "-999", "7"]),
)
def test_text_is_read_as_single_values_are(
    values: list[str | None], numbers: NumberNotation, missing: str | None
) -> None:
    expected = [None if is_missing_number(value, missing, numbers) else number_of(value, numbers) for value in values]
    for column in (pa.array(values, pa.string()), pa.array(values, pa.large_string()).dictionary_encode()):
        found = [None if math.isnan(number) else number for number in read_numbers(column, missing, numbers).tolist()]
        assert found == expected


def test_a_style_does_not_affect_typed_numbers() -> None:
    german = NumberNotation(decimal=",", thousands=".")
    decimals = pa.array(["1.500", "2.000"]).cast(pa.decimal128(9, 3))
    assert read_numbers(decimals, None, german).tolist() == [1.5, 2.0]
    assert read_numbers(pa.array([1.5, 2.0]), None, german).tolist() == [1.5, 2.0]
