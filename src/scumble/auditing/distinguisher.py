"""The distinguisher: learns, from runs on two tables, an event that is likely on one table and unlikely on the other.

Every outcome gets a score, which is a sum of estimated log-likelihood ratios: of each choice given the previous
choices, and of each published number given all choices. An event is "the score is at least a threshold". A badly
trained distinguisher weakens an audit but cannot cause a false alarm, because the event is tested on separate runs.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.auditing.bounds import epsilon_bounds
from scumble.auditing.outcomes import ChoicePath, Draws, Numbers
from scumble.model.counts import Floats

FEWEST_RUNS_OF_PATH = 100
"""Numbers of a path are learned only if the path occurs at least this often, on both tables together. For rarer paths
the score uses the numbers about the differing record."""
MOST_BINS = 32
SIGNIFICANT = 2.5
"""Log ratios within this many standard deviations of zero are ignored, unless this would leave no choice."""
SINGLE_NUMBERS = 3
"""How many single numbers are tried as events, beside the sums: those whose means differ most."""
SELECTION_ALPHA = 1e-6
"""The error rate of the bounds by which events are compared. It only affects which event is tested. A larger rate would
prefer rare events that differed by sampling error alone."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one number contributes to the score: `values[i]` if it lies between `edges[i - 1]` and `edges[i]`."""

    place: int
    edges: tuple[float, ...]
    values: tuple[float, ...]

    def add(self, numbers: Numbers) -> Floats:
        return np.array(self.values)[np.searchsorted(self.edges, numbers[:, self.place], side="right")]


@dataclass(frozen=True, kw_only=True)
class Event:
    """The outcomes whose score is at least `threshold`. Stored as plain data, so that an audit can be resumed."""

    words: str
    likelier_on_first: bool = True
    threshold: float = 0.0
    steps: Mapping[ChoicePath, float]
    """The log ratio of the last choice, by the path up to it."""
    parts: Mapping[ChoicePath, tuple[Part, ...]]
    """Contributions of numbers, by complete path; under `ANY_PATH` those of the numbers about the differing record."""
    weight: float = 0.0
    """Weight of the log-likelihood ratio of the holder's answers, which is computed and not learned."""

    def scores(self, draws: Draws) -> dict[ChoicePath, Floats]:
        found = {}
        for path, numbers in draws.numbers.items():
            base = sum(self.steps.get(path[:length], 0.0) for length in range(len(path) + 1))
            score = np.full(len(numbers), base)
            if path in self.parts:
                score += sum(part.add(numbers) for part in self.parts[path])
            else:
                observed = draws.observed[path]
                some = (part for part in self.parts.get(ANY_PATH, ()) if part.place < observed.shape[1])
                score += sum(part.add(observed) for part in some)
            if self.weight:
                score += self.weight * draws.log_ratio[path]
            found[path] = score
        return found

    def hits(self, draws: Draws) -> int:
        return sum(int((score >= self.threshold).sum()) for score in self.scores(draws).values())

    def negated(self) -> "Event":
        return replace(
            self,
            steps={path: -value for path, value in self.steps.items()},
            parts={
                path: tuple(replace(part, values=tuple(-value for value in part.values)) for part in parts)
                for path, parts in self.parts.items()
            },
            weight=-self.weight,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "likelier_on_first": self.likelier_on_first,
            "threshold": self.threshold,
            "weight": self.weight,
            "steps": [[path, value] for path, value in self.steps.items()],
            "parts": [[p, [[x.place, x.edges, x.values] for x in parts]] for p, parts in self.parts.items()],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Event":
        return cls(
            words=data["words"],
            likelier_on_first=data["likelier_on_first"],
            threshold=data["threshold"],
            weight=data.get("weight", 0.0),
            steps={tuple(path): value for path, value in data["steps"]},
            parts={
                tuple(path): tuple(
                    Part(place=place, edges=tuple(edges), values=tuple(values)) for place, edges, values in parts
                )
                for path, parts in data["parts"]
            },
        )


ANY_PATH: ChoicePath = ("*",)


def learn(first: Draws, second: Draws) -> list[Event]:
    """The scores to try: choices and numbers together, choices alone, single numbers, and the holder's answers."""
    steps = _steps(first, second, SIGNIFICANT) or _steps(first, second, 0.0)
    parts = {
        path: _parts(first.numbers[path], second.numbers[path])
        for path in first.numbers.keys() & second.numbers.keys()
        if len(first.numbers[path]) + len(second.numbers[path]) >= FEWEST_RUNS_OF_PATH
    }
    observed = {ANY_PATH: _parts(_all_observed(first), _all_observed(second))}
    scores = [
        Event(words="all choices and numbers together are", steps=steps, parts=observed | parts),
        Event(words="the choices and the count of the record's cell are", steps=steps, parts=observed),
        Event(words="the count of the record's cell is", steps={}, parts=observed),
    ]
    if steps:
        scores.append(Event(words="the choices and published domains alone are", steps=steps, parts={}))
    if first.log_ratio and second.log_ratio:
        scores.append(Event(words="the holder's answers are", steps={}, parts={}, weight=1.0))
    return [*scores, *_single_numbers(first, second)]


def _all_observed(draws: Draws) -> Numbers:
    width = max((numbers.shape[1] for numbers in draws.observed.values()), default=0)
    every = [numbers for numbers in draws.observed.values() if numbers.shape[1] == width]
    return np.concatenate([np.zeros((0, width)), *every])


def choose(scores: Iterable[Event], first: Draws, second: Draws, delta: float = 0.0) -> tuple[float, Event]:
    """The event with the largest bound on these runs, over all scores, both signs, all thresholds and both directions.

    If every bound is zero, it is the event whose frequencies differ by the most standard deviations.
    """
    runs = first.runs, second.runs
    best, chosen = (-1.0, 0.0), None
    for score in (each for event in scores for each in (event, event.negated())):
        here, there = (np.sort(np.concatenate(list(score.scores(draws).values()))) for draws in (first, second))
        thresholds = np.unique(np.concatenate([here, there]))
        if len(thresholds) > 200:
            thresholds = np.unique(np.quantile(thresholds, np.linspace(0, 1, 200), method="lower"))
        hits = runs[0] - np.searchsorted(here, thresholds), runs[1] - np.searchsorted(there, thresholds)
        for on_first in (True, False):
            likely, unlikely = hits if on_first else hits[::-1]
            bounds = epsilon_bounds(likely, unlikely, runs if on_first else runs[::-1], SELECTION_ALPHA, delta)
            apart = (likely - unlikely) / np.sqrt(likely + unlikely + 1.0)
            place = int(np.lexsort((apart, bounds))[-1])
            separation = float(bounds[place]), float(apart[place])
            if separation > best:
                best = separation
                chosen = replace(score, likelier_on_first=on_first, threshold=float(thresholds[place]))
    assert chosen is not None, "learn returns at least one score"
    return best[0], replace(chosen, words=_words(chosen))


def _steps(first: Draws, second: Draws, least: float) -> dict[ChoicePath, float]:
    """For each initial part of a path, the log ratio of its last choice given the previous ones."""
    sizes = [Counter[ChoicePath](), Counter[ChoicePath]()]
    for draws, size in zip((first, second), sizes, strict=True):
        for path, number in draws.sizes().items():
            for length in range(len(path) + 1):
                size[path[:length]] += number
    ratios = {}
    for path in (sizes[0] | sizes[1]).keys() - {()}:
        above = path[:-1]
        ratio = _log_ratio(sizes[0][path], sizes[0][above], sizes[1][path], sizes[1][above], least)
        if ratio:
            ratios[path] = ratio
    return ratios


def _log_ratio(hits: int, runs: int, other_hits: int, other_runs: int, least: float = SIGNIFICANT) -> float:
    ratio = math.log((hits + 0.5) / (runs + 1)) - math.log((other_hits + 0.5) / (other_runs + 1))
    spread = math.sqrt(1 / (hits + 0.5) + 1 / (other_hits + 0.5))
    return ratio if abs(ratio) > least * spread else 0.0


def _parts(first: Numbers, second: Numbers) -> tuple[Part, ...]:
    """For each number that differs between the tables, the log ratio of every bin."""
    found = []
    for place in range(min(first.shape[1], second.shape[1])):
        edges = _edges(np.concatenate([first[:, place], second[:, place]]))
        counts = [
            np.bincount(np.searchsorted(edges, numbers[:, place], side="right"), minlength=len(edges) + 1)
            for numbers in (first, second)
        ]
        values = tuple(
            _log_ratio(int(here), len(first), int(there), len(second)) for here, there in zip(*counts, strict=True)
        )
        if any(values):
            found.append(Part(place=place, edges=tuple(edges.tolist()), values=values))
    return tuple(found)


def _edges(values: Numbers) -> npt.NDArray[np.float64]:
    """The lower edges of the bins, except the first: every distinct value if there are few, quantiles otherwise."""
    distinct = np.unique(values)
    if len(distinct) > MOST_BINS:
        distinct = np.unique(np.quantile(values, np.linspace(0, 1, MOST_BINS), method="lower"))
    return distinct[1:]


def _single_numbers(first: Draws, second: Draws) -> Iterator[Event]:
    """Events about one number: those about the differing record, and those that differ most on the commonest path."""
    here, there = _all_observed(first), _all_observed(second)
    for place in range(min(here.shape[1], there.shape[1])):
        yield from _ranks(here[:, place], there[:, place], ANY_PATH, place, "the count of the record's cell")
    sizes = Counter(first.sizes()) + Counter(second.sizes())
    if not sizes:
        return
    path = sizes.most_common(1)[0][0]
    some, others = (draws.numbers.get(path) for draws in (first, second))
    if some is None or others is None or some.shape[1] == 0:
        return
    spread = np.concatenate([some, others]).std(axis=0) + 1e-12
    difference = np.abs(some.mean(axis=0) - others.mean(axis=0)) / spread
    for place in np.argsort(-difference)[:SINGLE_NUMBERS].tolist():
        yield from _ranks(some[:, place], others[:, place], path, place, first.names[path][place])


def _ranks(here: Numbers, there: Numbers, path: ChoicePath, place: int, name: str) -> Iterator[Event]:
    """Scores by one number, increasing and decreasing. Outcomes without this number score lowest."""
    edges = _edges(np.concatenate([here, there]))
    for sign, side in ((1, "large"), (-1, "small")):
        ranks = tuple(float(1 + rank) for rank in range(len(edges) + 1))[::sign]
        part = Part(place=place, edges=tuple(edges.tolist()), values=ranks)
        yield Event(words=f"{name} is {side}", steps={}, parts={path: (part,)})


def _words(event: Event) -> str:
    """The event as a sentence, with the threshold of a single number or the most informative choices."""
    table = "first" if event.likelier_on_first else "second"
    single = [part for parts in event.parts.values() for part in parts]
    if not event.steps and len(single) == 1 and event.words.endswith((" is large", " is small")):
        name, _, side = event.words.rpartition(" is ")
        kept = [value >= event.threshold for value in single[0].values]
        limits = [
            edge for (before, after), edge in zip(pairwise(kept), single[0].edges, strict=True) if before != after
        ]
        if len(limits) == 1:
            return f"{name} is {'at least' if kept[-1] else 'below'} {limits[0]:g}, likelier on the {table} table"
        return f"{name} is {side}, likelier on the {table} table"
    informative = sorted(event.steps, key=lambda path: -abs(event.steps[path]))[:3]
    steps = f"; most informative: {_quoted([path[-1] for path in informative])}" if informative else ""
    return f"{event.words} at least {math.exp(event.threshold):.3g} times likelier on the {table} table{steps}"


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"'{each}'" for each in words)
