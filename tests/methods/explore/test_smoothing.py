"""Smoothing of noisy counts of neighbouring ranges."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.methods.explore.smoothing import PENALTIES, smoothed
from scumble.model.counts import Floats
from scumble.privacy.noise import simulation


def readable_twin(counts: Floats, variance: float) -> Floats:
    """Every division into runs and every smooth curve, one after the other."""
    size = len(counts)
    found, weights = [], []
    for number in range(size):
        for cuts in combinations(range(1, size), number):
            version = np.concatenate([np.full(len(run), run.mean()) for run in np.split(counts, cuts)])
            found.append(version)
            runs = number + 1
            weights.append(
                -((counts - version) @ (counts - version)) / variance / 4 - runs / 2 - runs * np.log(size) / 2
            )
    differences = np.diff(np.eye(size), 2, axis=0)
    for penalty in PENALTIES:
        smoother = np.linalg.inv(np.eye(size) + penalty * differences.T @ differences)
        found.append(smoother @ counts)
        residual = counts - found[-1]
        weights.append(-(residual @ residual) / variance / 4 - np.trace(smoother) / 2 - np.log(len(PENALTIES)))
    shares = np.exp(np.array(weights) - max(weights))
    return np.asarray(shares @ np.array(found) / shares.sum())


@given(
    counts=st.lists(st.integers(-50, 200), min_size=1, max_size=7),
    variance=st.floats(1.0, 1e4),
)
def test_the_mean_over_all_divisions_and_curves_is_exact(counts: list[int], variance: float) -> None:
    found = smoothed(np.array(counts, dtype=float), variance)
    np.testing.assert_allclose(found, readable_twin(np.array(counts, dtype=float), variance), atol=1e-6)


def test_counts_without_noise_stay() -> None:
    counts = np.array([5.0, 900.0, 0.0, 3.0, 40.0, 7.0, 0.0, 1.0])
    np.testing.assert_allclose(smoothed(counts, 1e-9), counts, atol=1e-3)


@pytest.mark.parametrize(
    ("true", "at_most"),
    [
        (1000 * np.exp(-((np.arange(20) - 9.5) ** 2) / 30), 0.65),
        (np.where(np.arange(20) == 3, 9000.0, 20.0), 0.5),
        (np.linspace(400, 20, 20), 0.65),
        (np.where(np.arange(20) % 2 == 0, 5000.0, 0.0), 1.05),
    ],
    ids=["a bell", "a peak", "a slope", "nothing to smooth"],
)
def test_it_removes_noise_and_little_else(true: Floats, at_most: float) -> None:
    draw = simulation(11)
    noisy = [true + draw.normal(0, 60, 20) for _ in range(100)]
    before = np.mean([np.abs(each - true).sum() for each in noisy])
    after = np.mean([np.abs(smoothed(each, 3600.0) - true).sum() for each in noisy])
    assert after < at_most * before
