"""How much likelier the holder's answers are on one table than on the other, by the laws they are told by.

The guarantee covers every answer that was paid for, so the onlooker of an audit may see them all. By Neyman and Pearson
no event tells two tables apart better than "these answers are so much likelier on the first". That number is had
without learning: what the holder of one table was asked is put to a holder of the other, which is made to answer alike,
and both say how likely that answer was. Wrong laws make a bad score, never a false accusation: events are judged by
counting runs.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from scumble.auditing.exact import chance_of_choice
from scumble.auditing.recording_holder import Again, Overheard
from scumble.model.counts import Integers
from scumble.model.plan import Plan, PlanWithoutDP
from scumble.privacy.holder import Holder, Purse, Tabulates
from scumble.privacy.noise import Noise, Selection, laplace_scale, selection_scale
from scumble.privacy.query import Query, RowQuery

SMALLEST_CHANCE = 1e-300
DIGITS = 9
"""Evidence is rounded, so that sums of the same terms in another order are the same number."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """One answer: the exact values behind it and what was told of them."""

    values: Integers
    outcome: Integers | int
    scale: float
    selection: Selection | None = None
    """None for a measurement."""

    @property
    def log_chance(self) -> float:
        """Up to a term that does not depend on the values."""
        if self.selection is None:
            return -float(np.abs(self.outcome - self.values).sum()) / self.scale
        apart = (self.values - self.values.max()).tobytes()
        return _log_chance_of_choice(apart, self.scale, self.selection, int(self.outcome))


@lru_cache(maxsize=1 << 16)
def _log_chance_of_choice(apart: bytes, scale: float, selection: Selection, choice: int) -> float:
    scores = np.frombuffer(apart, dtype=np.int64)
    return math.log(max(chance_of_choice(scores, scale, selection, choice), SMALLEST_CHANCE))


class Telling:
    """A source of noise that keeps what it told: fresh draws, or, where there are `answers` to give, those."""

    def __init__(self, noise: Noise | None = None) -> None:
        self._noise = noise
        self.answers: deque[Integers | int] = deque()
        self.told: list[Told] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        if self._noise is None:
            noisy = np.asarray(self.answers.popleft())
        else:
            noisy = self._noise.laplace(values, sensitivity=sensitivity, epsilon=epsilon)
        scale = float(laplace_scale(sensitivity=sensitivity, epsilon=epsilon))
        self.told.append(Told(values=values, outcome=noisy, scale=scale))
        return noisy

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        if self._noise is None:
            choice = int(self.answers.popleft())
        else:
            choice = self._noise.select(
                scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
            )
        scale = float(selection_scale(sensitivity=sensitivity, monotone=monotone, epsilon=epsilon))
        self.told.append(Told(values=scores, outcome=choice, scale=scale, selection=selection))
        return choice


class Followed(Overheard):
    """The shipped holder of one table, followed by a second one that holds the other table."""

    def __init__(self, *, engine: Tabulates, other: Tabulates, noise: Noise, plan: Plan | PlanWithoutDP) -> None:
        self._telling, self._echo = Telling(noise), Telling()
        super().__init__(engine=engine, noise=self._telling, plan=plan)
        self._follower = Holder(engine=other, noise=self._echo, plan=plan)
        self._evidence = 0.0

    @property
    def evidence(self) -> float:
        """The log ratio of the probabilities of all answers so far, on this table over the other."""
        return round(self._evidence, DIGITS)

    def heard(self, queries: Sequence[Query | RowQuery], draws: int, again: Again) -> None:
        told, self._telling.told = self._telling.told[-draws:], []
        self._echo.answers, self._echo.told = deque(each.outcome for each in told), []
        self._follower.purse = Purse(self.purse.plan)  # whether an answer was paid for is the first holder's business
        again(self._follower)
        self._evidence += sum(
            here.log_chance - there.log_chance for here, there in zip(told, self._echo.told, strict=True)
        )
