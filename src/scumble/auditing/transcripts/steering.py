"""Chooses the outcomes of a transcript: as the noise source draws them, or those with the largest privacy loss.

Every outcome of the mechanisms has a positive probability, so pure epsilon bounds the loss of every transcript, however
unlikely. The worst outcomes reach the bound of an answer that the two tables differ in as far as its sensitivity
allows. Random ones lead to other queries later.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np

from scumble.auditing.transcripts.noise_laws import NoiseLaw, NoiseMechanism
from scumble.auditing.transcripts.observed_draws import DrawOutcome, DrawTap, SampleOutcome
from scumble.model.counts import Floats, Integers
from scumble.privacy.holder import Holder
from scumble.privacy.noise import Selection, Simulation
from scumble.privacy.price import Price
from scumble.privacy.query import Choice, Measurement, RowChoice, RowMeasurement

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
        if law.mechanism.measures:
            noisy = np.asarray(sample())
            away = here + np.sign(here - there) * np.abs(noisy - here)
            return np.where(here == there, noisy, away) if worst else noisy
        if not worst:
            return int(self._random.integers(len(here)))
        return int(np.argmax(_log_probabilities(law, here) - _log_probabilities(law, there)))


class OutcomeSearch:
    """Chooses the outcomes of one run, from the exact values of its own table and of the other."""

    def __init__(self, tap: DrawTap, decide: Decide) -> None:
        self._tap, self._decide = tap, decide
        self._others: deque[Integers] = deque()
        self.outcomes: list[DrawOutcome] = []

    def observe(self, law: NoiseLaw, values: Integers, sample: SampleOutcome) -> DrawOutcome:
        other = self._others.popleft() if self._others else values
        same = other.shape == values.shape
        outcome = self._decide(law, values, other, sample) if same else sample()
        self.outcomes.append(outcome)
        return outcome

    @contextmanager
    def knowing(self, answer: Callable[[], object]) -> Iterator[None]:
        """Within this context the values of the other table are those that `answer` uses."""
        observer, values = self._tap.observer, []

        def note(law: NoiseLaw, exact: Integers, sample: SampleOutcome) -> DrawOutcome:
            del law
            values.append(exact)
            return sample()

        self._tap.observer = note
        answer()
        self._tap.observer, self._others = observer, deque(values)
        yield
        self._others.clear()


class Steered(Holder):
    """To be mixed into a holder: lets a search, if there is one, know the other table's values before each answer."""

    search: OutcomeSearch | None = None
    other: Holder

    def _select(self, query: Choice, price: Price, selection: Selection, log_weights: Sequence[float] | None) -> int:
        with self._knowing(lambda: self.other._select(query, price, selection, log_weights)):
            return super()._select(query, price, selection, log_weights)  # type: ignore[safe-super]

    def _select_in_parts(self, query: RowChoice, price: Price, selection: Selection) -> list[int]:
        with self._knowing(lambda: self.other._select_in_parts(query, price, selection)):
            return super()._select_in_parts(query, price, selection)  # type: ignore[safe-super]

    def _measure(self, query: Measurement | RowMeasurement, price: Price) -> Integers:
        with self._knowing(lambda: self.other._measure(query, price)):
            return super()._measure(query, price)  # type: ignore[safe-super]

    def _knowing(self, answer: Callable[[], object]) -> AbstractContextManager[None]:
        return nullcontext() if self.search is None else self.search.knowing(answer)


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
