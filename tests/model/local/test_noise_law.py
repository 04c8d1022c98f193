"""The laws of local noise on whole numbers: every promise of epsilon is checked on all inputs and outcomes."""

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from scumble.errors import InputError
from scumble.model.local.channel import (
    AdditiveChannel,
    Channel,
    GroupingChannel,
    ReplacementChannel,
    midpoint_transition,
    transition,
)
from scumble.model.local.noise_law import (
    TOTAL,
    exp_below,
    gaussian_weights,
    laplace_weights,
    response_epsilon,
    response_weights,
    retain_weights,
    uniform_weights,
)

EPSILONS = st.fractions(min_value=Fraction(1, 100), max_value=16, max_denominator=1000)


def outcome_weights(channel: Channel) -> list[list[int]]:
    """Readable twin: the exact weight of each outcome for each input, by adding up the words that lead there."""
    table = []
    for code in range(channel.inputs):
        weights = [0] * channel.outputs
        if isinstance(channel, AdditiveChannel):
            for place, weight in enumerate(channel.weights.tolist()):
                outcome = code * channel.refine + place - channel.reach + channel.margin
                weights[min(max(outcome, 0), channel.outputs - 1)] += weight
        elif isinstance(channel, ReplacementChannel):
            weights = [channel.truth if outcome == code else channel.other for outcome in range(channel.outputs)]
        else:
            assert isinstance(channel, GroupingChannel)
            weights[int(channel.groups[code])] = TOTAL
        assert sum(weights) == TOTAL
        table.append(weights)
    return table


def worst_ratio(channel: Channel) -> Fraction:
    columns = zip(*outcome_weights(channel), strict=True)
    return max(Fraction(max(column), min(column)) for column in columns)


@given(exponent=st.fractions(min_value=0, max_value=16, max_denominator=10**6))
def test_the_bound_on_exp_is_below_and_near(exponent: Fraction) -> None:
    bound = exp_below(exponent)
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
    assert bound < Fraction(exact) * (1 + Fraction(1, 10**55))
    assert bound > Fraction(exact) * (1 - Fraction(1, 2**60))


@settings(max_examples=60)
@given(cells=st.integers(1, 60), epsilon=EPSILONS)
def test_clamped_laplace_noise_keeps_its_epsilon_exactly(cells: int, epsilon: Fraction) -> None:
    channel = AdditiveChannel(weights=laplace_weights(cells, epsilon), cells=cells, refine=1, margin=0)
    worst = worst_ratio(channel)
    # A power of a number below e^(epsilon / steps) is below e^epsilon, so this is a proof, not a comparison of floats.
    steps = max(cells - 1, 1)
    assert worst <= exp_below(epsilon / steps) ** steps
    if cells > 1:
        assert float(worst) > math.exp(float(epsilon)) * 0.98, "noise far beyond what epsilon asks for"


def test_laplace_noise_follows_the_geometric_law() -> None:
    cells, epsilon = 50, Fraction(2)
    weights = laplace_weights(cells, epsilon) / TOTAL
    decay = math.exp(-2 / 49)
    inner = np.array([(1 - decay) / (1 + decay) * decay ** abs(n) for n in range(-48, 49)])
    assert weights[1:-1] == pytest.approx(inner, rel=1e-9)
    assert weights[0] == weights[-1] == pytest.approx(decay**49 / (1 + decay), rel=1e-9)


@pytest.mark.parametrize(("cells", "epsilon"), [(100_000, "0.01"), (100_000, "1"), (20_000, "16"), (2, "0.01")])
def test_long_grids_and_extreme_budgets_have_an_exact_law(cells: int, epsilon: str) -> None:
    weights = laplace_weights(cells, Fraction(epsilon))
    assert int(weights.astype(object).sum()) == TOTAL
    half = weights[cells - 1 :].tolist()
    bound = exp_below(Fraction(epsilon) / (cells - 1))
    assert all(near <= bound * far and far <= near for near, far in pairwise(half[:-1]))
    assert (weights == weights[::-1]).all()


@given(size=st.integers(1, 200), epsilon=EPSILONS)
def test_randomized_response_keeps_its_epsilon_and_wastes_none(size: int, epsilon: Fraction) -> None:
    truth, other = response_weights(size, epsilon)
    assert truth + (size - 1) * other == TOTAL
    if size > 1:
        assert Fraction(truth, other) <= exp_below(epsilon)
        assert truth / other == pytest.approx(math.exp(float(epsilon)), rel=1e-6)


@settings(max_examples=25)
@given(size=st.integers(2, 50), percent=st.integers(1, 99))
def test_retaining_has_the_epsilon_it_is_said_to_have(size: int, percent: int) -> None:
    truth, other = retain_weights(size, Fraction(percent, 100))
    assert truth + (size - 1) * other == TOTAL
    epsilon = response_epsilon(truth, other)
    odds = Fraction(max(truth, other), min(truth, other))
    assert odds <= exp_below(epsilon)
    assert epsilon <= Fraction(2, 10**6) or odds > exp_below(epsilon - Fraction(2, 10**6))


@given(reach=st.integers(0, 5000))
def test_uniform_weights_are_even(reach: int) -> None:
    weights = uniform_weights(reach)
    assert len(weights) == 2 * reach + 1
    assert int(weights.sum()) == TOTAL
    assert weights.max() - weights.min() <= 1


@pytest.mark.parametrize("sigma", ["0.3", "1", "25", "1000.5"])
def test_gaussian_weights_are_a_rounded_normal_law(sigma: str) -> None:
    scale = float(sigma)
    weights = gaussian_weights(Fraction(sigma))
    reach = len(weights) // 2
    assert int(weights.sum()) == TOTAL
    assert (weights == weights[::-1]).all()
    places = np.arange(-reach, reach + 1)
    expected = norm.cdf(places + 0.5, scale=scale) - norm.cdf(places - 0.5, scale=scale)
    assert weights / TOTAL == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("epsilon", ["17", "1000"])
def test_a_local_epsilon_that_promises_nothing_is_refused(epsilon: str) -> None:
    with pytest.raises(InputError, match="protects nothing"):
        laplace_weights(10, Fraction(epsilon))
    with pytest.raises(InputError, match="protects nothing"):
        response_weights(10, Fraction(epsilon))


def test_a_response_so_even_that_rounding_breaks_its_law_is_refused() -> None:
    """A million values share 2^62 words. Rounding up the weight of the others takes 2e-7 of the true value's weight."""
    with pytest.raises(InputError, match="62-bit"):
        response_weights(10**6, Fraction(1, 10**8))
    truth, other = response_weights(10**6, Fraction(1, 10**6))
    assert other <= exp_below(Fraction(1, 10**6)) * truth


def respond(size: int) -> Channel:
    truth, other = response_weights(size, Fraction(1))
    return ReplacementChannel(size=size, truth=truth, other=other)


def channels() -> st.SearchStrategy[Channel]:
    additive = st.builds(
        lambda reach, cells, refine: AdditiveChannel(
            weights=uniform_weights(reach), cells=cells, refine=refine, margin=reach
        ),
        st.integers(0, 9),
        st.integers(1, 12),
        st.integers(1, 3),
    )
    clamped = st.builds(
        lambda cells, epsilon: AdditiveChannel(
            weights=laplace_weights(cells, epsilon), cells=cells, refine=1, margin=0
        ),
        st.integers(1, 12),
        EPSILONS,
    )
    replacing = st.integers(1, 9).map(
        lambda size: ReplacementChannel(
            size=size, truth=response_weights(size, Fraction(1))[0], other=response_weights(size, Fraction(1))[1]
        )
    )
    grouping = st.lists(st.booleans(), min_size=1, max_size=12).map(
        lambda steps: GroupingChannel(groups=np.concatenate([[0], np.cumsum(steps)]).astype(np.int64))
    )
    return st.one_of(additive, clamped, replacing, grouping)


@given(channel=channels(), data=st.data())
def test_one_report_is_that_of_the_array(channel: Channel, data: st.DataObject) -> None:
    """Words at the ends of the law, between them, and around every end of an additive one."""
    ends = [0, *(np.cumsum(channel.weights)[:-1].tolist() if isinstance(channel, AdditiveChannel) else [])]
    near = st.sampled_from(ends).flatmap(lambda end: st.sampled_from([max(end - 1, 0), end, min(end + 1, TOTAL - 1)]))
    words = data.draw(st.lists(st.integers(0, TOTAL - 1) | near | st.just(TOTAL - 1), min_size=1, max_size=20))
    codes = data.draw(st.lists(st.integers(0, channel.inputs - 1), min_size=len(words), max_size=len(words)))
    found = channel.apply(np.array(codes), np.array(words, dtype=np.int64)).tolist()
    assert [channel.report(code, word) for code, word in zip(codes, words, strict=True)] == found


@given(channel=channels(), data=st.data())
def test_transitions_are_the_exact_law_averaged_over_intervals(channel: Channel, data: st.DataObject) -> None:
    def edges(size: int) -> np.ndarray:
        inner = data.draw(st.sets(st.integers(1, size - 1)) if size > 1 else st.just(set()))
        return np.array([0, *sorted(inner), size])

    intervals, bins = edges(channel.inputs), edges(channel.outputs)
    table = np.array(outcome_weights(channel), dtype=float) / TOTAL
    twin = [
        [table[low:high, start:stop].sum() / (high - low) for low, high in pairwise(intervals)]
        for start, stop in pairwise(bins)
    ]
    kernel = transition(channel, intervals, bins)
    assert kernel == pytest.approx(np.array(twin), abs=1e-12)
    assert kernel.sum(axis=0) == pytest.approx(1)


@given(channel=channels(), data=st.data())
def test_words_lead_to_outcomes_as_the_weights_say(channel: Channel, data: st.DataObject) -> None:
    """At the first and the last word of an outcome's stretch; in between `searchsorted` and division are monotone."""
    code = data.draw(st.integers(0, channel.inputs - 1))
    words = data.draw(st.lists(st.integers(0, TOTAL - 1), min_size=1, max_size=20))
    outcomes = channel.apply(np.full(len(words), code), np.array(words, dtype=np.int64))
    assert ((outcomes >= 0) & (outcomes < channel.outputs)).all()
    possible = outcome_weights(channel)[code]
    assert all(possible[outcome] > 0 for outcome in outcomes)
    if isinstance(channel, AdditiveChannel):
        ends = np.cumsum(channel.weights)
        for place, end in enumerate(ends.tolist()):
            first = end - int(channel.weights[place])
            perturbed = channel.apply(np.array([code, code]), np.array([first, end - 1], dtype=np.int64))
            wanted = np.clip(code * channel.refine + place - channel.reach + channel.margin, 0, channel.outputs - 1)
            assert (perturbed == wanted).all()


def test_the_midpoint_kernel_is_the_density_between_middles() -> None:
    channel = AdditiveChannel(weights=gaussian_weights(Fraction(20)), cells=100, refine=1, margin=120)
    bins = np.arange(0, channel.outputs + 1, 10)
    kernel = midpoint_transition(channel, np.arange(0, 101, 10), bins)
    assert kernel[12, 0] == pytest.approx(norm.pdf(0, scale=20), rel=1e-3)
    assert kernel[16, 0] == pytest.approx(norm.pdf(40, scale=20), rel=1e-3)


@given(channel=channels(), gap=st.booleans())
def test_possible_reports_are_those_that_have_a_weight(channel: Channel, gap: bool) -> None:
    if gap and isinstance(channel, AdditiveChannel) and channel.reach > 1:
        # Noise with holes: only the two ends and the middle.
        weights = np.zeros_like(channel.weights)
        weights[[0, channel.reach, -1]] = [1, TOTAL - 2, 1]
        channel = replace(channel, weights=weights)
    wanted = (np.array(outcome_weights(channel), dtype=object) > 0).any(axis=0)
    assert (channel.possible == wanted).all()
