"""The mechanisms that an audit runs: the shipped code, many times on one small table, without files or a ledger.

`WholeRelease` runs a method up to its release, with the holder and the noise that `scumble release` uses and a new
noise source for every run. `SingleAnswer` lets the holder answer one query and repeats only the noise, which gives
hundreds of thousands of runs a minute.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from scumble.auditing.laws.queries import engine_of
from scumble.auditing.likelihood_ratio import ComparingHolder
from scumble.auditing.neighbours import CodedRows, Pair
from scumble.auditing.observer import Observer
from scumble.auditing.outcomes import ChoicePath, Draws, Outcome, ReleaseView, gather
from scumble.auditing.persons import pair_engine
from scumble.engines.memory import MemoryEngine
from scumble.methods.method import Method, Params
from scumble.methods.persons import plan_release, run_release
from scumble.model.counts import Block, Counts, Integers, Tabulation
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.model.spend import guarantee_for, priced
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise, Selection
from scumble.privacy.query import Choice, Measurement

ANSWER = "the answer"


class Mechanism(Protocol):
    """A randomized algorithm that can be run on a table any number of times."""

    @property
    def schema(self) -> Schema: ...

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        """What an adversary who knows the pair sees of `runs` independent runs on one of its tables."""


class CachingEngine:
    """A memory engine that caches its tables of counts. The rows of an audit never change."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._known: dict[object, Counts] = {}
        self.rows = engine.rows

    def tabulate(self, request: Tabulation) -> Counts:
        key = (tuple(request.cut.nodes.items()), request.fine)
        if key not in self._known:
            self._known[key] = self._engine.tabulate(request)
        return self._known[key]

    def blocks(self) -> Iterator[Block]:
        return self._engine.blocks()

    def add_up(self, work: Callable[[Iterable[Block]], Any]) -> Any:
        return work(self.blocks())


@dataclass(frozen=True, kw_only=True)
class WholeRelease:
    """A whole release by a method. The plan is computed once, and every run spends the budget by that plan."""

    method: Method
    schema: Schema
    parameters: Params
    noise: Callable[[], Noise] = PaidNoise
    answers: bool = True
    """Whether the adversary sees the holder's answers in addition to the release. The guarantee covers them as well."""
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plan", plan_release(self.method, self.schema, self.parameters))

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        on_first = rows == pair.first
        engine = CachingEngine(pair_engine(self.schema, pair, rows))
        other = CachingEngine(pair_engine(self.schema, pair, pair.second if on_first else pair.first))
        observer = Observer(self.schema, pair)
        names: dict[ChoicePath, tuple[str, ...]] = {}

        def once() -> Outcome:
            holder = ComparingHolder(engine=engine, other=other, noise=self.noise(), plan=self.plan)
            release = run_release(self.method, self.schema, self.parameters, holder)
            view = ReleaseView(release)
            if view.path not in names:
                names[view.path] = view.names
            log_ratio = (holder.log_ratio if on_first else -holder.log_ratio) if self.answers else 0.0
            return Outcome(view.path, view.numbers, observer.observe(view.path, release), log_ratio)

        return gather((once() for _ in range(runs)), names)


@dataclass(frozen=True, kw_only=True)
class SingleAnswer:
    """One query, answered by the shipped holder. The plan consists of this one spend. Pure, unless there is a delta."""

    schema: Schema
    query: Measurement | Choice
    epsilon: Fraction
    delta: Fraction | None = None
    selection: Selection | None = None
    log_weights: Sequence[float] | None = None
    noise: Callable[[], Noise] = PaidNoise

    @property
    def plan(self) -> Plan:
        guarantee = guarantee_for(epsilon=self.epsilon, delta=self.delta, unit=self.schema.unit)
        spend = priced(guarantee, label=ANSWER, share=Fraction(1))
        return Plan(guarantee=guarantee, spends=(spend,), cells_at_most=1)

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        del pair
        batch = BatchNoise(self.noise(), runs)
        holder = CentralHolder(engine=engine_of(self.schema, rows), noise=batch, plan=self.plan)
        if isinstance(self.query, Measurement):
            holder.measure(self.query, spend=ANSWER)
            values = batch.measured.astype(np.float64)
            names = tuple(f"count {place + 1}" for place in range(values.shape[1]))
            return Draws(numbers={(): values}, observed={(): values}, names={(): names})
        holder.choose(self.query, spend=ANSWER, selection=self.selection, log_weights=self.log_weights)
        times = np.bincount(batch.chosen)
        chosen = {(f"candidate {place + 1} is chosen",): int(number) for place, number in enumerate(times) if number}
        return Draws(
            numbers={path: np.zeros((number, 0)) for path, number in chosen.items()},
            observed={path: np.zeros((number, 0)) for path, number in chosen.items()},
            names=dict.fromkeys(chosen, ()),
        )


class BatchNoise:
    """A noise source that draws many times for one request and returns the first draw to the holder.

    Adding independent noise to many copies of the exact answer is the same as that many independent runs.
    """

    def __init__(self, noise: Noise, runs: int) -> None:
        self._noise, self._runs = noise, runs
        self.measured: Integers = np.zeros((0, 0), dtype=np.int64)
        self.chosen: Integers = np.zeros(0, dtype=np.int64)

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        drawn = self._noise.laplace(np.tile(values, self._runs), sensitivity=sensitivity, epsilon=epsilon)
        self.measured = drawn.reshape(self._runs, len(values))
        return self.measured[0]

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        drawn = self._noise.gaussian(np.tile(values, self._runs), squared=squared, rho=rho)
        self.measured = drawn.reshape(self._runs, len(values))
        return self.measured[0]

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        self.chosen = np.array(
            [
                self._noise.select(
                    scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
                )
                for _ in range(self._runs)
            ]
        )
        return int(self.chosen[0])
