"""What is audited: the shipped code path, run often on one small table, with no process, file or ledger per run.

`WholeRelease` runs a method from plan to release, with the holder and the noise that `scumble release` uses, a new
source of noise for each run. `SingleAnswer` has the holder answer one query and repeats the noise alone, so that single
counts and selections are drawn in the hundreds of thousands a minute.
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
from scumble.auditing.outcomes import Draws, Look, Outcome, Path, gather
from scumble.engines.memory import MemoryEngine
from scumble.methods.method import Method, Params
from scumble.model.counts import Block, Counts, Integers, Tabulation
from scumble.model.guarantee import PureDP
from scumble.model.plan import Plan, Spend
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise, Selection
from scumble.privacy.query import Choice, Measurement

ANSWER = "the answer"


class Mechanism(Protocol):
    """Anything that can be run on a table as often as needed."""

    @property
    def schema(self) -> Schema: ...

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        """What an onlooker, who knows the pair, sees of so many independent runs on one of its tables."""


class Remembering:
    """A memory engine that keeps every table of counts it made: the rows of an audit never change."""

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
    """A method from plan to release. It plans once, when it is made, and every run spends by that plan."""

    method: Method
    schema: Schema
    parameters: Params
    noise: Callable[[], Noise] = PaidNoise
    answers: bool = True
    """Whether the adversary sees the holder's answers beside the release, as the guarantee allows them to."""
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plan", self.method.plan(self.schema, self.parameters))

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        on_first = rows == pair.first
        engine = Remembering(engine_of(self.schema, rows))
        other = Remembering(engine_of(self.schema, pair.second if on_first else pair.first))
        observer = Observer(self.schema, pair)
        names: dict[Path, tuple[str, ...]] = {}

        def once() -> Outcome:
            holder = ComparingHolder(engine=engine, other=other, noise=self.noise(), plan=self.plan)
            release = self.method.run(self.schema, self.parameters, holder)
            look = Look(release)
            if look.path not in names:
                names[look.path] = look.names
            evidence = (holder.evidence if on_first else -holder.evidence) if self.answers else 0.0
            return Outcome(look.path, look.numbers, observer.see(look.path, release), evidence)

        return gather((once() for _ in range(runs)), names)


@dataclass(frozen=True, kw_only=True)
class SingleAnswer:
    """One query, answered by the shipped holder; the plan is that single spend."""

    schema: Schema
    query: Measurement | Choice
    epsilon: Fraction
    selection: Selection = Selection.PERMUTE_AND_FLIP
    log_weights: Sequence[float] | None = None
    noise: Callable[[], Noise] = PaidNoise

    @property
    def plan(self) -> Plan:
        spend = Spend(label=ANSWER, epsilon=self.epsilon)
        guarantee = PureDP(epsilon=self.epsilon, unit=self.schema.unit)
        return Plan(guarantee=guarantee, spends=(spend,), cells_at_most=1)

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        del pair
        repeating = Repeating(self.noise(), runs)
        holder = CentralHolder(engine=engine_of(self.schema, rows), noise=repeating, plan=self.plan)
        if isinstance(self.query, Measurement):
            holder.measure(self.query, spend=ANSWER)
            values = repeating.measured.astype(np.float64)
            names = tuple(f"count {place + 1}" for place in range(values.shape[1]))
            return Draws(numbers={(): values}, watched={(): values}, names={(): names})
        holder.choose(self.query, spend=ANSWER, selection=self.selection, log_weights=self.log_weights)
        times = np.bincount(repeating.chosen)
        chosen = {(f"candidate {place + 1} is chosen",): int(number) for place, number in enumerate(times) if number}
        return Draws(
            numbers={path: np.zeros((number, 0)) for path, number in chosen.items()},
            watched={path: np.zeros((number, 0)) for path, number in chosen.items()},
            names=dict.fromkeys(chosen, ()),
        )


class Repeating:
    """A source that draws again and again for one request, of which the holder sees the first draw.

    A vector with the answer many times over, each entry with noise of its own, is as many independent runs.
    """

    def __init__(self, noise: Noise, runs: int) -> None:
        self._noise, self._runs = noise, runs
        self.measured: Integers = np.zeros((0, 0), dtype=np.int64)
        self.chosen: Integers = np.zeros(0, dtype=np.int64)

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        drawn = self._noise.laplace(np.tile(values, self._runs), sensitivity=sensitivity, epsilon=epsilon)
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
