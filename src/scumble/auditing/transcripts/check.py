"""The check of a method: the exact privacy loss of transcripts of the shipped code, on pairs of neighbouring tables.

For each pair, some transcripts have the outcomes that the shipped noise source draws, others the outcomes with the
largest loss (`steering.py`). The method then runs again on the other table with the same outcomes. By then, a method is
a function of the outcomes: both runs must make the same draws and the same release. Under approximate differential
privacy the exact rho of every answer is compared with its price instead: no outcome has the largest loss.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Protocol

from scumble.auditing.laws.release_fields import plain_fields
from scumble.auditing.mechanisms import CachingEngine
from scumble.auditing.neighbours import CodedRows, Pair
from scumble.auditing.persons import pair_engine
from scumble.auditing.transcripts.comparison import TranscriptLoss, compare
from scumble.auditing.transcripts.finding import TranscriptFinding
from scumble.auditing.transcripts.observed_draws import DrawOutcome, DrawTap, observed_opendp
from scumble.auditing.transcripts.steering import Decide, OutcomeSearch, WorstOutcomes
from scumble.auditing.transcripts.tables import shuffled
from scumble.auditing.transcripts.transcript import (
    OutcomeSource,
    Recorder,
    RunTranscript,
    Script,
    ScriptEnded,
    Transcribing,
    TranscriptHolder,
    sampled,
)
from scumble.errors import InputError
from scumble.flows.progress import Progress
from scumble.methods.method import Method, Params
from scumble.methods.persons import plan_release, run_release
from scumble.model.guarantee import ApproxDP, Unproven, epsilon_of
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.model.spend import budget_of
from scumble.privacy.holder import Holder, Tabulates
from scumble.privacy.noise import Noise, PaidNoise, Simulation, simulation

WORST_SHARE = 0.7
"""In transcripts of worst and random outcomes, the share of the former."""


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

    def holder(self, engine: Tabulates) -> Transcribing:
        """A new holder of a table."""

    def run(self, holder: Holder) -> object:
        """Run on a holder and return the release."""


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

    @cached_property
    def plan(self) -> Plan:
        return plan_release(self.method, self.schema, self.parameters)

    def observed(self) -> AbstractContextManager[DrawTap]:
        return observed_opendp()

    def holder(self, engine: Tabulates) -> Transcribing:
        return TranscriptHolder(engine=engine, noise=self.noise(), plan=self.plan)

    def run(self, holder: Holder) -> object:
        return run_release(self.method, self.schema, self.parameters, holder)


class TranscriptCheck:
    """Compares transcripts of one execution on pairs of neighbouring tables."""

    def __init__(self, execution: Execution, *, random: "Simulation | None" = None) -> None:
        epsilon = epsilon_of(execution.plan.guarantee)
        if epsilon is None:
            raise InputError(f"{execution.name} declares no epsilon. Choose another method.")
        self.epsilon = epsilon
        guarantee = execution.plan.guarantee
        self.delta = guarantee.delta if isinstance(guarantee, ApproxDP) else None
        self._limit = budget_of(guarantee) or epsilon
        self._execution = execution
        self._random = random or simulation()

    def check(
        self,
        pairs: Iterable[Pair],
        *,
        transcripts: int = 4,
        at_most: int | None = None,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> TranscriptFinding:
        """Compare `transcripts` transcripts on each pair, `at_most` in total, until one violates the guarantee or, with
        `seconds`, until so much time has passed."""
        ends = math.inf if seconds is None else time.monotonic() + seconds
        compared, largest, share, violation = 0, Fraction(0), Fraction(0), ""
        each = ((pair, loss) for pair in pairs for loss in self.comparisons(shuffled(pair, self._random), transcripts))
        for pair, comparison in islice(each, at_most):
            compared += 1
            if progress is not None:
                progress("comparing transcripts", compared, at_most)
            largest = max(largest, comparison.total.size)
            shares = (answer.loss.size / answer.price for answer in comparison.answers if answer.price)
            share = max(share, *shares, Fraction(0))
            violation = comparison.violation(self._limit, "epsilon" if self.delta is None else "rho")
            if violation:
                violation = f"{violation} {pair.words(self._execution.schema)}."
            if violation or time.monotonic() > ends:
                break
        return TranscriptFinding(
            name=self._execution.name,
            unit=self._execution.plan.unit,
            epsilon=self.epsilon,
            delta=self.delta,
            proved=not isinstance(self._execution.plan.guarantee, Unproven),
            transcripts=compared,
            largest=largest,
            largest_share=share,
            violation=violation,
        )

    def comparisons(self, pair: Pair, transcripts: int) -> Iterator[TranscriptLoss]:
        """The worst transcript of each table; then, in turns, sampled ones and ones of worst and random outcomes."""
        with self._execution.observed() as tap:
            runs = _Runs(self._execution, tap)
            engines = [self._engine(pair, rows) for rows in (pair.first, pair.second)]
            for number in range(transcripts):
                here, there = engines if number % 2 == 0 else reversed(engines)
                if number < 2:
                    yield runs.steered(here, there, WorstOutcomes(self._random))
                elif number % 3 == 2:
                    yield runs.repeated(here, there)
                else:
                    yield runs.steered(here, there, WorstOutcomes(self._random, share=WORST_SHARE))

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
        """A transcript whose outcomes are decided one by one, from the exact values of both tables.

        A first run chooses the outcomes. The transcripts come from independent runs on each of the tables.
        """
        search = OutcomeSearch(self._tap, decide)
        holder = self._execution.holder(here)
        holder.recorder, holder.search, holder.other = Recorder(sampled), search, self._execution.holder(there)
        self._tap.observer = search.observe
        self._execution.run(holder)
        return _compared(self._until(here, search.outcomes), self._until(there, search.outcomes))

    def _until(self, engine: Tabulates, outcomes: list[DrawOutcome]) -> RunTranscript | ScriptEnded:
        """The transcript with these outcomes, or the first draw that has none."""
        try:
            return self._transcript(engine, Script(outcomes))
        except ScriptEnded as end:
            return end

    def _transcript(self, engine: Tabulates, source: OutcomeSource) -> RunTranscript:
        recorder, holder = Recorder(source), self._execution.holder(engine)
        holder.recorder, self._tap.observer = recorder, recorder.observe
        release = self._execution.run(holder)
        return RunTranscript(answers=tuple(recorder.answers), release=plain_fields(release))


def _compared(first: RunTranscript | ScriptEnded, second: RunTranscript | ScriptEnded) -> TranscriptLoss:
    if isinstance(first, RunTranscript) and isinstance(second, RunTranscript):
        return compare(first, second)
    return TranscriptLoss(fault="one of the two tables needs more draws")
