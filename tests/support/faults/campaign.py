"""All faults that are tried, as groups of cases: a command, a fault, and every place where it can happen."""

import errno
import random
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults import joint, machine
from faults.invariants import Findings
from faults.shim import KINDS, Plan
from faults.world import SIGNALS, Ended, Launcher, World

ALL = tuple(KINDS)
FAILURES: dict[str, tuple[tuple[str, ...], int]] = {
    "EIO": (("open", "read", "write", "sync", "name", "lock"), errno.EIO),
    "ENOSPC": (("open", "write", "sync", "name"), errno.ENOSPC),
    "ENOLCK": (("lock",), errno.ENOLCK),
}
SYSTEM = tuple(kind for kind in ALL if kind != "step")
"""System calls. A step of an SQLite statement belongs to no folder."""
CHANGES = ("open", "write", "sync", "name")
"""Calls that can change what is on the disk. A process that is killed at any other call leaves the same files as one
that is killed at the next of these."""
KILLS: dict[str, tuple[str, ...]] = {"kill": CHANGES, "kill after": CHANGES, "tear": ("write",)}
SPARSE = 8
"""One of so many places is tried where another line already tries every place of what is alike."""
CLOCKS = {"an hour back": -3600, "ten years back": -315_360_000, "ten years forward": 315_360_000}
SCRATCH = "scratch"
"""The folder of temporary files of a world."""
ROUND_TRIP = 0.02
"""Seconds that a call on a network file system takes."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One fault at one place."""

    at: int = 0
    how: dict[str, Any] = field(default_factory=dict)


Try = Callable[[World, Case], tuple[Findings, Ended]]


@dataclass(frozen=True, kw_only=True)
class Group:
    """A line of the table: a fault, tried at every place."""

    command: str
    fault: str
    cases: tuple[Case, ...]
    attempt: Try | None = None
    """How a case is tried, if not by the method of `World` that has the command's name."""
    fresh: int = 4
    """So many cases share a world."""
    waits: bool = False
    """Whether its processes mostly wait for each other, so that many can run at the same time."""

    @property
    def name(self) -> str:
        return f"{self.command}: {self.fault}"

    def run(self, world: World, case: Case) -> tuple[Findings, Ended]:
        if self.attempt is not None:
            return self.attempt(world, case)
        method, _, engine = self.command.partition(" --engine ")
        options = {"engine": engine} if engine else {}
        result: tuple[Findings, Ended] = getattr(world, method)(look_first=case.at % 2 == 0, **options, **case.how)
        return result


def planned(**plan: Any) -> dict[str, Any]:
    return {"plan": Plan(**plan).to_json()}


def calls_of(launcher: Launcher, folder: Path, command: str, below: str = "") -> dict[str, int]:
    """How many calls of each kind a command makes when nothing fails; on files in the folder `below` only."""
    numbers = {}
    for kinds in (*((kind,) for kind in ALL), ALL, SYSTEM):
        group = Group(command=command, fault="none", cases=())
        how = {**planned(kinds=kinds), **({"below": below} if below else {})}
        findings, ended = group.run(World(folder, launcher), Case(how=how))
        assert not findings.found and ended["code"] == 0, (findings, ended)
        numbers[" ".join(kinds)] = ended["calls"]
    return numbers


def system_calls(command: str, numbers: dict[str, int], *, below: str = "", every: int = 1) -> Iterator[Group]:
    """Every system call of a command fails once, fails from then on, or is the last one of the process.

    With `below`, only calls on files in that folder; with `every`, one place of so many.
    """
    for name, (kinds, error) in FAILURES.items():
        for times, how_long in ((1, "once"), (-1, "from then on")):
            parts = {"action": "fail", "error": error, "times": times}
            yield _group(
                command, f"{name} at the n-th {_listed(kinds)}, {how_long}", numbers, kinds, parts, below, every
            )
    for action, kinds in KILLS.items():
        words = {"kill": "killed before", "kill after": "killed after", "tear": "killed halfway through"}[action]
        fault = f"{words} the n-th {_listed(kinds)}"
        yield _group(command, fault, numbers, kinds, {"action": action}, below, every)
    for number in SIGNALS:
        # All signals share one handler: the first is tried everywhere, the others at some places.
        step = every if number is SIGNALS[0] else max(every, SPARSE)
        parts = {"action": "signal", "error": int(number)}
        yield _group(command, f"{number.name} at the n-th call of any kind", numbers, (), parts, below, step)
    for words, seconds in CLOCKS.items():
        parts = {"action": "clock", "times": -1, "clock": seconds}
        yield _group(command, f"clock {words} at the n-th call", numbers, (), parts, below, 16)


def _group(
    command: str,
    fault: str,
    numbers: dict[str, int],
    kinds: tuple[str, ...],
    parts: dict[str, Any],
    below: str,
    every: int,
) -> Group:
    """A fault at every call of some kinds, each counted by itself; without kinds, at every call of any."""
    places = [((kind,), at) for kind in kinds for at in range(1, numbers[kind] + 1)]
    if not kinds:
        every_kind = SYSTEM if below else ALL
        places = [(every_kind, at) for at in range(1, numbers[" ".join(every_kind)] + 1)]
    more = {"below": below} if below else {}
    cases = [Case(at=at, how={**planned(kinds=each, at=at, **parts), **more}) for each, at in places]
    where = ", in the folder of temporary files" if below else ""
    sparse = f"; 1 place in {every}" if every > 1 else ""
    return Group(command=command, fault=f"{fault}{where}{sparse}", cases=tuple(cases[::every]))


def _listed(kinds: tuple[str, ...]) -> str:
    return "call of any kind" if kinds == ALL else ", ".join(kinds)


def moments(command: str, seconds: float, times: int) -> Iterator[Group]:
    """Signals at random moments of a command's life."""
    for number in (signal.SIGKILL, *SIGNALS):
        draw = random.Random(f"{command} {number}")
        cases = [
            Case(at=turn, how={"after": draw.uniform(0, 1.1 * seconds), "signal": int(number)}) for turn in range(times)
        ]
        yield Group(command=command, fault=f"{number.name} at a random moment", cases=tuple(cases))


def all_groups(launcher: Launcher, folder: Path, *, moments_each: int = 100) -> list[Group]:
    """The whole table."""
    groups: list[Group] = []
    for command in ("release", "release --engine duckdb", "grant", "perturb"):
        # What duckdb does beside a release in memory is in the folder of temporary files.
        own = "--engine" in command
        if own:
            scratch = calls_of(launcher, folder, command, below=SCRATCH)
            groups += [each for each in system_calls(command, scratch, below=SCRATCH) if each.cases]
        groups += system_calls(command, calls_of(launcher, folder, command), every=SPARSE if own else 1)
        world = World(folder, launcher)
        group = Group(command=command, fault="none", cases=())
        seconds = max(group.run(world, Case())[1]["seconds"] for _ in range(2))
        groups += moments(command, seconds, moments_each)
    for command in ("release", "perturb"):
        limits = tuple(Case(at=size, how={"file_limit": size}) for size in range(0, 120_000, 1500))
        groups.append(Group(command=command, fault="no file longer than n bytes", cases=limits))
    groups += joint.groups({kinds: joint.calls_of_a_party(World(folder, launcher), kinds) for kinds in joint.COUNTED})
    groups += machine.groups()
    return groups
