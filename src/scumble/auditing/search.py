"""The search for a violation: from candidate pairs to one event, and from fresh runs of that event to the bound.

    screen every pair  ->  vary the best ones  ->  train and select one event  ->  test it on fresh runs  ->  the bound

The event and its direction are fixed before the test runs are drawn, and every audit computes one bound. The confidence
of the bound is therefore valid no matter how many pairs, events and directions were tried.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scumble.auditing.bounds import Confidence, epsilon_bounds
from scumble.auditing.distinguisher import Event, choose, learn
from scumble.auditing.mechanisms import Mechanism
from scumble.auditing.neighbours import CodedRows, Pair, varied
from scumble.auditing.outcomes import Draws, together
from scumble.errors import InputError
from scumble.flows.progress import Progress
from scumble.foreign.documents import read_json
from scumble.privacy.noise import simulation

CHUNK = 2_000
"""Test runs per worker between two writes of the state file."""
MOST_TRAINING_RUNS = 25_000
MOST_SCREENING_RUNS = 200
SCREENING_DIVISOR = 16
"""To screen a pair, the number of test runs is divided by this (at most the number above): that many runs of each table
train the distinguisher, and the same number selects the event."""
LEADERS = 3
FINAL_FACTOR = 4
"""The best pairs are compared once more, with this many times the screening runs."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work an audit takes.

    `test_runs` runs of each table count towards the bound. Up to a quarter as many train the distinguisher, and the
    same number selects the event. The search also tries `variations` random variations of the best pairs.
    """

    test_runs: int = 10_000
    variations: int = 12
    delta: float = 0.0
    """The declared delta, which the probability of an event may exceed without a violation."""

    @property
    def training_runs(self) -> int:
        return min(MOST_TRAINING_RUNS, max(200, self.test_runs // 4))

    @property
    def screening_runs(self) -> int:
        return min(MOST_SCREENING_RUNS, max(50, self.test_runs // SCREENING_DIVISOR))


@dataclass(frozen=True, kw_only=True)
class EventCounts:
    """How often an event, fixed in advance, happened in the test runs of each table."""

    pair: Pair
    event: Event
    hits: tuple[int, int]
    runs: tuple[int, int]
    all_runs: int
    """Including the runs that chose the pair and the event."""

    def bound(self, confidence: Confidence, delta: float = 0.0) -> float:
        """The lower bound on epsilon, given the declared delta."""
        (here, there), (runs, other_runs) = self.hits, self.runs
        if not self.event.likelier_on_first:
            here, there, runs, other_runs = there, here, other_runs, runs
        return float(epsilon_bounds(here, there, (runs, other_runs), confidence.alpha, delta))

    @property
    def loss(self) -> float:
        """The log ratio of the two frequencies: a point estimate of the privacy loss that the event shows."""
        here, there = self.hits if self.event.likelier_on_first else self.hits[::-1]
        return math.log((here + 0.5) / (there + 0.5))

    @property
    def frequency(self) -> float:
        """The frequency of the event on the table where it is likelier."""
        place = 0 if self.event.likelier_on_first else 1
        return self.hits[place] / max(1, self.runs[place])


DrawRuns = Callable[[Pair, CodedRows, int], Draws]
"""Draws a number of runs on one table of a pair."""


def _no_progress(label: str, done: int, total: int | None) -> None:
    """Reports no progress."""


def search_and_test(
    mechanism: Mechanism,
    pairs: list[Pair],
    effort: Effort,
    *,
    workers: int = 1,
    state: Path | None = None,
    identity: str = "",
    progress: Progress | None = None,
) -> EventCounts:
    """Choose the pair and the event, then count the event in test runs. The file `state` allows an audit to resume."""
    report_progress = progress or _no_progress
    with worker_pool(mechanism, workers) as draw:
        saved = _State.read(state, identity)
        if saved is None:
            pair, looked = best_pair(mechanism, pairs, effort, draw, report_progress)
            training = [draw(pair, rows, effort.training_runs) for rows in (pair.first, pair.second)]
            selection = [draw(pair, rows, effort.training_runs) for rows in (pair.first, pair.second)]
            _, event = choose(learn(training[0], training[1]), selection[0], selection[1], effort.delta)
            saved = _State(identity=identity, pair=pair, event=event, looked=looked + 4 * effort.training_runs)
            saved.write(state)
        while saved.runs < effort.test_runs:
            runs = min(CHUNK * workers, effort.test_runs - saved.runs)
            hits = [saved.event.hits(draw(saved.pair, rows, runs)) for rows in (saved.pair.first, saved.pair.second)]
            saved = replace(saved, hits=(saved.hits[0] + hits[0], saved.hits[1] + hits[1]), runs=saved.runs + runs)
            saved.write(state)
            report_progress("testing the event", saved.runs, effort.test_runs)
    return EventCounts(
        pair=saved.pair,
        event=saved.event,
        hits=saved.hits,
        runs=(saved.runs, saved.runs),
        all_runs=saved.looked + 2 * saved.runs,
    )


def best_pair(
    mechanism: Mechanism, pairs: list[Pair], effort: Effort, draw: DrawRuns, report_progress: Progress = _no_progress
) -> tuple[Pair, int]:
    """The pair whose tables the distinguisher separates best, and how many runs the search took.

    It screens all pairs with few runs each, then random variations of the best pairs so far. The best of all are
    compared once more with more runs.
    """
    if len(pairs) == 1 and not effort.variations:
        return pairs[0], 0
    random, total = simulation(), len(pairs) + effort.variations
    seen: list[tuple[_Separation, Pair]] = []
    for place in range(total):
        leaders = _leaders(seen)
        if place < len(pairs):
            pair = pairs[place]
        else:
            pair = varied(leaders[random.integers(len(leaders))], mechanism.schema, random)
        seen.append((_separation(pair, effort.screening_runs, draw, effort.delta), pair))
        report_progress("searching for a pair", place + 1, total)
    runs = FINAL_FACTOR * effort.screening_runs
    finals = [(_separation(pair, runs, draw, effort.delta), pair) for pair in _leaders(seen)]
    return _leaders(finals)[0], 4 * effort.screening_runs * (total + FINAL_FACTOR * len(finals))


_Separation = tuple[float, float]
"""The lower bound on epsilon from some runs; ties are broken by the difference of the mean log-likelihood ratios."""


def _separation(pair: Pair, runs: int, draw: DrawRuns, delta: float) -> _Separation:
    draws = [draw(pair, rows, runs) for rows in (pair.first, pair.second) for _ in range(2)]
    bound, _ = choose(learn(draws[0], draws[2]), draws[1], draws[3], delta)
    return bound, draws[1].mean_log_ratio - draws[3].mean_log_ratio


def _leaders(seen: list[tuple[_Separation, Pair]]) -> list[Pair]:
    return [pair for _, pair in sorted(seen, key=lambda each: each[0], reverse=True)[:LEADERS]]


@contextmanager
def worker_pool(mechanism: Mechanism, workers: int) -> Iterator[DrawRuns]:
    """A function that draws runs, in this process or in a pool of worker processes."""
    executor: Executor | nullcontext[None] = (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) if workers > 1 else nullcontext()
    )
    with executor as pool:

        def draw(pair: Pair, rows: CodedRows, runs: int) -> Draws:
            if pool is None:
                return mechanism.draw(pair, rows, runs)
            shares = [runs // workers + (worker < runs % workers) for worker in range(workers)]
            busy = [share for share in shares if share]
            return together(pool.map(_draw, repeat(mechanism), repeat(pair), repeat(rows), busy))

        yield draw


def _draw(mechanism: Mechanism, pair: Pair, rows: CodedRows, runs: int) -> Draws:
    return mechanism.draw(pair, rows, runs)


def all_cores() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class _State:
    """The state of an audit, to resume from. It is first written when the event is fixed, before any test run."""

    identity: str
    pair: Pair
    event: Event
    looked: int
    hits: tuple[int, int] = (0, 0)
    runs: int = 0

    def write(self, path: Path | None) -> None:
        if path is None:
            return
        plain: dict[str, Any] = asdict(self) | {"pair": self.pair.to_json(), "event": self.event.to_json()}
        unfinished = path.with_name(f"{path.name}.part")
        unfinished.write_text(json.dumps(plain), encoding="utf-8")
        unfinished.replace(path)

    @classmethod
    def read(cls, path: Path | None, identity: str) -> "_State | None":
        if path is None or not path.exists():
            return None
        try:
            plain = read_json(path, finite=False)
            state = cls(
                identity=plain["identity"],
                pair=Pair.from_json(plain["pair"]),
                event=Event.from_json(plain["event"]),
                looked=int(plain["looked"]),
                hits=(int(plain["hits"][0]), int(plain["hits"][1])),
                runs=int(plain["runs"]),
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(f"{path} is not the state file of an audit. Give another file, or delete it.") from error
        if state.identity != identity:
            raise InputError(f"{path} is the state file of another audit. Give each audit its own state file.")
        return state


def identity_of(*facts: object) -> str:
    """A fingerprint of the audit and its options, which protects against resuming from the state of another audit."""
    return hashlib.sha256("\n".join(map(repr, facts)).encode()).hexdigest()
