"""The conversion between rho and (epsilon, delta) is safe, checked against the exact delta of Gaussian noise."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from scumble.model.zcdp import epsilon_within, rho_bound, rho_within

EPSILONS = st.fractions(min_value=Fraction(1, 10**6), max_value=1000, max_denominator=10**6)
POWERS = st.integers(3, 30)


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The exact delta of continuous Gaussian noise with this rho (Balle & Wang 2018)."""
    mean = math.sqrt(2 * rho)
    upper, lower = log_ndtr(mean / 2 - epsilon / mean), epsilon + log_ndtr(-mean / 2 - epsilon / mean)
    return float(math.exp(upper) * -math.expm1(min(0.0, lower - upper)))


def log_delta(rho: Decimal, epsilon: Decimal, excess: Decimal) -> Decimal:
    """The logarithm of the delta of the conversion at order 1 + excess, straight from the formula."""
    order = 1 + excess
    return excess * (order * rho - epsilon) - excess.ln() + order * (1 - 1 / order).ln()


@settings(max_examples=50)
@given(epsilon=EPSILONS, power=POWERS)
def test_every_rho_is_certified_by_one_order_of_the_conversion(epsilon: Fraction, power: int) -> None:
    rho = rho_within(epsilon, Fraction(1, 10**power))
    assert rho > 0
    with localcontext() as context:
        context.prec = 60
        exact = [Decimal(number.numerator) / number.denominator for number in (rho, epsilon)]
        best, smallest = Decimal(1), Decimal("Infinity")
        for step in (Decimal("0.2"), Decimal("0.004")):
            orders = [best * Decimal(10) ** (place * step) for place in range(-60, 61)]
            smallest, best = min((log_delta(*exact, excess), excess) for excess in orders)
        assert smallest <= -power * Decimal(10).ln() + Decimal("0.01")


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "1", "3", "10"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-5", "1e-9", "1e-12"])
def test_the_gaussian_mechanism_keeps_the_promise_and_not_much_is_wasted(epsilon: str, delta: str) -> None:
    rho = float(rho_within(Fraction(epsilon), Fraction(delta)))
    assert gaussian_delta(rho, float(epsilon)) <= float(delta)
    assert gaussian_delta(1.7 * rho, float(epsilon)) > float(delta), "the conversion would waste much of rho"


def discrete_delta(square: float, shift: int, epsilon: float) -> float:
    """The exact delta of the discrete Gaussian mechanism, by adding up all outcomes."""
    reach = int(40 * math.sqrt(square)) + shift + 10
    weights = {value: math.exp(-(value**2) / (2 * square)) for value in range(-reach - shift, reach + 1)}
    total = math.fsum(weights.values())
    here = (weights[value] / total for value in range(-reach, reach + 1))
    there = (weights[value - shift] / total for value in range(-reach, reach + 1))
    return math.fsum(max(0.0, one - math.exp(epsilon) * other) for one, other in zip(here, there, strict=True))


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-3"), ("1", "1e-5"), ("3", "1e-5"), ("3", "1e-9")])
@pytest.mark.parametrize("shift", [1, 3])
def test_discrete_gaussian_noise_keeps_the_promise(epsilon: str, delta: str, shift: int) -> None:
    rho = float(rho_within(Fraction(epsilon), Fraction(delta)))
    assert discrete_delta(shift**2 / (2 * rho), shift, float(epsilon)) <= float(delta)
    assert discrete_delta(0.6 * shift**2 / (2 * rho), shift, float(epsilon)) > float(delta), "a planted bug would pass"


@given(epsilon=EPSILONS, power=POWERS)
def test_rho_grows_with_epsilon_and_with_delta(epsilon: Fraction, power: int) -> None:
    delta = Fraction(1, 10**power)
    assert rho_within(epsilon, delta) <= rho_within(epsilon * Fraction(11, 10), delta)
    assert rho_within(epsilon, delta / 2) <= rho_within(epsilon, delta)


@given(epsilon=EPSILONS, power=POWERS, excess=st.fractions(min_value=Fraction(1, 100), max_value=100))
def test_the_search_finds_the_best_order(epsilon: Fraction, power: int, excess: Fraction) -> None:
    delta = Fraction(1, 10**power)
    assert rho_bound(excess, epsilon, delta) <= rho_within(epsilon, delta) * (1 + Fraction(1, 10**9))


def test_the_tight_conversion_beats_the_usual_one() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        for delta in (1e-9, 1e-5):
            usual = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
            assert float(rho_within(Fraction(str(epsilon)), Fraction(str(delta)))) > 1.15 * usual


def test_the_result_does_not_depend_on_the_callers_decimal_context() -> None:
    expected = rho_within(Fraction(7, 5), Fraction(1, 10**8))
    rho_within.cache_clear()
    with localcontext() as context:
        context.prec = 3
        assert Decimal(1) / 3 == Decimal("0.333")
        assert rho_within(Fraction(7, 5), Fraction(1, 10**8)) == expected


@settings(max_examples=15)
@given(power=st.integers(5, 12), epsilon=st.fractions(min_value=Fraction(1, 100), max_value=10, max_denominator=1000))
def test_the_epsilon_of_a_rho_is_safe_and_close(power: int, epsilon: Fraction) -> None:
    delta = Fraction(1, 10**power)
    rho = rho_within(epsilon, delta) / 9
    row = epsilon_within(rho, delta)
    assert rho_within(row, delta) <= rho < rho_within(row * (1 + Fraction(1, 10**7)), delta)
