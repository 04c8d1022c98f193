"""The iteration of Equation 3 against readable twins, its fixed point against maximum likelihood, and its edges."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chi2

from scumble.errors import InputError
from scumble.mining.reconstruction.iteration import (
    interval_partition,
    number_of_intervals,
    reconstruct_shares,
    stopping_difference,
    warner_inverse,
)
from scumble.model.grid import Grid
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import (
    Discretized,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Randomizer,
    Truthful,
    Uniform,
)
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import SimulatedWords, simulation


def equation_3(counts: list[float], kernel: list[list[float]], shares: list[float]) -> list[float]:
    """One step, as printed, sum by sum."""
    points = sum(counts)
    result = []
    for p in range(len(shares)):
        total = 0.0
        for s, count in enumerate(counts):
            denominator = sum(kernel[s][t] * shares[t] for t in range(len(shares)))
            total += count * kernel[s][p] * shares[p] / denominator
        result.append(total / points)
    return result


def published_rule(counts: list[float], kernel: list[list[float]], intervals: int) -> tuple[list[float], int]:
    """The algorithm of Figure 1 with the stopping rule, for one table."""
    shares = [1 / intervals] * intervals
    points, limit, steps = sum(counts), 0.01 * chi2.ppf(0.95, intervals - 1), 0
    while True:
        new = equation_3(counts, kernel, shares)
        steps += 1
        change = sum((points * a - points * b) ** 2 / (points * b) for a, b in zip(new, shares, strict=True))
        shares = new
        if change < limit:
            return shares, steps


def grid(cells: int, name: str = "x") -> Attribute:
    domain = Grid.regular(low=Decimal(0), high=Decimal(cells), step=Decimal(1))
    return Attribute(name=name, domain=domain, outside=Outside.CLAMP)


def randomized(cells: int, randomizer: Randomizer) -> RandomizedAttribute:
    return RandomizedAttribute(attribute=grid(cells), randomizer=randomizer)


RANDOMIZERS: list[Randomizer] = [
    Gaussian(sigma=Fraction(20)),
    Uniform(half_width=Fraction(81, 2)),
    Laplace(epsilon=Fraction(4)),
    RandomizedResponse(epsilon=Fraction(2)),
    Discretized(edges=tuple(Decimal(edge) for edge in (0, 30, 40, 100))),
]


@pytest.mark.parametrize("randomizer", RANDOMIZERS)
def test_reconstruction_is_the_published_algorithm(randomizer: Randomizer) -> None:
    draw = simulation(5)
    attribute = randomized(100, randomizer)
    true = draw.integers(20, 60, 2_000)
    perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
    part = interval_partition(attribute, 8)
    counts = part.observe(perturbed)
    shares, steps = published_rule(counts.tolist(), part.kernel.tolist(), 8)
    result = reconstruct_shares(counts, part.kernel)
    assert result.converged
    assert result.iterations == steps
    assert result.shares == pytest.approx(shares, abs=1e-10)


def most_likely(counts: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Twin of the limit: the likelihood maximized directly, over a softmax."""

    def loss(free: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.exp(free - free.max())
        shares = weights / weights.sum()
        expected = kernel @ shares
        gradient = -(kernel.T @ (counts / expected))
        return float(-(counts * np.log(expected)).sum()), shares * (gradient - (gradient * shares).sum())

    best = minimize(loss, np.zeros(kernel.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-4, "maxiter": 5000})
    weights = np.exp(best.x - best.x.max())
    return weights / weights.sum()


@pytest.mark.parametrize(
    "randomizer", [Gaussian(sigma=Fraction(12)), Uniform(half_width=Fraction(41, 2)), Laplace(epsilon=Fraction(8))]
)
def test_the_fixed_point_is_the_most_likely_histogram(randomizer: Randomizer) -> None:
    draw = simulation(6)
    attribute = randomized(100, randomizer)
    true = draw.integers(0, 100, 20_000)
    perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
    part = interval_partition(attribute, 6)
    counts = part.observe(perturbed)
    result = reconstruct_shares(counts, part.kernel, stop_share=0, most=5_000)
    assert result.shares == pytest.approx(most_likely(counts, part.kernel), abs=2e-4)


@settings(max_examples=50)
@given(
    counts=st.lists(st.integers(0, 300), min_size=5, max_size=5).filter(any),
    weights=st.lists(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), min_size=5, max_size=5),
)
def test_every_step_raises_the_likelihood_and_keeps_a_distribution(
    counts: list[int], weights: list[list[float]]
) -> None:
    kernel = np.array(weights) / np.array(weights).sum(axis=0)
    observed = np.array(counts)
    before = -np.inf
    for most in range(1, 6):
        shares = reconstruct_shares(observed, kernel, stop_share=0, most=most).shares
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        likelihood = float((observed * np.log(kernel @ shares)).sum())
        assert likelihood >= before - 1e-9 * abs(likelihood)
        before = likelihood


def test_many_tables_at_once_are_each_reconstructed_alone() -> None:
    draw = simulation(7)
    attributes = [randomized(100, Gaussian(sigma=Fraction(15))), randomized(40, Uniform(half_width=Fraction(21, 2)))]
    parts = [interval_partition(attributes[0], 10), interval_partition(attributes[1], 4)]
    bins, widest = max(len(p.bins) for p in parts) - 1, max(p.size for p in parts)
    kernels, observed = np.zeros((2, bins, widest)), np.zeros((2, 3, bins))
    for place, (attribute, part) in enumerate(zip(attributes, parts, strict=True)):
        kernels[place, : len(part.bins) - 1, : part.size] = part.kernel
        for group in range(2):  # the third class has no rows
            true = draw.integers(0, part.intervals[-1] // (group + 1), 3_000)
            perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
            observed[place, group, : len(part.bins) - 1] = part.observe(perturbed)
    together = reconstruct_shares(observed, kernels)
    for place, part in enumerate(parts):
        for group in range(3):
            alone = reconstruct_shares(observed[place, group, : len(part.bins) - 1], part.kernel)
            assert together.shares[place, group, : part.size] == pytest.approx(alone.shares, abs=1e-12)
            assert (together.shares[place, group, part.size :] == 0).all()
        assert together.shares[place, 2, : part.size] == pytest.approx(1 / part.size), "no rows: uniform"


@given(cells=st.integers(1, 300), intervals=st.integers(1, 120), reach=st.integers(0, 200))
def test_bins_cover_the_widened_domain_and_meet_the_intervals(cells: int, intervals: int, reach: int) -> None:
    part = interval_partition(randomized(cells, Uniform(half_width=reach + Fraction(1, 2))), intervals)
    assert part.size == min(cells, intervals)
    assert part.bins[0] == 0 and part.bins[-1] == cells + 2 * reach
    assert set((part.intervals + reach).tolist()) <= set(part.bins.tolist())
    assert part.kernel.sum(axis=0) == pytest.approx(1)
    assert (part.kernel.sum(axis=1) > 0).all(), "every bin can be explained, at the borders of uniform noise too"


def test_uniform_noise_at_the_borders_is_reconstructed_without_bias() -> None:
    """All mass in the two end intervals, noise wider than the domain: the exact kernel finds it, from every row."""
    draw = simulation(8)
    attribute = randomized(100, Uniform(half_width=Fraction(141, 2)))
    true = np.where(draw.random(50_000) < 0.3, draw.integers(0, 10, 50_000), draw.integers(90, 100, 50_000))
    perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
    part = interval_partition(attribute, 10)
    shares = reconstruct_shares(part.observe(perturbed), part.kernel, stop_share=0.0001).shares
    assert shares[0] == pytest.approx(0.3, abs=0.02)
    assert shares[-1] == pytest.approx(0.7, abs=0.02)


def test_the_papers_kernel_leaves_out_what_no_interval_explains() -> None:
    attribute = randomized(100, Uniform(half_width=Fraction(55, 2)))
    part = interval_partition(attribute, 10, kernel="midpoint")
    counts = np.ones(len(part.bins) - 1)
    result = reconstruct_shares(counts, part.kernel)
    assert result.shares.sum() == pytest.approx(1)
    assert np.isfinite(result.shares).all()


def test_unequal_intervals_are_reconstructed_too() -> None:
    draw = simulation(9)
    attribute = randomized(100, Gaussian(sigma=Fraction(10)))
    edges = np.array([0, 5, 20, 60, 100])
    true = draw.choice(100, 100_000, p=np.repeat([0.04, 0.01, 0.01, 0.00625], [5, 15, 40, 40]))
    perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
    part = interval_partition(attribute, edges)
    shares = reconstruct_shares(part.observe(perturbed), part.kernel, stop_share=0.0001).shares
    assert shares == pytest.approx([0.2, 0.15, 0.4, 0.25], abs=0.02)
    for wrong in ([0, 50], [5, 100], [0, 50, 40, 100]):
        with pytest.raises(InputError, match="intervals"):
            interval_partition(attribute, np.array(wrong))


def test_categories_by_iteration_and_by_warners_inverse_agree() -> None:
    draw = simulation(10)
    kind = Attribute(name="k", domain=Tree.flat(["a", "b", "c"]), outside=Outside.DROP)
    attribute = RandomizedAttribute(attribute=kind, randomizer=RandomizedResponse(epsilon=Fraction(1)))
    true = draw.choice(3, 50_000, p=[0.6, 0.3, 0.1])
    perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
    part = interval_partition(attribute, 3)
    counts = part.observe(perturbed)
    iterated = reconstruct_shares(counts, part.kernel, stop_share=0, most=5_000).shares
    assert iterated == pytest.approx(warner_inverse(counts, part.kernel), abs=1e-6)
    assert iterated == pytest.approx([0.6, 0.3, 0.1], abs=0.03)


def test_true_and_discretized_values_reconstruct_as_they_are() -> None:
    counts = np.arange(1, 101)
    part = interval_partition(randomized(100, Truthful()), 100)
    assert reconstruct_shares(counts, part.kernel, stop_share=0, most=2).shares == pytest.approx(counts / counts.sum())
    part = interval_partition(randomized(100, RANDOMIZERS[4]), 100)
    shares = reconstruct_shares(np.array([30, 50, 20]), part.kernel).shares
    assert shares[:30] == pytest.approx(0.01)
    assert shares[30:40] == pytest.approx(0.05)


def test_missing_values_are_not_counted() -> None:
    part = interval_partition(randomized(10, Truthful()), 5)
    assert part.observe(np.array([0, 0, 9, 10, 10])).tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 1]


def test_the_rule_for_intervals_and_the_stopping_difference() -> None:
    assert [number_of_intervals(n) for n in (0, 999, 1_000, 4_321, 10_000, 10**8)] == [10, 10, 10, 43, 100, 100]
    assert stopping_difference(20) == pytest.approx(0.01 * chi2.ppf(0.95, 19))
    assert np.isfinite(stopping_difference(1))
