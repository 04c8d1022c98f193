"""The exact losses of outcomes, against readable twins in high precision; and what is observed of OpenDP."""

from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from itertools import combinations, permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.auditing.transcripts.noise_laws import Loss, NoiseLaw, NoiseMechanism
from scumble.auditing.transcripts.observed_draws import observed_opendp
from scumble.model.counts import Integers
from scumble.privacy import measurements
from scumble.privacy.noise import PaidNoise, Selection

DIGITS = 60
SCALES = st.fractions(min_value=Fraction(1, 50), max_value=1000).map(lambda scale: Fraction(float(scale)))
SCORES = st.lists(st.integers(-200, 200) | st.sampled_from([2**61, -(2**61)]), min_size=1, max_size=6)


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def log_probability(law: NoiseLaw, scores: list[int], chosen: int) -> Decimal:
    """The textbook formulas in sixty digits; those of permute-and-flip expanded over all subsets of the others."""
    rates = [decimal(Fraction(max(scores) - score) / law.scale) for score in scores]
    weights = [(-rate).exp() for rate in rates]
    if law.mechanism is NoiseMechanism.EXPONENTIAL:
        return -rates[chosen] - sum(weights).ln()
    others = weights[:chosen] + weights[chosen + 1 :]
    total = sum(
        (Decimal((-1) ** size) / (size + 1) * prod(subset, start=Decimal(1)))
        for size in range(len(others) + 1)
        for subset in combinations(others, size)
    )
    return -rates[chosen] + total.ln()


@pytest.mark.parametrize("mechanism", [NoiseMechanism.EXPONENTIAL, NoiseMechanism.PERMUTE_AND_FLIP])
@given(data=st.data(), here=SCORES, scale=SCALES)
def test_the_loss_of_a_selection_lies_within_its_stated_error(
    data: st.DataObject, mechanism: NoiseMechanism, here: list[int], scale: Fraction
) -> None:
    there = data.draw(st.lists(st.integers(-200, 200), min_size=len(here), max_size=len(here)))
    chosen = data.draw(st.integers(0, len(here) - 1))
    law = NoiseLaw(mechanism=mechanism, scale=scale)
    with localcontext(getcontext().copy()) as context:
        context.prec, context.Emin, context.Emax = DIGITS, -(10**17), 10**17
        expected = log_probability(law, here, chosen) - log_probability(law, there, chosen)
        found = law.loss(np.array(here), np.array(there), chosen)
        assert found.least == found.most
        assert found.error < Fraction(1, 10**12)
        assert abs(decimal(found.most) - expected) <= decimal(found.error)


@given(
    rows=st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-99, 99)), min_size=1, max_size=8),
    scale=SCALES,
)
def test_the_loss_of_laplace_noise_is_exact(rows: list[tuple[int, int, int]], scale: Fraction) -> None:
    here, there, outcome = (np.array(column) for column in zip(*rows, strict=True))
    found = NoiseLaw(mechanism=NoiseMechanism.LAPLACE, scale=scale).loss(here, there, outcome)
    expected = sum((abs(o - t) - abs(o - h)) / scale for h, t, o in rows)
    assert found == Loss(least=expected, most=expected)
    assert abs(expected) <= sum(abs(h - t) for h, t, _ in rows) / scale


LINES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=3)


@given(
    shared=LINES,
    row=LINES,
    released=st.lists(st.tuples(st.integers(-3, 8), st.integers(-3, 8)), min_size=4, max_size=4),
)
def test_the_loss_of_sorted_lines_bounds_that_of_the_multiset(
    shared: list[tuple[int, int]], row: list[tuple[int, int]], released: list[tuple[int, int]]
) -> None:
    """The probability of a multiset of lines is the sum over all assignments of lines to rows."""
    law = NoiseLaw(mechanism=NoiseMechanism.LAPLACE, scale=Fraction(3))
    here, there = [*shared, row[0]], [row[1], *reversed(shared)]

    def probability(rows: list[tuple[int, int]]) -> float:
        return sum(
            float(np.exp(-np.abs(np.array(order) - np.array(rows)).sum() / 3)) for order in permutations(released)
        )

    found = law.loss_of_lines(np.array(here), np.array(there), np.array(released))
    expected = np.log(probability(here)) - np.log(probability(there))
    assert float(found.least) - 1e-9 <= expected <= float(found.most) + 1e-9
    same = [released[0]] * 4
    least = law.loss_of_lines(np.array(here), np.array(there), np.array(same))
    assert least.least == least.most, "reached if all lines are equal"


def test_a_loss_exceeds_a_limit_only_beyond_its_error() -> None:
    loss = Loss(least=Fraction(-3, 2), most=Fraction(1), error=Fraction(1, 8))
    assert loss.exceeds(Fraction(5, 4))
    assert not loss.exceeds(Fraction(11, 8))
    assert (loss + loss).size == 3


@pytest.mark.parametrize(
    ("selection", "mechanism"),
    [
        (Selection.PERMUTE_AND_FLIP, NoiseMechanism.PERMUTE_AND_FLIP),
        (Selection.EXPONENTIAL, NoiseMechanism.EXPONENTIAL),
    ],
)
def test_observed_draws_state_what_opendp_was_given(selection: Selection, mechanism: NoiseMechanism) -> None:
    seen: list[tuple[NoiseLaw, list[int]]] = []
    before = measurements.laplace(1, Fraction(1, 3))

    def observer(law: NoiseLaw, values: Integers, sample: object) -> Integers | int:
        seen.append((law, values.tolist()))
        return np.array([7, 8]) if law.mechanism is NoiseMechanism.LAPLACE else 1

    with observed_opendp() as tap:
        values, third = np.array([4, 5]), Fraction(1, 3)
        assert len(PaidNoise().laplace(values, sensitivity=1, epsilon=third)) == 2, "drawn as usual"
        tap.observer = observer
        assert PaidNoise().laplace(values, sensitivity=1, epsilon=third).tolist() == [7, 8]
        chosen = PaidNoise().select(values, sensitivity=1, monotone=False, epsilon=third, selection=selection)
        assert chosen == 1
    assert [law.mechanism for law, _ in seen] == [NoiseMechanism.LAPLACE, mechanism]
    assert [values for _, values in seen] == [[4, 5], [4, 5]]
    assert seen[0][0].scale == pytest.approx(3)
    assert seen[1][0].scale == pytest.approx(6)
    assert measurements.laplace(1, Fraction(1, 3)) is before, "nothing observed stays in use"
