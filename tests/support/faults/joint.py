"""Faults of one party of a joint release; then all parties resume."""

import errno
import shutil
import signal
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from joint_parties import OWNERS, agree, run_words

from faults.invariants import (
    HUNG,
    LOST,
    NEXT,
    OVERSPENT,
    UNTRUE,
    Account,
    Findings,
    account,
    as_its_user,
    check_folder,
    check_leftovers,
    check_message,
)
from faults.shim import KINDS, Plan
from faults.world import Ended, World
from scumble.errors import ScumbleError

if TYPE_CHECKING:
    from faults.campaign import Case, Group

FAULTY = OWNERS[0]
CALLS = tuple(kind for kind in KINDS if kind != "step")
"""System calls, which can fail. Steps of SQLite statements are counted, but make the same calls."""
CHANGES = ("open", "write", "sync", "name")
COUNTED = (CALLS, CHANGES)
DEADLINES = {"start": 5, "stall": 60, "silence": 6}


def one_party(world: World, case: "Case") -> tuple[Findings, Ended]:
    """One owner of three has a fault. Whoever was charged says so; resumed, all publish and nobody pays twice."""
    findings = Findings()
    world = World(world.folder, world.launcher)
    agree(world.folder, rows=40, deadlines=DEADLINES)
    first = _run(world, case.how)
    _check(findings, world, first)
    resumed = _run(world, {}, "--resume")
    for name, ended in resumed.items():
        findings.expect(ended["code"] == 0, NEXT, f"{name} resumed: {ended['code']}: {ended['err'][-300:]}")
    _check(findings, world, resumed)
    check_leftovers(findings, world.folder, killed=first[FAULTY]["code"] < 0)
    shutil.rmtree(world.folder)
    return findings, first[FAULTY]


def _run(world: World, how: dict[str, object], *more: str) -> dict[str, Ended]:
    jobs = [
        {"folder": str(world.folder), "words": run_words(name, *more), **(how if name == FAULTY else {})}
        for name in OWNERS
    ]
    return dict(zip(OWNERS, world.launcher.run(*jobs), strict=True))


def _check(findings: Findings, world: World, all_ended: dict[str, Ended]) -> None:
    for name, ended in all_ended.items():
        findings.expect(not ended["hung"], HUNG, f"{name}: {ended['err'][-300:]}")
        paid = _account(findings, world, name)
        findings.expect(len(paid.charges) <= 1, OVERSPENT, f"{name} was charged {len(paid.charges)} times")
        out = world.folder / f"out-{name}"
        entry = check_folder(findings, out) if out.exists() else None
        findings.expect(entry is None or entry in paid.charges, LOST, f"{out.name} has no charge: {entry}")
        if ended["code"] == 0:
            findings.expect(paid.settled == 1, UNTRUE, f"{name} ended with 0, but its ledger names no release")
        check_message(findings, ended, out, charged=bool(paid.charges))


def _account(findings: Findings, world: World, name: str) -> Account:
    try:
        with as_its_user(world.folder):
            return account(world.folder / f"{name}.db", name)
    except ScumbleError as error:
        findings.add(LOST, f"the ledger of {name} cannot be used: {error}")
        return Account()


def groups(calls: Mapping[tuple[str, ...], int]) -> Iterator["Group"]:
    """The lines of the table; `calls` is how many calls of some kinds the party makes without a fault."""
    from faults.campaign import Case, Group

    faults = {
        "killed before": {"action": "kill"},
        "killed after": {"action": "kill after"},
        "EIO once at": {"action": "fail", "error": errno.EIO},
        "ENOSPC once at": {"action": "fail", "error": errno.ENOSPC},
        "SIGTERM at": {"action": "signal", "error": int(signal.SIGTERM)},
    }
    for words, parts in faults.items():
        kinds = CALLS if words.startswith(("EIO", "SIG")) else CHANGES
        called = "call" if kinds is CALLS else ", ".join(CHANGES)
        cases = [
            Case(at=at, how={"plan": Plan(kinds=kinds, at=at, **parts).to_json()})  # type: ignore[arg-type]
            for at in range(1, calls[kinds] + 1)
        ]
        yield Group(
            command="join run",
            fault=f"{words} the n-th {called} of one of three owners",
            cases=tuple(cases),
            attempt=one_party,
            fresh=1,
            waits=True,
        )


def calls_of_a_party(world: World, kinds: tuple[str, ...]) -> int:
    """How many calls of some kinds a party makes when nothing fails."""
    from faults.campaign import Case

    findings, ended = one_party(world, Case(how={"plan": Plan(kinds=kinds).to_json()}))
    assert not findings.found and ended["code"] == 0, (findings, ended)
    return int(ended["calls"])
