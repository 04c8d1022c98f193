"""The smoothing step: its laws, and that it settles what the plain iteration leaves to the stop."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.mining.reconstruction.iteration import IntervalPartition, interval_partition, reconstruct_shares
from scumble.mining.reconstruction.smoothing import Rule, fits, reconstruct_by_rule, smoother
from scumble.model.grid import Grid
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Discretized, Gaussian, RandomizedResponse, Randomizer, Truthful, Uniform
from scumble.model.schema import Attribute, Outside
from scumble.privacy.noise import SimulatedWords, simulation


@given(widths=st.lists(st.integers(1, 50), min_size=1, max_size=30), rows=st.integers(0, 10**9))
def test_smoothing_keeps_the_whole_the_sign_and_an_even_density(widths: list[int], rows: int) -> None:
    edges = np.concatenate([[0], np.cumsum(widths)])
    matrix = smoother(edges, rows)
    assert matrix.sum(axis=0) == pytest.approx(1)
    assert (matrix >= 0).all()
    even = np.array(widths) / sum(widths)
    assert matrix @ even == pytest.approx(even)
    more = smoother(edges, 16 * rows + 16)
    assert (np.diag(more) >= np.diag(matrix) - 1e-12).all(), "more rows are smoothed less"


def one_step(shares: list[float], amount: float) -> list[float]:
    """Twin for equal widths: every interval gives its neighbours a share and takes theirs."""
    result = list(shares)
    for place in range(len(shares) - 1):
        flow = amount * (shares[place] - shares[place + 1])
        result[place] -= flow
        result[place + 1] += flow
    return result


def test_equal_intervals_flow_as_by_hand() -> None:
    shares = [0.1, 0.4, 0.0, 0.3, 0.2]
    amount = 0.055**2 * 5**2 / 2 / 10_000**0.5
    assert smoother(np.arange(0, 60, 10), 10_000) @ shares == pytest.approx(one_step(shares, amount))


GRID = Attribute(
    name="x", domain=Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(1)), outside=Outside.CLAMP
)


def perturbed_counts(randomizer: Randomizer, seed: int, rows: int) -> tuple[IntervalPartition, np.ndarray, np.ndarray]:
    draw = simulation(seed)
    attribute = RandomizedAttribute(attribute=GRID, randomizer=randomizer)
    true = np.clip(draw.normal(40, 12, rows), 0, 99).astype(np.int64)
    perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
    part = interval_partition(attribute, 25)
    place = np.searchsorted(part.intervals, true, side="right") - 1
    return part, part.observe(perturbed), np.bincount(place, minlength=part.size) / rows


@pytest.mark.parametrize("randomizer", [Gaussian(sigma=Fraction(20)), Uniform(half_width=Fraction(81, 2))])
def test_smoothed_is_nearer_the_truth_than_an_iteration_run_to_its_end(randomizer: Randomizer) -> None:
    part, counts, truth = perturbed_counts(randomizer, 3, 20_000)
    smooth, spiky = (
        reconstruct_by_rule(counts, part, Rule.SMOOTHED),
        reconstruct_shares(counts, part.kernel, stop_share=0, most=5_000).shares,
    )
    distance = [np.abs(each - truth).sum() / 2 for each in (smooth, spiky)]
    assert distance[0] < 0.1
    assert distance[0] < distance[1] / 2
    assert smooth.sum() == pytest.approx(1)


@pytest.mark.parametrize("randomizer", [Gaussian(sigma=Fraction(10)), Uniform(half_width=Fraction(41, 2))])
def test_a_value_that_many_share_is_not_smoothed_away(randomizer: Randomizer) -> None:
    draw = simulation(6)
    attribute = RandomizedAttribute(attribute=GRID, randomizer=randomizer)
    true = np.where(draw.random(50_000) < 0.5, 0, draw.integers(0, 100, 50_000))
    perturbed = attribute.apply(true, SimulatedWords(draw).draw(b"", (), true))
    part = interval_partition(attribute, 50)
    counts = part.observe(perturbed)
    found = reconstruct_by_rule(counts, part, Rule.SMOOTHED)
    assert (found == reconstruct_by_rule(counts, part, Rule.PAPER)).all()
    even = np.full(part.size, 1 / part.size)
    assert not fits(even, counts, part.kernel)
    assert fits(even, np.round(part.kernel @ even * 50_000), part.kernel)


def test_the_fit_is_refused_as_rarely_as_it_says() -> None:
    draw = simulation(7)
    part, _, truth = perturbed_counts(Gaussian(sigma=Fraction(20)), 8, 20_000)
    chances = part.kernel @ truth
    refused = sum(not fits(truth, draw.multinomial(20_000, chances), part.kernel) for _ in range(2_000))
    assert refused <= 15, "one in a thousand is expected to be refused: more than 15 of 2,000 has a chance below 1e-8"


@pytest.mark.parametrize(
    "randomizer",
    [
        Truthful(),
        Discretized(edges=tuple(Decimal(edge) for edge in (0, 30, 40, 100))),
        RandomizedResponse(epsilon=Fraction(3)),
    ],
)
def test_nothing_is_smoothed_where_no_noise_was_added(randomizer: Randomizer) -> None:
    part, counts, _ = perturbed_counts(randomizer, 4, 5_000)
    assert not part.additive
    assert (reconstruct_by_rule(counts, part, Rule.SMOOTHED) == reconstruct_by_rule(counts, part, Rule.PAPER)).all()


def test_the_papers_rule_is_equation_3_alone_and_nothing_seen_is_uniform() -> None:
    part, counts, _ = perturbed_counts(Gaussian(sigma=Fraction(20)), 5, 5_000)
    assert (reconstruct_by_rule(counts, part, Rule.PAPER) == reconstruct_shares(counts, part.kernel).shares).all()
    assert reconstruct_by_rule(0 * counts, part, Rule.SMOOTHED) == pytest.approx(1 / part.size)
