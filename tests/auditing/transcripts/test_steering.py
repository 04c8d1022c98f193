"""Worst outcomes have the largest privacy loss of all outcomes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.auditing.transcripts.noise_laws import NoiseLaw, NoiseMechanism
from scumble.auditing.transcripts.steering import WorstOutcomes
from scumble.privacy.noise import simulation

VALUES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=9)


@pytest.mark.parametrize("mechanism", [NoiseMechanism.EXPONENTIAL, NoiseMechanism.PERMUTE_AND_FLIP])
@given(values=VALUES)
def test_the_chosen_candidate_has_the_largest_loss(mechanism: NoiseMechanism, values: list[tuple[int, int]]) -> None:
    here, there = (np.array(column) for column in zip(*values, strict=True))
    law = NoiseLaw(mechanism=mechanism, scale=Fraction(3, 2))
    chosen = WorstOutcomes(simulation())(law, here, there, lambda: 0)
    losses = [float(law.loss(here, there, candidate).most) for candidate in range(len(here))]
    assert losses[int(chosen)] == pytest.approx(max(losses), abs=1e-9)


@given(values=VALUES, noise=st.integers(-50, 50))
def test_the_noisy_vector_has_the_largest_loss_and_the_drawn_noise(values: list[tuple[int, int]], noise: int) -> None:
    here, there = (np.array(column) for column in zip(*values, strict=True))
    law = NoiseLaw(mechanism=NoiseMechanism.LAPLACE, scale=Fraction(3, 2))
    chosen = np.asarray(WorstOutcomes(simulation())(law, here, there, lambda: here + noise))
    assert law.loss(here, there, chosen).most == Fraction(int(np.abs(here - there).sum())) / law.scale
    assert (np.abs(chosen - here) == abs(noise)).all()
    assert (chosen == here + noise)[here == there].all()


def test_random_outcomes_are_drawn_for_the_rest() -> None:
    law = NoiseLaw(mechanism=NoiseMechanism.EXPONENTIAL, scale=Fraction(1))
    never = WorstOutcomes(simulation(), share=0)
    chosen = {int(never(law, np.array([9, 0, 0]), np.array([0, 0, 0]), lambda: 0)) for _ in range(200)}
    assert chosen == {0, 1, 2}
