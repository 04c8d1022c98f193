"""Measures the runs per minute of an audit, and the cost of a run compared with the cost of its noise.

    python benchmarks/audit.py [--runs 2000] [--workers 2]

The figures by wall-clock time use all worker processes and depend on the load of the machine. The figures by CPU time
are of one process. The last column divides the cost of a run by the cost of its noise requests alone, and hardly
depends on the machine.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

from scumble.auditing.audit import Subject, method_subject
from scumble.auditing.laws.cases import audited_modes
from scumble.auditing.mechanisms import SingleAnswer, WholeRelease
from scumble.auditing.neighbours import Pair
from scumble.auditing.report import words_of
from scumble.auditing.single_answers import one_count, one_selection
from scumble.auditing.workers import all_cores, worker_pool
from scumble.model.counts import Integers
from scumble.privacy.noise import PaidNoise, Selection

REPEATS = 3
SINGLE_TIMES = 50
"""Single answers are fast, so they are timed on this many times as many runs."""


class RequestRecorder(PaidNoise):
    """The production noise, which also records every request so that it can be repeated."""

    def __init__(self) -> None:
        self.requests: list[Callable[[], object]] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        repeat = partial(PaidNoise().laplace, values, sensitivity=sensitivity, epsilon=epsilon)
        self.requests.append(repeat)
        return repeat()

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        repeat = partial(
            PaidNoise().select,
            scores,
            sensitivity=sensitivity,
            monotone=monotone,
            epsilon=epsilon,
            selection=selection,
        )
        self.requests.append(repeat)
        return repeat()


def requests(mechanism: WholeRelease | SingleAnswer, pair: Pair, runs: int) -> list[Callable[[], object]]:
    """The noise requests of `runs` runs."""
    noise = RequestRecorder()
    replace(mechanism, noise=lambda: noise).draw(pair, pair.second, runs)
    return noise.requests


def seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """The shortest of several measurements."""
    taken = []
    for _ in range(REPEATS):
        start = clock()
        work()
        taken.append(clock() - start)
    return min(taken)


def line(subject: Subject, runs: int, workers: int) -> str:
    mechanism, pair = subject.mechanism, subject.pairs[-1]
    assert isinstance(mechanism, WholeRelease | SingleAnswer)
    runs *= SINGLE_TIMES if isinstance(mechanism, SingleAnswer) else 1
    with worker_pool(mechanism, workers) as draw:
        draw(pair, pair.second, 10 * workers)
        by_clock = seconds(lambda: draw(pair, pair.second, runs), time.perf_counter)
    by_cpu = seconds(lambda: mechanism.draw(pair, pair.second, runs), time.process_time)
    draws = requests(mechanism, pair, runs)
    bare = seconds(lambda: [repeat() for repeat in draws], time.process_time)
    name = f"{subject.name} {words_of(subject.parameters)}".strip()
    return f"| {name} | {60 * runs / by_clock:,.0f} | {60 * runs / by_cpu:,.0f} | {by_cpu / bare:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the runs per minute of an audit.")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=all_cores())
    given = parser.parse_args()
    words = f"runs per minute of wall-clock time, {given.workers} processes"
    print(f"| at eps 1 | {words} | runs per minute of CPU time | cost of a run / cost of its noise |")
    print("|---|---|---|---|")
    for subject in (one_count(Fraction(1)), one_selection(Fraction(1))):
        print(line(subject, given.runs, given.workers), flush=True)
    for method, settings in audited_modes():
        subject = method_subject(method, parameters={**settings, "epsilon": 1})
        print(line(subject, given.runs, given.workers), flush=True)


if __name__ == "__main__":
    main()
