"""The search for a violation: from candidate pairs to one event, and from fresh runs of that event to the bound.

    screen every pair  ->  vary the best ones  ->  train and select one event  ->  test it on fresh runs  ->  the bound

The event and its direction are fixed before the test runs are drawn, and every audit computes one bound. The confidence
of the bound is therefore valid no matter how many pairs, events and directions were tried.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from scumble.auditing.audit_state import AuditState, FixedTest, Screened, Separation
from scumble.auditing.bounds import Confidence, epsilon_bounds
from scumble.auditing.distinguisher import Event, choose, learn
from scumble.auditing.mechanisms import Mechanism
from scumble.auditing.neighbours import Pair, varied
from scumble.auditing.workers import DrawRuns, Pace, worker_pool
from scumble.flows.progress import Progress
from scumble.privacy.noise import simulation

PARTS = 20
"""The test runs are drawn in so many parts; after each, the state is written and the bound so far is shown."""
MOST_TRAINING_RUNS = 25_000
MOST_SCREENING_RUNS = 200
FEWEST_SCREENING_RUNS = 25
SCREENING_DIVISOR = 16
"""To screen a pair, the number of test runs is divided by this (at most the number above): that many runs of each table
train the distinguisher, and the same number selects the event."""
LEADERS = 3
FINAL_FACTOR = 4
"""The best pairs are compared once more, with this many times the screening runs."""
MOST_TEST_RUNS = 10_000
FEWEST_TEST_RUNS = 100
SEARCH_SHARE, TRAINING_SHARE, TEST_SHARE = 0.4, 0.2, 0.4
"""How an audit that is limited by time divides it."""
PILOT_RUNS = 10
"""Runs of the first and the last pair, in every worker, by which the speed is estimated."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work an audit takes.

    `test_runs` runs of each table count towards the bound. Up to a quarter as many train the distinguisher, and the
    same number selects the event. The search also tries `variations` random variations of the best pairs. With
    `seconds`, all numbers of runs follow from the speed of the method, so that the audit takes about so long; the
    number of test runs is then fixed before the first of them, and is at most `test_runs`.
    """

    test_runs: int = MOST_TEST_RUNS
    variations: int = 12
    seconds: float | None = None
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
    confidence: Confidence | None = None,
) -> EventCounts:
    """Choose the pair and the event, then count the event in test runs. The file `state` allows an audit to resume.

    The bound so far is reported at the level `confidence`. Only the last one, after all test runs, has that confidence.
    """
    report_progress = progress or _no_progress
    saved = AuditState.read(state, identity)
    with worker_pool(mechanism, workers) as draw:
        test = saved.test
        if test is None:
            test = _fixed_test(mechanism, pairs, effort, Pace(draw), workers, saved, state, report_progress)
        while test.runs < test.test_runs:
            runs = min(max(-(-test.test_runs // PARTS), workers), test.test_runs - test.runs)
            hits = [test.event.hits(draw(test.pair, rows, runs)) for rows in (test.pair.first, test.pair.second)]
            test = replace(test, hits=(test.hits[0] + hits[0], test.hits[1] + hits[1]), runs=test.runs + runs)
            replace(saved, test=test).write(state)
            bound = None if confidence is None else _counts(test).bound(confidence, effort.delta)
            so_far = "" if bound is None else f", lower bound so far {bound:.3f}"
            report_progress(f"testing the event{so_far}", test.runs, test.test_runs)
    return _counts(test)


def _counts(test: FixedTest) -> EventCounts:
    return EventCounts(
        pair=test.pair,
        event=test.event,
        hits=test.hits,
        runs=(test.runs, test.runs),
        all_runs=test.looked + 2 * test.runs,
    )


def _fixed_test(
    mechanism: Mechanism,
    pairs: list[Pair],
    effort: Effort,
    pace: Pace,
    workers: int,
    saved: AuditState,
    state: Path | None,
    report_progress: Progress,
) -> FixedTest:
    """Search for the pair, train, and fix the event and the number of test runs."""
    seconds, screening = effort.seconds, saved.screening_runs or effort.screening_runs
    if seconds is not None and not saved.screening_runs:
        screening = _screening_within(SEARCH_SHARE * seconds, pairs, effort, pace, workers, report_progress)

    def screened(seen: list[Screened]) -> None:
        replace(saved, screening_runs=screening, screened=tuple(seen)).write(state)

    search = Search(
        runs=screening,
        delta=effort.delta,
        variations=effort.variations,
        until=None if seconds is None else time.monotonic() + SEARCH_SHARE * seconds,
        seen=saved.screened,
    )
    pair, looked = search.best(mechanism, pairs, pace, report_progress, screened)
    test_runs, training = effort.test_runs, effort.training_runs
    if seconds is not None:
        training = min(training, max(2 * FEWEST_TEST_RUNS, pace.runs_within(TRAINING_SHARE * seconds) // 4))
        pace.restart()
    draws = []
    for rows in (pair.first, pair.second, pair.first, pair.second):
        draws.append(pace.draw(pair, rows, training))
        report_progress("training the distinguisher", len(draws), 4)
    _, event = choose(learn(draws[0], draws[1]), draws[2], draws[3], effort.delta)
    if seconds is not None:
        test_runs = min(test_runs, max(FEWEST_TEST_RUNS, pace.runs_within(TEST_SHARE * seconds) // 2))
    test = FixedTest(pair=pair, event=event, test_runs=test_runs, looked=looked + 4 * training)
    replace(saved, test=test).write(state)
    return test


def _screening_within(
    seconds: float, pairs: list[Pair], effort: Effort, pace: Pace, workers: int, report_progress: Progress
) -> int:
    """How many runs may screen each pair, if the whole search is to take so long."""
    report_progress("measuring the speed", 0, None)
    pace.draw(pairs[0], pairs[0].second, workers)  # starts the workers
    pace.restart()
    for pair in (pairs[0], pairs[-1]):
        pace.draw(pair, pair.second, PILOT_RUNS * workers)
    all_tables = 4 * (len(pairs) + effort.variations + FINAL_FACTOR * LEADERS)
    return min(MOST_SCREENING_RUNS, max(FEWEST_SCREENING_RUNS, pace.runs_within(seconds) // all_tables))


def best_pair(
    mechanism: Mechanism, pairs: list[Pair], effort: Effort, draw: DrawRuns, report_progress: Progress = _no_progress
) -> tuple[Pair, int]:
    """The pair whose tables the distinguisher separates best, and how many runs the search took."""
    search = Search(runs=effort.screening_runs, delta=effort.delta, variations=effort.variations)
    return search.best(mechanism, pairs, Pace(draw), report_progress)


@dataclass(frozen=True, kw_only=True)
class Search:
    """The search for a pair: it screens all pairs with few runs each, then random variations of the best pairs so far.
    The best of all are compared once more with more runs. After the time `until` no further variation is tried."""

    runs: int
    delta: float
    variations: int
    until: float | None = None
    seen: tuple[Screened, ...] = ()
    """Pairs that were screened before an interruption."""

    def best(
        self,
        mechanism: Mechanism,
        pairs: list[Pair],
        pace: Pace,
        report_progress: Progress = _no_progress,
        screened: Callable[[list[Screened]], None] = lambda seen: None,
    ) -> tuple[Pair, int]:
        """The pair whose tables the distinguisher separates best, and how many runs the search took."""
        if len(pairs) == 1 and not self.variations:
            return pairs[0], 0
        random, total, seen = simulation(), len(pairs) + self.variations, list(self.seen)
        for place in range(len(seen), total):
            leaders = _leaders(seen)
            if place < len(pairs):
                pair = pairs[place]
            elif self.until is not None and time.monotonic() > self.until:
                break
            else:
                pair = varied(leaders[random.integers(len(leaders))], mechanism.schema, random)
            seen.append((self._separation(pair, self.runs, pace), pair))
            screened(seen)
            report_progress("searching for a pair", place + 1, total)
        runs = FINAL_FACTOR * self.runs
        finals = [(self._separation(pair, runs, pace), pair) for pair in _leaders(seen)]
        return _leaders(finals)[0], 4 * self.runs * (len(seen) + FINAL_FACTOR * len(finals))

    def _separation(self, pair: Pair, runs: int, pace: Pace) -> Separation:
        draws = [pace.draw(pair, rows, runs) for rows in (pair.first, pair.second) for _ in range(2)]
        bound, _ = choose(learn(draws[0], draws[2]), draws[1], draws[3], self.delta)
        return bound, draws[1].mean_log_ratio - draws[3].mean_log_ratio


def _leaders(seen: list[Screened]) -> list[Pair]:
    return [pair for _, pair in sorted(seen, key=lambda each: each[0], reverse=True)[:LEADERS]]
