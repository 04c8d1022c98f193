"""How many runs an audit makes in a minute, and how much more a run costs than the noise it draws.

    python benchmarks/audit.py [--runs 2000] [--workers 2]

`per minute` is by the clock on all cores, so it depends on what else the machine does; `one core` is by CPU seconds of
one process. The last column divides a run by the bare draws: the same requests to the shipped source of noise, nothing
else. It hardly depends on the machine.
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
from scumble.auditing.search import all_cores, crew_of
from scumble.auditing.single_answers import one_count, one_selection
from scumble.model.counts import Integers
from scumble.privacy.noise import PaidNoise, Selection

REPEATS = 3
SINGLE_TIMES = 50
"""Single answers are so much quicker that they are timed on so many times the runs."""


class Recording(PaidNoise):
    """Shipped noise that keeps every request, to be made again."""

    def __init__(self) -> None:
        self.requests: list[Callable[[], object]] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        again = partial(PaidNoise().laplace, values, sensitivity=sensitivity, epsilon=epsilon)
        self.requests.append(again)
        return again()

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        again = partial(
            PaidNoise().select,
            scores,
            sensitivity=sensitivity,
            monotone=monotone,
            epsilon=epsilon,
            selection=selection,
        )
        self.requests.append(again)
        return again()


def requests(mechanism: WholeRelease | SingleAnswer, pair: Pair, runs: int) -> list[Callable[[], object]]:
    """What so many runs ask of the source of noise."""
    noise = Recording()
    replace(mechanism, noise=lambda: noise).draw(pair, pair.second, runs)
    return noise.requests


def seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """The shortest of a few times."""
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
    with crew_of(mechanism, workers) as draw:
        draw(pair, pair.second, 10 * workers)
        by_clock = seconds(lambda: draw(pair, pair.second, runs), time.perf_counter)
    by_cpu = seconds(lambda: mechanism.draw(pair, pair.second, runs), time.process_time)
    asked = requests(mechanism, pair, runs)
    bare = seconds(lambda: [again() for again in asked], time.process_time)
    name = f"{subject.name} {words_of(subject.parameters)}".strip()
    return f"| {name} | {60 * runs / by_clock:,.0f} | {60 * runs / by_cpu:,.0f} | {by_cpu / bare:.1f} |"


def main() -> None:
    words = argparse.ArgumentParser(description="Runs of an audit in a minute.")
    words.add_argument("--runs", type=int, default=1_000)
    words.add_argument("--workers", type=int, default=all_cores())
    given = words.parse_args()
    print(f"| at eps 1 | runs per minute, {given.workers} cores | one core | a run over its bare draws |")
    print("|---|---|---|---|")
    for subject in (one_count(Fraction(1)), one_selection(Fraction(1))):
        print(line(subject, given.runs, given.workers), flush=True)
    for method, settings in audited_modes():
        subject = method_subject(method, parameters={**settings, "epsilon": 1})
        print(line(subject, given.runs, given.workers), flush=True)


if __name__ == "__main__":
    main()
