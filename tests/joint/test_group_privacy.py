"""The delta of all rows of a person: an upper bound of what group privacy gives, and not a wasteful one."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.joint.group_privacy import delta_factor, power_upper_bound
from scumble.joint.protocol.geometric_noise import GeometricLaw, exponential_upper_bound, law_with_precision
from scumble.model.persons import Persons

DIGITS = 60


def persons(rows: int) -> Persons:
    return Persons(column="id", rows_each_at_most=rows)


def exact_sum(epsilon: Fraction, rows: int) -> Decimal:
    """1 + e^e + ... + e^((rows - 1) e) with e = epsilon / rows, to many digits."""
    with localcontext() as context:
        context.prec = DIGITS
        one = Decimal(epsilon.numerator) / Decimal(epsilon.denominator) / rows
        return sum(((one * row).exp() for row in range(rows)), Decimal(0))


@given(st.fractions(Fraction(1, 1000), 30, max_denominator=1000), st.integers(1, 40))
def test_the_factor_bounds_the_sum_from_above(epsilon: Fraction, rows: int) -> None:
    factor, exact = delta_factor(epsilon, persons(rows)), exact_sum(epsilon, rows)
    assert factor >= exact
    assert factor <= float(exact) * math.exp(epsilon / rows) * 1.001 + 1


def test_one_row_has_the_delta_of_one_row() -> None:
    assert delta_factor(Fraction(5), None) == delta_factor(Fraction(5), persons(1)) == 1
    assert delta_factor(Fraction(1, 10**9), persons(10**9)) == 10**9 + 1, "no loop over the rows"


@given(st.fractions(Fraction(1, 10**6), 1000, max_denominator=10**6))
def test_the_power_is_a_close_upper_bound(exponent: Fraction) -> None:
    with localcontext() as context:
        context.prec = DIGITS
        exact = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
    relative = power_upper_bound(exponent) / Fraction(exact) - 1
    assert -Fraction(1, 10 ** (DIGITS - 5)) < relative < Fraction(1, 10**30)


def divergence(law: GeometricLaw, shift: int, factor: Fraction) -> Fraction:
    """The largest Pr[X in S] - factor * Pr[X + shift in S], where X is the difference of two noise values."""
    masses: dict[int, Fraction] = {}
    single = [Fraction(1)]
    for p in law.probabilities:
        single = [mass * (1 - p) for mass in single] + [mass * p for mass in single]
    for (more, p), (less, q) in product(enumerate(single), repeat=2):
        masses[more - less] = masses.get(more - less, Fraction(0)) + p * q
    return sum((max(mass - factor * masses.get(x - shift, 0), Fraction(0)) for x, mass in masses.items()), Fraction(0))


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1), Fraction(5, 3)])
def test_noise_at_low_precision_stays_within_the_delta_of_a_person(rate: Fraction, rows: int) -> None:
    """A count with noise whose largest value is likely enough to matter: one row costs (rate, last) by Lemma 3."""
    law = law_with_precision(rate, 6)
    epsilon = rows * rate
    e_to_the_epsilon = 1 / exponential_upper_bound(rate) ** rows  # at most e^epsilon, so the test is stricter
    found = divergence(law, rows, e_to_the_epsilon)
    assert 0 < found <= law.last * delta_factor(epsilon, persons(rows))
