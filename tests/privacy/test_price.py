"""What a price buys: the noise, its variance and the mechanism of a choice, under epsilon and under rho."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from chi_square import chi_square_rejects
from hypothesis import given
from hypothesis import strategies as st

from scumble.auditing.exact import selection_law
from scumble.errors import BudgetError
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.privacy import measurements
from scumble.privacy.noise import PaidNoise, Selection, gaussian_variance
from scumble.privacy.price import Price
from scumble.privacy.query import Sensitivity

DRAWS = 30_000
RHOS = st.fractions(min_value=Fraction(1, 10**9), max_value=100, max_denominator=10**12)


def gaussian_law(square: float) -> dict[int, float]:
    reach = int(12 * math.sqrt(square)) + 3
    weights = {value: math.exp(-(value**2) / (2 * square)) for value in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


@pytest.mark.parametrize(("squared", "rho"), [(1, "1"), (1, "0.05"), (3, "0.1")])
def test_gaussian_noise_fits_its_law_and_no_other(squared: int, rho: str) -> None:
    square = squared / (2 * float(rho))
    drawn = PaidNoise().gaussian(np.full(DRAWS, 7), squared=squared, rho=Fraction(rho)) - 7
    seen = Counter(int(value) for value in drawn)
    assert not chi_square_rejects(seen, gaussian_law(square))
    assert chi_square_rejects(seen, gaussian_law(0.7 * square)), "more noise than planned would pass"
    assert chi_square_rejects(seen, gaussian_law(1.3 * square)), "less noise than planned would pass"


@pytest.mark.parametrize("square", ["0.01", "0.5", "5", "99", "101"])
def test_the_variance_is_that_of_the_law(square: str) -> None:
    expected = sum(probability * value**2 for value, probability in gaussian_law(float(square)).items())
    assert gaussian_variance(squared=1, rho=1 / (2 * Fraction(square))) == pytest.approx(expected, rel=1e-9)


@given(squared=st.integers(0, 2**60), rho=RHOS)
def test_no_gaussian_scale_is_rounded_below_its_budget(squared: int, rho: Fraction) -> None:
    scale = Fraction(measurements._root_above(squared / (2 * rho)))
    assert squared <= 2 * rho * scale**2
    smaller = Fraction(math.nextafter(float(scale), 0))
    assert not scale or squared > 2 * rho * smaller**2, "a smaller scale would do"


def test_a_scale_beyond_64_bits_is_refused() -> None:
    with pytest.raises(BudgetError, match="leaves no information"):
        PaidNoise().gaussian(np.zeros(1, dtype=np.int64), squared=1, rho=Fraction(1, 2**121))


def renyi(first: list[float], second: list[float], order: float) -> float:
    terms = (order * math.log(p) + (1 - order) * math.log(q) for p, q in zip(first, second, strict=True))
    return math.log(math.fsum(math.exp(term) for term in terms)) / (order - 1)


@given(
    scores=st.lists(st.integers(0, 6), min_size=2, max_size=5),
    data=st.data(),
    rho=st.sampled_from([Fraction(1, 100), Fraction(1, 8), Fraction(1, 2)]),
    monotone=st.booleans(),
    selection=st.sampled_from(Selection),
    order=st.sampled_from([1.01, 1.5, 2.0, 8.0, 40.0]),
)
def test_a_choice_costs_at_most_its_rho(
    scores: list[int], data: st.DataObject, rho: Fraction, monotone: bool, selection: Selection, order: float
) -> None:
    """The Renyi divergence of the exact laws, for neighbouring scores, is at most rho times the order."""
    change = st.integers(0 if monotone else -1, 1)
    others = [score + data.draw(change) for score in scores]
    price = Price(label="choice", unit=Unit.ADD_REMOVE, rho=rho)
    scale = float(price.selection_scale(Sensitivity(bound=1, monotone=monotone), selection))
    first, second = (selection_law(each, scale, selection) for each in (scores, others))
    assert renyi(first, second, order) <= float(rho) * order * (1 + 1e-9) + 1e-12
    assert renyi(second, first, order) <= float(rho) * order * (1 + 1e-9) + 1e-12


@given(rho=RHOS, selection=st.sampled_from(Selection))
def test_the_epsilon_of_a_choice_is_rounded_down(rho: Fraction, selection: Selection) -> None:
    factor = 8 if selection is Selection.EXPONENTIAL else 2
    epsilon = Price(label="choice", unit=Unit.ADD_REMOVE, rho=rho).selection_epsilon(selection)
    assert epsilon**2 <= factor * rho < (epsilon + Fraction(1, 2**120)) ** 2


def test_epsilon_buys_permute_and_flip_and_rho_the_exponential_mechanism() -> None:
    pure = Price.of(Spend(label="choice", epsilon=Fraction(1, 2)), Unit.REPLACE)
    concentrated = Price.of(Spend(label="choice", rho=Fraction(1, 2), shared=True), Unit.REPLACE)
    assert (pure.selection, pure.selection_epsilon(pure.selection)) == (Selection.PERMUTE_AND_FLIP, Fraction(1, 2))
    assert (concentrated.selection, concentrated.unit) == (Selection.EXPONENTIAL, Unit.ADD_REMOVE)
    assert concentrated.selection_epsilon(concentrated.selection) == 2
    assert concentrated.selection_scale(Sensitivity(bound=3, monotone=True)) == Fraction(3, 2)


def test_the_noise_of_a_price_follows_the_norm_of_its_mechanism() -> None:
    sensitivity = Sensitivity(bound=16, squared=16)
    pure = Price(label="tables", unit=Unit.ADD_REMOVE, epsilon=Fraction(1))
    concentrated = Price(label="tables", unit=Unit.ADD_REMOVE, rho=Fraction(1, 200))
    assert pure.variance(sensitivity) == pytest.approx(2 * 16**2, rel=1e-2)
    assert concentrated.variance(sensitivity) == pytest.approx(16 * 100)
    assert concentrated.variance(Sensitivity(bound=16)) == pytest.approx(256 * 100), "L2 is at most L1"
