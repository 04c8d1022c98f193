"""Uniqueness in the population: exact sums, simulated populations, and the likelihood by its definition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, xlog1py

from scumble.mining.risk.population import (
    mean_inverse_sizes,
    pitman_log_likelihood,
    pitman_parameters,
    pitman_uniques,
    population_uniqueness,
    zayatz_uniques,
)
from scumble.model.counts import Integers
from scumble.privacy.noise import simulation


@pytest.mark.parametrize("share", [0.001, 0.05, 0.3, 0.49, 0.5, 0.9, 1.0])
def test_the_mean_of_inverse_sizes_is_the_sum_over_all_sizes(share: float) -> None:
    """The negative binomial distribution, term by term."""
    sizes = np.array([1, 2, 3, 10, 40])
    population = round(int(sizes.sum()) / share)
    p = int(sizes.sum()) / population
    expected = []
    for f in sizes.tolist():
        size = np.arange(f, int(60 * f / p) + 200)
        logs = gammaln(size) - gammaln(f) - gammaln(size - f + 1) + f * math.log(p) + xlog1py(size - f, -p)
        expected.append(float((np.exp(logs) / size).sum()))
    np.testing.assert_allclose(mean_inverse_sizes(sizes, population), expected, rtol=1e-6)


def test_the_limit_for_large_groups_is_continuous() -> None:
    sizes = np.array([9_999, 10_000, 10_001, 50_000])
    risks = mean_inverse_sizes(sizes, 10 * int(sizes.sum()))
    np.testing.assert_allclose(risks, 0.1 / sizes, rtol=2e-4)


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8).map(lambda sizes: np.array(sizes, dtype=np.int64)),
    theta=st.floats(0.1, 50),
    alpha=st.floats(0.01, 0.95),
)
@settings(max_examples=60)
def test_the_likelihood_is_pitmans_formula(sizes: np.ndarray, theta: float, alpha: float) -> None:
    n, u = int(sizes.sum()), len(sizes)
    value = math.prod(theta + i * alpha for i in range(1, u)) / math.prod(theta + i for i in range(1, n))
    value *= math.prod(math.prod(part - alpha for part in range(1, size)) for size in sizes.tolist())
    assert math.isclose(pitman_log_likelihood(sizes, theta, alpha), math.log(value), rel_tol=1e-9, abs_tol=1e-9)


def chinese_restaurant(theta: float, alpha: float, people: int, seed: int) -> Integers:
    """The group of each person of a population that follows Pitman's model."""
    random = simulation(seed)
    groups: list[int] = []
    sizes: list[int] = []
    for person in range(people):
        if random.random() < (theta + alpha * len(sizes)) / (theta + person):
            groups.append(len(sizes))
            sizes.append(1)
            continue
        while True:  # an earlier person's group, less alpha for each group
            chosen = groups[int(random.integers(person))]
            if random.random() < (sizes[chosen] - alpha) / sizes[chosen]:
                break
        groups.append(chosen)
        sizes[chosen] += 1
    return np.array(groups)


@pytest.mark.parametrize(("theta", "alpha"), [(50.0, 0.5), (200.0, 0.3)])
def test_pitmans_estimate_of_a_simulated_population(theta: float, alpha: float) -> None:
    people = chinese_restaurant(theta, alpha, 20_000, seed=7)
    true = int((np.bincount(people) == 1).sum())
    sample = people[simulation(8).permutation(len(people))[:2_000]]
    sizes = np.bincount(sample)
    sizes = sizes[sizes > 0]
    fitted = pitman_parameters(sizes)
    assert abs(fitted[1] - alpha) < 0.15
    assert 0.6 < pitman_uniques(sizes, len(people)) / true < 1.6
    found = population_uniqueness(sizes, len(people))
    assert found["model"] == "pitman"


def test_zayatz_by_counting_samples() -> None:
    """Sizes 1, 1, 2, 3 in the sample as those of the population: the probability by enumeration of binomials."""
    sizes, population = np.array([1, 1, 2, 3]), 20
    n = int(sizes.sum())

    def once(size: int) -> float:
        return size * math.comb(population - size, n - 1) / math.comb(population, n)

    unique = 2 * once(1) / (2 * once(1) + once(2) + once(3))
    assert math.isclose(zayatz_uniques(sizes, population), population / n * 2 * unique)


def test_the_ends() -> None:
    assert zayatz_uniques(np.array([2, 3]), 100) == 0
    assert pitman_uniques(np.array([2, 3]), 100) == 0
    assert zayatz_uniques(np.array([1, 4]), 5) == 1
    assert pitman_uniques(np.array([1, 4]), 5) == 1
    assert pitman_uniques(np.array([1, 1]), 50) == 50
    assert population_uniqueness(np.array([1, 4]), 5)["uniqueness"] == 0.2
