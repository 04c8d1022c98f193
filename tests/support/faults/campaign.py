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
KILLS: dict[str, tuple[str, ...]] = {"kill": ALL, "kill after": ALL, "tear": ("write",)}
CLOCKS = {"an hour back": -3600, "ten years back": -315_360_000, "ten years forward": 315_360_000}
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


def calls_of(launcher: Launcher, folder: Path, command: str) -> dict[str, int]:
    """How many calls of each kind a command makes when nothing fails."""
    numbers = {}
    for kinds in (*((kind,) for kind in ALL), ALL):
        group = Group(command=command, fault="none", cases=())
        findings, ended = group.run(World(folder, launcher), Case(how=planned(kinds=kinds)))
        assert not findings.found and ended["code"] == 0, (findings, ended)
        numbers[" ".join(kinds)] = ended["calls"]
    return numbers


def system_calls(command: str, numbers: dict[str, int]) -> Iterator[Group]:
    """Every system call of a command fails once, fails from then on, or is the last one of the process."""
    for name, (kinds, error) in FAILURES.items():
        for times, how_long in ((1, "once"), (-1, "from then on")):
            cases = [
                Case(at=at, how=planned(kinds=(kind,), action="fail", at=at, error=error, times=times))
                for kind in kinds
                for at in range(1, numbers[kind] + 1)
            ]
            yield Group(command=command, fault=f"{name} at the n-th {_listed(kinds)}, {how_long}", cases=tuple(cases))
    for action, kinds in KILLS.items():
        cases = [
            Case(at=at, how=planned(kinds=(kind,), action=action, at=at))
            for kind in kinds
            for at in range(1, numbers[kind] + 1)
        ]
        words = {"kill": "killed before", "kill after": "killed after", "tear": "killed halfway through"}[action]
        yield Group(command=command, fault=f"{words} the n-th {_listed(kinds)}", cases=tuple(cases))
    for number in SIGNALS:
        cases = [
            Case(at=at, how=planned(kinds=ALL, action="signal", at=at, error=int(number)))
            for at in range(1, numbers[" ".join(ALL)] + 1)
        ]
        yield Group(command=command, fault=f"{number.name} at the n-th call of any kind", cases=tuple(cases))
    for words, seconds in CLOCKS.items():
        cases = [
            Case(at=at, how=planned(kinds=ALL, action="clock", at=at, times=-1, clock=seconds))
            for at in range(1, numbers[" ".join(ALL)] + 1, 16)
        ]
        yield Group(command=command, fault=f"clock {words} at the n-th call", cases=tuple(cases))


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
        groups += system_calls(command, calls_of(launcher, folder, command))
        world = World(folder, launcher)
        group = Group(command=command, fault="none", cases=())
        seconds = max(group.run(world, Case())[1]["seconds"] for _ in range(2))
        groups += moments(command, seconds, moments_each)
    for command in ("release", "perturb"):
        limits = tuple(Case(at=size, how={"file_limit": size}) for size in range(0, 120_000, 1500))
        groups.append(Group(command=command, fault="no file longer than n bytes", cases=limits))
    groups += joint.groups(joint.calls_of_a_party(World(folder, launcher)))
    groups += machine.groups()
    return groups
