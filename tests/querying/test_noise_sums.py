"""Sums of noise: the half width is the smallest one that covers 95 %, by a convolution written out."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.model.measured_tables import NoiseKind
from scumble.privacy.noise import laplace_variance
from scumble.querying.noise_sums import (
    CONFIDENCE,
    cornish_fisher,
    excess_kurtosis,
    gaussian_parameter,
    half_width,
    laplace_ratio,
)

REACH = 400


def one(kind: NoiseKind, variance: float) -> np.ndarray:
    """The probabilities of -REACH .. REACH."""
    places = np.arange(-REACH, REACH + 1)
    if kind is NoiseKind.LAPLACE:
        weights = laplace_ratio(variance) ** np.abs(places)
    else:
        weights = np.exp(-(places**2) / (2 * gaussian_parameter(variance)))
    return np.asarray(weights / weights.sum())


def written_out(kind: NoiseKind, variance: float, terms: int) -> int:
    """The twin: the probabilities of a sum by repeated convolution, and the smallest width that covers enough."""
    single = total = one(kind, variance)
    for _ in range(terms - 1):
        total = np.convolve(total, single)
    middle = len(total) // 2
    return next(h for h in range(middle) if total[middle - h : middle + h + 1].sum() >= CONFIDENCE - 1e-9)


@settings(max_examples=60)
@given(kind=st.sampled_from(NoiseKind), variance=st.floats(0.05, 80), terms=st.integers(1, 6))
def test_the_half_width_is_the_smallest_that_covers_enough(kind: NoiseKind, variance: float, terms: int) -> None:
    assert half_width(kind, variance, terms) == written_out(kind, variance, terms)


@given(scale=st.fractions(Fraction(1, 20), 1000), epsilon=st.just(Fraction(1)))
def test_the_ratio_follows_from_the_variance_that_releases_state(scale: Fraction, epsilon: Fraction) -> None:
    variance = laplace_variance(sensitivity=1, epsilon=epsilon / scale)
    assert laplace_ratio(variance) == pytest.approx(math.exp(-1 / float(scale)), rel=1e-6)


@pytest.mark.parametrize("kind", NoiseKind)
def test_variance_and_kurtosis_are_those_of_the_noise(kind: NoiseKind) -> None:
    for variance in (0.5, 2.0, 30.0):
        places, probabilities = np.arange(-REACH, REACH + 1), one(kind, variance)
        assert float(probabilities @ places**2) == pytest.approx(variance, rel=1e-6)
        if kind is NoiseKind.LAPLACE:
            fourth = float(probabilities @ places.astype(float) ** 4)
            assert fourth / variance**2 - 3 == pytest.approx(excess_kurtosis(kind, variance), rel=1e-6)


@pytest.mark.parametrize("terms", [2, 3, 10, 100])
def test_large_noise_is_covered_by_the_expansion(terms: int) -> None:
    """Convolved at a scale where both are possible, the expansion is right to one per cent and never too narrow."""
    variance = 300.0**2 / terms
    exact = half_width(NoiseKind.LAPLACE, variance, terms)
    expanded = math.sqrt(terms * variance) * cornish_fisher(excess_kurtosis(NoiseKind.LAPLACE, variance) / terms)
    assert exact - 1 <= expanded <= 1.01 * exact


def test_no_noise_has_no_width() -> None:
    assert half_width(NoiseKind.LAPLACE, 0.0, 5) == 0
