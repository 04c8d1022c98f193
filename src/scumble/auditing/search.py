"""The loop: pairs, runs, a distinguisher, a bound. Everything before the last step may look; the last one only counts.

    every pair, a few runs each  ->  the best pair, varied  ->  one event  ->  fresh runs of both tables  ->  the bound

The event and its direction are fixed before the fresh runs are drawn, and there is one bound for each audit. So however
many pairs, events and directions were tried, the bound exceeds the truth no more often than its confidence says.
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
from scumble.auditing.neighbours import CodedRows, Pair, mutations
from scumble.auditing.outcomes import Draws, together
from scumble.errors import InputError
from scumble.flows.progress import Progress
from scumble.privacy.noise import simulation

CHUNK = 2_000
"""Runs that one worker makes at a time; after each the state is written."""
MOST_LEARNING = 25_000
MOST_SCOUTING = 200
SCOUTING_SHARE = 16
"""A first look at a pair takes this part of the runs that are judged, and no more than the number above."""
LEADERS = 3
FINAL = 4
"""The last look at a leader takes so many times the runs of the first."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work an audit is. `judged` runs of each table count; up to a quarter as many choose the event, and as
    many again teach the distinguisher."""

    judged: int = 10_000
    variations: int = 12

    @property
    def learning(self) -> int:
        return min(MOST_LEARNING, max(200, self.judged // 4))

    @property
    def scouting(self) -> int:
        return min(MOST_SCOUTING, max(50, self.judged // SCOUTING_SHARE))


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """An event, fixed in advance, and how often it was seen on each table."""

    pair: Pair
    event: Event
    hits: tuple[int, int]
    runs: tuple[int, int]
    all_runs: int
    """With those that chose pair and event."""

    def bound(self, confidence: Confidence) -> float:
        """The lower bound on epsilon."""
        (here, there), (runs, other_runs) = self.hits, self.runs
        if not self.event.likelier_on_first:
            here, there, runs, other_runs = there, here, other_runs, runs
        return float(epsilon_bounds(here, there, (runs, other_runs), confidence.alpha))

    @property
    def loss(self) -> float:
        """The log ratio of the two frequencies: what the event shows, without any confidence."""
        here, there = self.hits if self.event.likelier_on_first else self.hits[::-1]
        return math.log((here + 0.5) / (there + 0.5))

    @property
    def frequency(self) -> float:
        """How often the event was seen on the likelier table."""
        place = 0 if self.event.likelier_on_first else 1
        return self.hits[place] / max(1, self.runs[place])


DrawRuns = Callable[[Pair, CodedRows, int], Draws]


def _silent(label: str, done: int, total: int | None) -> None:
    """For whoever wants no progress."""


def search_and_judge(
    mechanism: Mechanism,
    pairs: list[Pair],
    effort: Effort,
    *,
    workers: int = 1,
    state: Path | None = None,
    identity: str = "",
    progress: Progress | None = None,
) -> Judgement:
    """Find the pair and the event, then count. With `state`, a file, what was counted is kept and taken up again."""
    tell = progress or _silent
    with crew_of(mechanism, workers) as draw:
        saved = _State.read(state, identity)
        if saved is None:
            pair, looked = best_pair(mechanism, pairs, effort, draw, tell)
            lessons = [draw(pair, rows, effort.learning) for rows in (pair.first, pair.second)]
            choices = [draw(pair, rows, effort.learning) for rows in (pair.first, pair.second)]
            _, event = choose(learn(lessons[0], lessons[1]), choices[0], choices[1])
            saved = _State(identity=identity, pair=pair, event=event, looked=looked + 4 * effort.learning)
            saved.write(state)
        while saved.runs < effort.judged:
            runs = min(CHUNK * workers, effort.judged - saved.runs)
            hits = [saved.event.hits(draw(saved.pair, rows, runs)) for rows in (saved.pair.first, saved.pair.second)]
            saved = replace(saved, hits=(saved.hits[0] + hits[0], saved.hits[1] + hits[1]), runs=saved.runs + runs)
            saved.write(state)
            tell("judging", saved.runs, effort.judged)
    return Judgement(
        pair=saved.pair,
        event=saved.event,
        hits=saved.hits,
        runs=(saved.runs, saved.runs),
        all_runs=saved.looked + 2 * saved.runs,
    )


def best_pair(
    mechanism: Mechanism, pairs: list[Pair], effort: Effort, draw: DrawRuns, tell: Progress = _silent
) -> tuple[Pair, int]:
    """The pair that runs tell apart best, and how many runs that took.

    All are looked at with few runs; then, again and again, a variation of one of the leaders; the leaders of all meet
    once more with many.
    """
    if len(pairs) == 1 and not effort.variations:
        return pairs[0], 0
    dice, total = simulation(), len(pairs) + effort.variations
    seen: list[tuple[_Promise, Pair]] = []
    for place in range(total):
        leaders = _leaders(seen)
        if place < len(pairs):
            pair = pairs[place]
        else:
            pair = mutations(leaders[dice.integers(len(leaders))], mechanism.schema, dice)
        seen.append((_promise(pair, effort.scouting, draw), pair))
        tell("looking for a pair", place + 1, total)
    finals = [(_promise(pair, FINAL * effort.scouting, draw), pair) for pair in _leaders(seen)]
    return _leaders(finals)[0], 4 * effort.scouting * (total + FINAL * len(finals))


_Promise = tuple[float, float]
"""The bound that some runs give; among equals, how far the evidence moves between the tables."""


def _promise(pair: Pair, runs: int, draw: DrawRuns) -> _Promise:
    draws = [draw(pair, rows, runs) for rows in (pair.first, pair.second) for _ in range(2)]
    bound, _ = choose(learn(draws[0], draws[2]), draws[1], draws[3])
    return bound, draws[1].mean_evidence - draws[3].mean_evidence


def _leaders(seen: list[tuple[_Promise, Pair]]) -> list[Pair]:
    return [pair for _, pair in sorted(seen, key=lambda each: each[0], reverse=True)[:LEADERS]]


@contextmanager
def crew_of(mechanism: Mechanism, workers: int) -> Iterator[DrawRuns]:
    """Draws made here, or shared out among processes."""
    pool: Executor | nullcontext[None] = (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) if workers > 1 else nullcontext()
    )
    with pool as crew:

        def draw(pair: Pair, rows: CodedRows, runs: int) -> Draws:
            if crew is None:
                return mechanism.draw(pair, rows, runs)
            shares = [runs // workers + (worker < runs % workers) for worker in range(workers)]
            busy = [share for share in shares if share]
            return together(crew.map(_draw, repeat(mechanism), repeat(pair), repeat(rows), busy))

        yield draw


def _draw(mechanism: Mechanism, pair: Pair, rows: CodedRows, runs: int) -> Draws:
    return mechanism.draw(pair, rows, runs)


def all_cores() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class _State:
    """What an interrupted audit goes on from. The event stands before the first run that counts."""

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
            plain = json.loads(path.read_text("utf-8"))
            state = cls(
                identity=plain["identity"],
                pair=Pair.from_json(plain["pair"]),
                event=Event.from_json(plain["event"]),
                looked=int(plain["looked"]),
                hits=(int(plain["hits"][0]), int(plain["hits"][1])),
                runs=int(plain["runs"]),
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(f"{path} is no state of an audit. Give another file, or delete it.") from error
        if state.identity != identity:
            raise InputError(f"{path} belongs to another audit. Give each audit a state file of its own.")
        return state


def identity_of(*facts: object) -> str:
    """A fingerprint of what is audited and how, so that no state is taken for another's."""
    return hashlib.sha256("\n".join(map(repr, facts)).encode()).hexdigest()
