"""The noise is what it claims to be: neither less nor more, and each selection follows its own law.

Error rates: a true law is rejected once in a million runs; the alternatives below are missed less often than that
(their chi-square non-centrality is above 500 with at most 60 degrees of freedom).
"""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from chi_square import chi_square_rejects
from hypothesis import given
from hypothesis import strategies as st
from selection_laws import exponential_law, permute_and_flip_law

from scumble.privacy import measurements
from scumble.privacy.noise import PaidNoise, Selection, laplace_scale, laplace_variance, selection_scale, simulation

DRAWS = 60_000


def laplace_law(scale: float) -> dict[int, float]:
    decay = math.exp(-1 / scale)
    reach = int(30 * scale)
    return {value: (1 - decay) / (1 + decay) * decay ** abs(value) for value in range(-reach, reach + 1)}


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_laplace_noise_fits_its_law_and_no_other(epsilon: str) -> None:
    scale = float(laplace_scale(sensitivity=1, epsilon=Fraction(epsilon)))
    drawn = PaidNoise().laplace(np.full(DRAWS, 7), sensitivity=1, epsilon=Fraction(epsilon)) - 7
    seen = Counter(int(value) for value in drawn)
    assert not chi_square_rejects(seen, laplace_law(scale))
    assert chi_square_rejects(seen, laplace_law(0.7 * scale)), "30 % more noise than planned would pass"
    assert chi_square_rejects(seen, laplace_law(1.3 * scale)), "30 % less noise than planned would pass"


def test_laplace_variance_is_the_variance_of_the_law() -> None:
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(3)):
        law = laplace_law(float(1 / epsilon))
        expected = sum(probability * value**2 for value, probability in law.items())
        assert laplace_variance(sensitivity=1, epsilon=epsilon) == pytest.approx(expected, rel=1e-9)


SCORES = [0, 3, 5, 6, 6]
EPSILON = Fraction(1)


def select_often(*, monotone: bool, selection: Selection, runs: int) -> Counter[int]:
    noise, scores = PaidNoise(), np.array(SCORES, dtype=np.int64)
    return Counter(
        noise.select(scores, sensitivity=1, monotone=monotone, epsilon=EPSILON, selection=selection)
        for _ in range(runs)
    )


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("selection", list(Selection))
def test_selection_follows_its_own_law_and_not_the_other(selection: Selection, monotone: bool) -> None:
    scale = float(selection_scale(sensitivity=1, monotone=monotone, epsilon=EPSILON))
    laws = {Selection.EXPONENTIAL: exponential_law, Selection.PERMUTE_AND_FLIP: permute_and_flip_law}
    (other,) = set(laws) - {selection}
    seen = select_often(monotone=monotone, selection=selection, runs=30_000)
    assert not chi_square_rejects(seen, dict(enumerate(laws[selection](SCORES, scale))))
    assert chi_square_rejects(seen, dict(enumerate(laws[other](SCORES, scale))))
    assert chi_square_rejects(seen, dict(enumerate(laws[selection](SCORES, 0.7 * scale))))
    assert chi_square_rejects(seen, dict(enumerate(laws[selection](SCORES, 1.3 * scale))))


@given(scores=st.lists(st.integers(0, 12), min_size=1, max_size=6), scale=st.floats(0.3, 20))
def test_both_laws_are_laws(scores: list[int], scale: float) -> None:
    for law in (exponential_law(scores, scale), permute_and_flip_law(scores, scale)):
        assert sum(law) == pytest.approx(1)
        assert min(law) >= 0


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**6),
    sensitivity=st.integers(1, 2**33),
    monotone=st.booleans(),
    selection=st.sampled_from(Selection),
)
def test_no_scale_is_rounded_below_its_budget(
    epsilon: Fraction, sensitivity: int, monotone: bool, selection: Selection
) -> None:
    laplace = measurements.laplace(sensitivity, epsilon)
    assert Fraction(laplace.map(sensitivity)) <= epsilon
    measurement = measurements.selection(sensitivity, monotone, epsilon, selection)
    bound = Fraction(measurement.map(sensitivity))
    assert bound <= (epsilon if selection is Selection.PERMUTE_AND_FLIP else epsilon**2 / 8)


def test_a_float_scale_alone_would_overspend() -> None:
    """Why `measurements._within` looks for the scale: 1/eps as a float is often an ulp too small."""
    overspent = 0
    for denominator in range(1, 400):
        epsilon = Fraction(denominator, 7)
        plain = float(1 / epsilon)
        overspent += Fraction(1) / Fraction(plain) > epsilon
    assert overspent > 50


def test_paid_noise_cannot_be_seeded() -> None:
    draws = {
        tuple(PaidNoise().laplace(np.zeros(40, dtype=np.int64), sensitivity=1, epsilon=Fraction(1, 10)))
        for _ in range(3)
    }
    assert len(draws) == 3


def test_simulation_can_be_seeded() -> None:
    assert simulation(5).integers(10**9) == simulation(5).integers(10**9)
