"""JSON, YAML and numbers from elsewhere: read exactly within the bounds, refused quickly beyond them."""

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hostile_folders import DEEP, alias_bomb
from hypothesis import given
from hypothesis import strategies as st

from scumble.errors import InputError
from scumble.foreign.documents import check_size, parse_json
from scumble.foreign.numbers import parse_decimal, parse_fraction
from scumble.foreign.yaml_text import parse_yaml

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(documents)
def test_documents_are_read_back(document: Any) -> None:
    assert parse_json(json.dumps(document)) == document


@given(st.binary(max_size=60) | st.text('[]{}",:0123456789.eE+-truefalsnNIiy\\u ', max_size=60))
def test_any_bytes_are_a_document_or_a_value_error(text: str | bytes) -> None:
    try:
        parse_json(text)
    except ValueError:
        return


@pytest.mark.parametrize(
    "text", [DEEP, '{"a":' * 5000 + "1" + "}" * 5000, "9" * 5000, "NaN", "-Infinity", "[" * 250 + "]" * 250]
)
def test_json_beyond_the_bounds(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested|levels|limit|is not a number"):
        parse_json(text)


def test_the_number_of_values_is_bounded_after_aliases() -> None:
    check_size([[1, 2], [3]], most=6)
    with pytest.raises(ValueError, match="more than 5 values"):
        check_size([[1, 2], [3]], most=5)


@pytest.mark.parametrize("text", [alias_bomb(), DEEP[:500], "a: " + "x" * 2_000_000, "a\n" * 5_000_000])
def test_yaml_beyond_the_bounds(text: str) -> None:
    with pytest.raises(InputError, match="the file"):
        parse_yaml(text, "the file")


@given(st.text(max_size=80) | st.text("&*a: [],{}\n-|>'\"!%@#?~<=", max_size=80))
def test_any_text_is_yaml_or_an_input_error(text: str) -> None:
    try:
        parse_yaml(text, "the file")
    except InputError:
        return


@given(st.fractions() | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**300), max_value=10**300))
def test_numbers_are_exact(number: Fraction | Decimal) -> None:
    assert parse_fraction(str(number)) == Fraction(number)


@given(st.text("0123456789.eE+-/_ ", max_size=30) | st.text(max_size=30) | documents)
def test_any_value_is_a_bounded_number_or_a_value_error(value: Any) -> None:
    try:
        number = parse_fraction(value)
    except ValueError:
        return
    assert number == 0 or Fraction(1, 10**1001) <= abs(number) < 10**1001


@pytest.mark.parametrize(
    "text", ["1e999999999", "-1e-999999999", "1e99999999999999999999", "9" * 4001, "1/" + "9" * 5000, "1/0", "inf"]
)
def test_numbers_beyond_the_bounds(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|zero"):
        parse_fraction(text)


def test_a_zero_with_an_absurd_exponent_is_zero() -> None:
    assert parse_fraction("0e999999999") == parse_decimal("0e-999999999") == 0
