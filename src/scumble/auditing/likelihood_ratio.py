"""How much more likely the holder's answers are on one table than on its neighbour.

The guarantee covers every answer that was paid for, so the adversary of an audit may see them all. By the lemma of
Neyman and Pearson no event distinguishes two tables better than "the likelihood ratio of these answers is large". The
ratio needs no training: every query to the holder of one table is repeated by a holder of the other table, which is
made to give the same answer, and both compute how probable that answer was. Wrong probabilities give a weak score,
never a false violation: events are judged by counting runs.
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
from scumble.privacy.noise import Noise, Selection, laplace_scale, selection_scale
from scumble.privacy.query import Query, RowQuery

SMALLEST_PROBABILITY = 1e-300
DIGITS = 9
"""Evidence is rounded, so that sums of the same terms in another order are the same number."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One draw of noise: the exact values, the noisy outcome, and the noise scale."""

    values: Integers
    outcome: Integers | int
    scale: float
    selection: Selection | None = None
    """None for a measurement."""

    @property
    def log_probability(self) -> float:
        """Up to a term that does not depend on the values."""
        if self.selection is None:
            return -float(np.abs(self.outcome - self.values).sum()) / self.scale
        apart = (self.values - self.values.max()).tobytes()
        return _log_probability_of_choice(apart, self.scale, self.selection, int(self.outcome))


@lru_cache(maxsize=1 << 16)
def _log_probability_of_choice(apart: bytes, scale: float, selection: Selection, choice: int) -> float:
    scores = np.frombuffer(apart, dtype=np.int64)
    return math.log(max(probability_of_choice(scores, scale, selection, choice), SMALLEST_PROBABILITY))


class RecordedDraws:
    """A source of noise that keeps its draws. Without a source of its own it replays `outcomes`."""

    def __init__(self, noise: Noise | None = None) -> None:
        self._noise = noise
        self.outcomes: deque[Integers | int] = deque()
        self.draws: list[Draw] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        if self._noise is None:
            noisy = np.asarray(self.outcomes.popleft())
        else:
            noisy = self._noise.laplace(values, sensitivity=sensitivity, epsilon=epsilon)
        scale = float(laplace_scale(sensitivity=sensitivity, epsilon=epsilon))
        self.draws.append(Draw(values=values, outcome=noisy, scale=scale))
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
        self.draws.append(Draw(values=scores, outcome=choice, scale=scale, selection=selection))
        return choice


class ComparingHolder(RecordingHolder):
    """The shipped holder of one table, and the probability of each of its answers on the other table as well."""

    def __init__(self, *, engine: Tabulates, other: Tabulates, noise: Noise, plan: Plan) -> None:
        self._drawn, self._replayed = RecordedDraws(noise), RecordedDraws()
        super().__init__(engine=engine, noise=self._drawn, plan=plan)
        self._other = CentralHolder(engine=other, noise=self._replayed, plan=plan)
        self._evidence = 0.0

    @property
    def evidence(self) -> float:
        """The log ratio of the probabilities of all answers so far, on this table over the other."""
        return round(self._evidence, DIGITS)

    def record(self, query: Query | RowQuery, draws: int, repeat: Repeat) -> None:
        """The other holder repeats the answer without a price: paying is the first holder's business."""
        del query
        drawn, self._drawn.draws = self._drawn.draws[-draws:], []
        self._replayed.outcomes, self._replayed.draws = deque(draw.outcome for draw in drawn), []
        repeat(self._other)
        self._evidence += sum(
            here.log_probability - there.log_probability
            for here, there in zip(drawn, self._replayed.draws, strict=True)
        )
