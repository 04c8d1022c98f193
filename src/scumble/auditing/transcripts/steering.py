"""Chooses the outcomes of a transcript: as the noise source draws them, or those with the largest privacy loss.

Every outcome of the mechanisms has a positive probability, so that epsilon bounds the loss of every transcript, however
unlikely. The worst outcomes reach the bound of an answer that the two tables differ in as far as its sensitivity
allows. Random ones lead to other queries later.
"""

from collections.abc import Callable

import numpy as np

from scumble.auditing.transcripts.noise_laws import NoiseLaw, NoiseMechanism
from scumble.auditing.transcripts.observed_draws import DrawOutcome, SampleOutcome
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

Decide = Callable[[NoiseLaw, Integers, Integers, SampleOutcome], DrawOutcome]
"""Chooses an outcome, given the exact values of both tables."""
MOST_NODES = 64


class WorstOutcomes:
    """The outcomes that are likelier on the first table than on the second by the largest factor.

    `share` of the draws are decided so, the others at random. Numbers in which the tables agree get the noise that the
    source draws.
    """

    def __init__(self, random: Simulation, *, share: float = 1.0) -> None:
        self._random, self._share = random, share

    def __call__(self, law: NoiseLaw, here: Integers, there: Integers, sample: SampleOutcome) -> DrawOutcome:
        worst = self._random.random() < self._share
        if law.mechanism is NoiseMechanism.LAPLACE:
            noisy = np.asarray(sample())
            away = here + np.sign(here - there) * np.abs(noisy - here)
            return np.where(here == there, noisy, away) if worst else noisy
        if not worst:
            return int(self._random.integers(len(here)))
        return int(np.argmax(_log_probabilities(law, here) - _log_probabilities(law, there)))


def _log_probabilities(law: NoiseLaw, scores: Integers) -> Floats:
    """The log probabilities of all candidates, accurate enough to compare them."""
    best = int(scores.max())  # differences of 64-bit scores may need more bits
    rates = np.array([float(best - score) for score in scores.tolist()]) / float(law.scale)
    if law.mechanism is NoiseMechanism.EXPONENTIAL:
        return -rates - np.log(np.exp(-rates).sum())
    times, shares = np.polynomial.legendre.leggauss(min(MOST_NODES, len(scores) // 2 + 1))
    refused = np.log1p(-np.exp(-rates)[:, None] * (times + 1)[None, :] / 2)
    others = np.exp(refused.sum(axis=0)[None, :] - refused)
    return -rates + np.log((others * shares).sum(axis=1))
