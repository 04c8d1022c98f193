"""The likelihood ratio of the holder's answers between a table and its neighbour.

The guarantee covers every answer that was paid for, so the adversary of an audit may see them all. By the
Neyman-Pearson lemma no event distinguishes two tables better than "the likelihood ratio of these answers is large". The
ratio needs no training: for every query to the holder of one table, a holder of the other table replays the same
answer, and both compute the probability of that answer. Wrong probabilities would weaken the audit but could not cause
a false alarm, because events are tested by counting runs.
"""

import math
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from scumble.auditing.exact import probability_of_choice
from scumble.auditing.recording_holder import RecordingHolder, Repeat
from scumble.model.counts import Integers
from scumble.model.plan import Plan
from scumble.privacy.holder import CentralHolder, Tabulates
from scumble.privacy.noise import Noise, Selection, gaussian_square, laplace_scale, selection_scale
from scumble.privacy.query import Query, RowQuery

SMALLEST_PROBABILITY = 1e-300
DIGITS = 9
"""The log ratio is rounded to this many digits, so that equal terms added in another order give the same number."""


@dataclass(frozen=True, kw_only=True)
class RecordedDraw:
    """One draw of noise: the exact values, the noisy outcome, and the noise scale."""

    values: Integers
    outcome: Integers | int
    scale: float
    selection: Selection | None = None
    """None for a measurement."""
    gaussian: bool = False
    """Whether a measurement has Gaussian instead of Laplace noise."""

    @property
    def log_probability(self) -> float:
        """The log probability of the outcome, up to a term that does not depend on the values."""
        if self.gaussian:
            return -float(((self.outcome - self.values).astype(np.float64) ** 2).sum()) / (2 * self.scale**2)
        if self.selection is None:
            return -float(np.abs(self.outcome - self.values).sum()) / self.scale
        apart = (self.values - self.values.max()).tobytes()
        return _log_probability_of_choice(apart, self.scale, self.selection, int(self.outcome))


@lru_cache(maxsize=1 << 16)
def _log_probability_of_choice(apart: bytes, scale: float, selection: Selection, choice: int) -> float:
    scores = np.frombuffer(apart, dtype=np.int64)
    return math.log(max(probability_of_choice(scores, scale, selection, choice), SMALLEST_PROBABILITY))


class RecordingNoise:
    """A noise source that records its draws. It draws from `noise` or, without one, replays `outcomes`."""

    def __init__(self, noise: Noise | None = None) -> None:
        self._noise = noise
        self.outcomes: deque[Integers | int] = deque()
        self.draws: list[RecordedDraw] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        if self._noise is None:
            noisy = np.asarray(self.outcomes.popleft())
        else:
            noisy = self._noise.laplace(values, sensitivity=sensitivity, epsilon=epsilon)
        scale = float(laplace_scale(sensitivity=sensitivity, epsilon=epsilon))
        self.draws.append(RecordedDraw(values=values, outcome=noisy, scale=scale))
        return noisy

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        if self._noise is None:
            noisy = np.asarray(self.outcomes.popleft())
        else:
            noisy = self._noise.gaussian(values, squared=squared, rho=rho)
        scale = math.sqrt(gaussian_square(squared=squared, rho=rho))
        self.draws.append(RecordedDraw(values=values, outcome=noisy, scale=scale, gaussian=True))
        return noisy

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        if self._noise is None:
            choice = int(self.outcomes.popleft())
        else:
            choice = self._noise.select(
                scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
            )
        scale = float(selection_scale(sensitivity=sensitivity, monotone=monotone, epsilon=epsilon))
        self.draws.append(RecordedDraw(values=scores, outcome=choice, scale=scale, selection=selection))
        return choice


class ComparingHolder(RecordingHolder):
    """The shipped holder of one table, which also computes the probability of its answers on the other table."""

    def __init__(self, *, engine: Tabulates, other: Tabulates, noise: Noise, plan: Plan) -> None:
        self._drawn, self._replayed = RecordingNoise(noise), RecordingNoise()
        super().__init__(engine=engine, noise=self._drawn, plan=plan)
        self._other = CentralHolder(engine=other, noise=self._replayed, plan=plan)
        self._log_ratio = 0.0

    @property
    def log_ratio(self) -> float:
        """The log ratio of the probabilities of all answers so far: this table over the other."""
        return round(self._log_ratio, DIGITS)

    def record(self, query: Query | RowQuery, draws: int, repeat: Repeat) -> None:
        """Replay the answer with the other holder, which charges nothing: the first holder has charged for it."""
        del query
        drawn, self._drawn.draws = self._drawn.draws[-draws:], []
        self._replayed.outcomes, self._replayed.draws = deque(draw.outcome for draw in drawn), []
        repeat(self._other)
        self._log_ratio += sum(
            here.log_probability - there.log_probability
            for here, there in zip(drawn, self._replayed.draws, strict=True)
        )
