"""Lower bounds on epsilon: the confidence limits, the error rate and the stated power are exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from scumble.auditing.bounds import (
    Confidence,
    epsilon_bounds,
    highest_probability,
    lowest_probability,
    smallest_violation,
)


@given(st.integers(1, 500), st.data(), st.floats(1e-6, 0.2))
def test_limits_are_clopper_and_pearsons(runs: int, data: st.DataObject, alpha: float) -> None:
    hits = data.draw(st.integers(0, runs))
    low = 0.0 if hits == 0 else beta.ppf(alpha, hits, runs - hits + 1)
    high = 1.0 if hits == runs else beta.ppf(1 - alpha, hits + 1, runs - hits)
    assert float(lowest_probability(hits, runs, alpha)) == pytest.approx(low, rel=1e-6, abs=1e-12)
    assert float(highest_probability(hits, runs, alpha)) == pytest.approx(high, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.731, 0.269), (0.02, 0.001), (1.0, 0.4)])
def test_a_bound_exceeds_the_true_epsilon_with_at_most_the_stated_probability(p: float, q: float) -> None:
    """Exactly, by summing the probabilities of all pairs of frequencies."""
    runs, alpha = 60, 0.05
    hits = np.arange(runs + 1)
    here, there = np.meshgrid(hits, hits, indexing="ij")
    bounds = epsilon_bounds(here, there, (runs, runs), alpha)
    probability = binom.pmf(here, runs, p) * binom.pmf(there, runs, q)
    assert probability[bounds > max(math.log(p / q), 0.0)].sum() <= alpha


def test_equal_frequencies_give_no_bound() -> None:
    assert float(epsilon_bounds(0, 0, (100, 100), 0.01)) == 0
    assert float(epsilon_bounds(100, 100, (100, 100), 0.01)) == 0
    assert 2 < float(epsilon_bounds(100, 0, (100, 100), 0.01)) < 4


def test_several_audits_share_one_error_rate() -> None:
    assert Confidence(level=Fraction(99, 100), claims=10).alpha == pytest.approx(0.001)


@pytest.mark.parametrize(("declared", "frequency", "runs"), [(1.0, 0.73, 1_000), (0.1, 0.5, 20_000), (3.0, 0.9, 1_000)])
def test_the_stated_power_is_the_power(declared: float, frequency: float, runs: int) -> None:
    """A violation of the stated size is found with probability 0.99; one that is a tenth smaller, less often."""
    alpha = 0.001
    smallest = smallest_violation(declared=declared, frequency=frequency, runs=runs, alpha=alpha)
    found = found_share(declared, frequency, smallest, runs, alpha)
    assert found == pytest.approx(0.99, abs=0.003)
    assert found_share(declared, frequency, declared + 0.9 * (smallest - declared), runs, alpha) < 0.985


def found_share(declared: float, frequency: float, loss: float, runs: int, alpha: float) -> float:
    """The same by brute force: over every pair of frequencies that is not extremely improbable."""
    other = frequency * math.exp(-loss)
    spans = [
        np.arange(int(binom.ppf(1e-9, runs, each)), int(binom.ppf(1 - 1e-9, runs, each)) + 1)
        for each in (frequency, other)
    ]
    here, there = np.meshgrid(*spans, indexing="ij")
    bounds = epsilon_bounds(here, there, (runs, runs), alpha)
    probability = binom.pmf(here, runs, frequency) * binom.pmf(there, runs, other)
    return float(probability[bounds > declared].sum())


def test_too_few_runs_have_no_power() -> None:
    assert smallest_violation(declared=3, frequency=0.01, runs=100, alpha=0.001) == math.inf
