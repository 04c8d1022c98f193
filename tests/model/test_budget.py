"""Budgets are exact: what is read is what was written, and absurd numbers are refused at once."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.errors import InputError
from scumble.model.budget import LARGEST, SMALLEST, budget_text, parse_budget


@given(st.fractions(min_value=SMALLEST, max_value=LARGEST))
def test_a_budget_survives_being_written(budget: Fraction) -> None:
    assert parse_budget(budget_text(budget)) == budget


@given(st.decimals(min_value="0.000001", max_value=1000, places=6))
def test_decimals_are_written_as_decimals(number: Decimal) -> None:
    text = budget_text(Fraction(number))
    assert "/" not in text
    assert Decimal(text) == number


@pytest.mark.parametrize(
    ("value", "budget"),
    [
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (" 1e-3 ", Fraction(1, 1000)),
        ("1/3", Fraction(1, 3)),
        (2, Fraction(2)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(1, 7), Fraction(1, 7)),
    ],
)
def test_every_kind_of_number_is_read_exactly(value: object, budget: Fraction) -> None:
    assert parse_budget(value) == budget


@pytest.mark.parametrize("value", [True, None, "", "much", "1/0", "nan", "inf", float("nan"), [1], "0x10", 1j])
def test_what_is_not_a_finite_number_is_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"not a (finite )?number"):
        parse_budget(value)


@pytest.mark.parametrize("value", [0, -1, "-1/2", 1001, "1e999999999", "-1e999999999", "1e-10", "1e-999999999"])
def test_numbers_out_of_range_are_refused_quickly(value: object) -> None:
    with pytest.raises(InputError, match=r"^share of rounds is"):
        parse_budget(value, name="share of rounds")


def test_the_ends_of_the_range_are_budgets() -> None:
    assert parse_budget(1000) == LARGEST
    assert parse_budget("1e-9") == SMALLEST


@pytest.mark.parametrize(
    ("budget", "text"),
    [(Fraction(-1, 4), "-0.25"), (Fraction(1, 2**20), "1/1048576"), (Fraction(0), "0"), (Fraction(7, 5), "1.4")],
)
def test_text_of_a_budget(budget: Fraction, text: str) -> None:
    assert budget_text(budget) == text
