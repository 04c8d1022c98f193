"""Transcripts: the answers of one run of a method on one table, with the draws of noise behind each."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from scumble.auditing.transcripts.noise_laws import NoiseLaw
from scumble.auditing.transcripts.observed_draws import Draw, DrawOutcome, SampleOutcome
from scumble.auditing.transcripts.steering import Steered
from scumble.model.counts import Integers
from scumble.model.guarantee import ApproxDP
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Selection
from scumble.privacy.query import Choice, Measurement, RowChoice, RowMeasurement

UNPAID = "a draw outside of every answer"


@dataclass(frozen=True, kw_only=True)
class TranscribedAnswer:
    """What the holder released for one spend, and the draws that made it."""

    label: str
    price: Fraction
    """The part of the declared epsilon, or of the rho that it allows, that the plan counts for this answer, under the
    unit of the plan."""
    draws: tuple[Draw, ...]
    released: Integers
    numbers_per_line: int = 0
    """If the answer consists of lines in ascending order, one for each row of the table; else 0."""
    concentrated: bool = False
    """Whether the price is a rho."""


@dataclass(frozen=True, kw_only=True)
class RunTranscript:
    """All answers of one run, in order, and the release as plain values."""

    answers: tuple[TranscribedAnswer, ...]
    release: dict[str, object]

    @property
    def outcomes(self) -> list[DrawOutcome]:
        return [draw.outcome for answer in self.answers for draw in answer.draws]


OutcomeSource = Callable[[NoiseLaw, Integers, SampleOutcome], DrawOutcome]
"""Decides the outcome of a draw."""


def sampled(law: NoiseLaw, values: Integers, sample: SampleOutcome) -> DrawOutcome:
    """The outcome that the shipped noise source draws."""
    del law, values
    return sample()


class ScriptEnded(Exception):
    """Stops a run at the first draw for which the script has no outcome."""

    def __init__(self, law: NoiseLaw, values: Integers, sample: SampleOutcome) -> None:
        super().__init__()
        self.law, self.values, self.sample = law, values, sample


class Script:
    """A source that repeats given outcomes in order, then stops the run."""

    def __init__(self, outcomes: Sequence[DrawOutcome]) -> None:
        self._outcomes, self._next = outcomes, 0

    def __call__(self, law: NoiseLaw, values: Integers, sample: SampleOutcome) -> DrawOutcome:
        if self._next == len(self._outcomes):
            raise ScriptEnded(law, values, sample)
        self._next += 1
        return self._outcomes[self._next - 1]


@dataclass
class Recorder:
    """Collects the draws of a run and assigns each to the answer during which it was made."""

    source: OutcomeSource
    answers: list[TranscribedAnswer] = field(default_factory=list)
    _draws: list[Draw] | None = None

    def observe(self, law: NoiseLaw, values: Integers, sample: SampleOutcome) -> DrawOutcome:
        draw = Draw(law=law, values=values, outcome=self.source(law, values, sample))
        if self._draws is None:
            released = np.ravel(draw.outcome)
            self.answers.append(TranscribedAnswer(label=UNPAID, price=Fraction(0), draws=(draw,), released=released))
        else:
            self._draws.append(draw)
        return draw.outcome

    @contextmanager
    def answering(self) -> Iterator[list[Draw]]:
        """The draws made within this context belong to one answer."""
        self._draws = []
        try:
            yield self._draws
        finally:
            self._draws = None


class Transcribing(Steered):
    """A holder that reports every answer to a recorder. Its charges, noise and answers are those of the base class."""

    recorder: Recorder

    def choose_apart(
        self,
        queries: Sequence[Choice],
        *,
        spend: str,
        selection: Selection | None = None,
        log_weights: Sequence[float] | None = None,
    ) -> list[int]:
        with self.recorder.answering() as draws:
            chosen = super().choose_apart(queries, spend=spend, selection=selection, log_weights=log_weights)
        self._record(spend, draws, np.array(chosen))
        return chosen

    def choose_in_parts(self, query: RowChoice, *, spend: str, selection: Selection | None = None) -> list[int]:
        with self.recorder.answering() as draws:
            chosen = super().choose_in_parts(query, spend=spend, selection=selection)
        self._record(spend, draws, np.array(chosen))
        return chosen

    def measure(self, query: Measurement | RowMeasurement, *, spend: str) -> Integers:
        with self.recorder.answering() as draws:
            noisy = super().measure(query, spend=spend)
        width = query.numbers_per_row if isinstance(query, RowMeasurement) else 0
        lines = noisy.reshape(-1, width).tolist() if width else []
        self._record(spend, draws, noisy, width if lines == sorted(lines) else 0)
        return noisy

    def disclose(self, query: RowMeasurement) -> Integers:
        exact = super().disclose(query)
        self._record("an exact answer", [], exact)
        return exact

    def _record(self, label: str, draws: Sequence[Draw], released: Integers, numbers_per_line: int = 0) -> None:
        plan = self.plan
        prices = {spend.label: plan.for_persons(spend.total(plan.unit)) / spend.times for spend in plan.spends}
        answer = TranscribedAnswer(
            label=label,
            price=prices.get(label, Fraction(0)),
            draws=tuple(draws),
            released=released.copy(),
            numbers_per_line=numbers_per_line,
            concentrated=isinstance(plan.guarantee, ApproxDP),
        )
        self.recorder.answers.append(answer)


class TranscriptHolder(Transcribing, CentralHolder):
    """The shipped holder of one owner, which reports every answer."""
