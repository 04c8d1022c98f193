"""The check of a method: the exact privacy loss of transcripts of the shipped code, on pairs of neighbouring tables.

For each pair, some transcripts have the outcomes that the shipped noise source draws, others the outcomes with the
largest loss (`steering.py`). The method then runs again on the other table with the same outcomes. By then, a method is
a function of the outcomes: both runs must make the same draws and the same release.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from scumble.auditing.laws.release_fields import plain_fields
from scumble.auditing.mechanisms import CachingEngine
from scumble.auditing.neighbours import CodedRows, Pair
from scumble.auditing.persons import pair_engine
from scumble.auditing.transcripts.comparison import TranscriptLoss, compare
from scumble.auditing.transcripts.observed_draws import DrawOutcome, DrawTap, observed_opendp
from scumble.auditing.transcripts.steering import Decide, WorstOutcomes
from scumble.auditing.transcripts.tables import shuffled
from scumble.auditing.transcripts.transcript import (
    OutcomeSource,
    Recorder,
    RunTranscript,
    Script,
    ScriptEnded,
    TranscriptHolder,
    sampled,
)
from scumble.errors import InputError
from scumble.methods.method import Method, Params
from scumble.methods.persons import plan_release, run_release
from scumble.model.budget import budget_text
from scumble.model.guarantee import Unit, Unproven, epsilon_of
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.privacy.holder import Tabulates
from scumble.privacy.noise import Noise, PaidNoise, Simulation, simulation


class Execution(Protocol):
    """Something that can be run on a table with observed draws."""

    @property
    def name(self) -> str: ...

    @property
    def schema(self) -> Schema: ...

    @property
    def plan(self) -> Plan: ...

    def observed(self) -> AbstractContextManager[DrawTap]:
        """Within this context the draws of `run` are reported to the tap."""

    def run(self, engine: Tabulates, recorder: Recorder) -> object:
        """Run on a table, report the answers to the recorder, and return the release."""


@dataclass(frozen=True, kw_only=True)
class CentralExecution:
    """A release of one owner: the shipped method, holder and noise source."""

    method: Method
    schema: Schema
    parameters: Params
    noise: Callable[[], Noise] = PaidNoise

    @property
    def name(self) -> str:
        return self.method.name

    @property
    def plan(self) -> Plan:
        return plan_release(self.method, self.schema, self.parameters)

    def observed(self) -> AbstractContextManager[DrawTap]:
        return observed_opendp()

    def run(self, engine: Tabulates, recorder: Recorder) -> object:
        holder = TranscriptHolder(engine=engine, noise=self.noise(), plan=self.plan)
        holder.recorder = recorder
        return run_release(self.method, self.schema, self.parameters, holder)


@dataclass(frozen=True, kw_only=True)
class TranscriptFinding:
    """The largest privacy loss over all transcripts that were compared."""

    name: str
    unit: Unit
    epsilon: Fraction
    proved: bool
    """False if the method itself calls its guarantee unproven."""
    transcripts: int
    largest: Fraction
    """The largest loss of a whole transcript."""
    largest_share: Fraction
    """The largest loss of a single answer, as a share of its price."""
    violation: str = ""
    """What was found to be wrong, on which tables; empty if nothing was."""

    @property
    def sentence(self) -> str:
        """The result in one or two sentences."""
        declared = f"{self.name} declares epsilon {budget_text(self.epsilon)}"
        if self.violation:
            return f"REFUTED: {declared}. {self.violation}"
        return (
            f"No violation: {declared}; the largest privacy loss of {self.transcripts:,} transcripts is "
            f"{float(self.largest):.4f}, and of a single answer {100 * float(self.largest_share):.1f} % of its price."
        )


class TranscriptCheck:
    """Compares transcripts of one execution on pairs of neighbouring tables."""

    def __init__(self, execution: Execution, *, random: "Simulation | None" = None) -> None:
        epsilon = epsilon_of(execution.plan.guarantee)
        if epsilon is None:
            raise InputError(f"{execution.name} declares no epsilon. Choose another method.")
        self.epsilon = epsilon
        self._execution = execution
        self._random = random or simulation()

    def check(self, pairs: Iterable[Pair], *, transcripts: int = 4) -> TranscriptFinding:
        """Compare `transcripts` transcripts on each pair, until one violates the guarantee."""
        compared, largest, share, violation = 0, Fraction(0), Fraction(0), ""
        for pair in pairs:
            for comparison in self.comparisons(shuffled(pair, self._random), transcripts):
                compared += 1
                violation = comparison.violation(self.epsilon)
                if violation:
                    violation = f"{violation} {pair.words(self._execution.schema)}."
                    break
                largest = max(largest, comparison.total.size)
                shares = (answer.loss.size / answer.price for answer in comparison.answers if answer.price)
                share = max(share, *shares, Fraction(0))
            if violation:
                break
        return TranscriptFinding(
            name=self._execution.name,
            unit=self._execution.plan.unit,
            epsilon=self.epsilon,
            proved=not isinstance(self._execution.plan.guarantee, Unproven),
            transcripts=compared,
            largest=largest,
            largest_share=share,
            violation=violation,
        )

    def comparisons(self, pair: Pair, transcripts: int) -> Iterator[TranscriptLoss]:
        """The worst transcript of each table, then in turns sampled, partly random and partly worst ones."""
        with self._execution.observed() as tap:
            runs = _Runs(self._execution, tap)
            engines = [self._engine(pair, rows) for rows in (pair.first, pair.second)]
            for number in range(transcripts):
                here, there = engines if number % 2 == 0 else reversed(engines)
                if number % 4 < 2:
                    share = 1.0 if number < 2 else 0.7
                    yield runs.steered(here, there, WorstOutcomes(self._random, share=share))
                else:
                    yield runs.repeated(here, there)

    def _engine(self, pair: Pair, rows: CodedRows) -> CachingEngine:
        return CachingEngine(pair_engine(self._execution.schema, pair, rows))


class _Runs:
    """Runs an execution with chosen outcomes."""

    def __init__(self, execution: Execution, tap: DrawTap) -> None:
        self._execution, self._tap = execution, tap

    def repeated(self, here: Tabulates, there: Tabulates) -> TranscriptLoss:
        """A transcript as the noise source draws it on one table, compared with the other."""
        first = self._transcript(here, sampled)
        second = self._until(there, first.outcomes)
        return _compared(first, second)

    def steered(self, here: Tabulates, there: Tabulates, decide: Decide) -> TranscriptLoss:
        """A transcript whose outcomes are decided one by one, from the exact values of both tables."""
        outcomes: list[DrawOutcome] = []
        while True:
            first, second = (self._until(engine, outcomes) for engine in (here, there))
            if isinstance(first, RunTranscript) or isinstance(second, RunTranscript):
                return _compared(first, second)
            if first.law != second.law or first.values.shape != second.values.shape:
                return TranscriptLoss(fault="the next draw differs between the tables")
            outcomes.append(decide(first.law, first.values, second.values, first.sample))

    def _until(self, engine: Tabulates, outcomes: list[DrawOutcome]) -> RunTranscript | ScriptEnded:
        """The transcript with these outcomes, or the first draw that has none."""
        try:
            return self._transcript(engine, Script(outcomes))
        except ScriptEnded as end:
            return end

    def _transcript(self, engine: Tabulates, source: OutcomeSource) -> RunTranscript:
        recorder = Recorder(source=source)
        self._tap.observer = recorder.observe
        release = self._execution.run(engine, recorder)
        return RunTranscript(answers=tuple(recorder.answers), release=plain_fields(release))


def _compared(first: RunTranscript | ScriptEnded, second: RunTranscript | ScriptEnded) -> TranscriptLoss:
    if isinstance(first, RunTranscript) and isinstance(second, RunTranscript):
        return compare(first, second)
    return TranscriptLoss(fault="one of the two tables needs more draws")
