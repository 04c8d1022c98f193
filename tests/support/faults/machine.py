"""Faults of the whole machine: full and read-only disks, slow and network-like file systems, many processes at once."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faults.invariants import LOST, NEXT, OVERSPENT, UNTRUE, Findings, check_folder, check_leftovers, check_message
from faults.shim import Plan
from faults.world import Ended, World

if TYPE_CHECKING:
    from faults.campaign import Case, Group

PROCESSES = 16
DISK = 8 << 20
NETWORK = ("open", "read", "write", "sync", "name", "lock")


def may_mount() -> bool:
    """Whether this process may mount a file system."""
    return os.geteuid() == 0 and subprocess.run(["true"], check=False).returncode == 0 and _try_mount()


def _try_mount() -> bool:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        tried = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", name], capture_output=True, check=False)
        if tried.returncode == 0:
            subprocess.run(["umount", name], check=True)
        return tried.returncode == 0


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of a few megabytes at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disk(world: World, case: "Case") -> tuple[Findings, Ended]:
    """A release while only so many bytes are free; then space is freed."""
    with small_disk(world.folder):
        inside = World(world.folder / "here", world.launcher)
        filler = world.folder / "filler"
        free = os.statvfs(world.folder)
        with filler.open("wb") as file:
            file.write(bytes(max(0, free.f_bavail * free.f_frsize - case.at)))
        return inside.release(look_first=case.at % 2 == 0, before_next=filler.unlink)


def read_only(world: World, case: "Case") -> tuple[Findings, Ended]:
    """A release on a disk that is read-only, with or without a ledger on it; then it can be written again."""

    def remount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(world.folder)], check=True)

    with small_disk(world.folder):
        inside = World(world.folder / "here", world.launcher)
        if case.at:
            inside.run(*inside.release_words()[1])
        return inside.release(look_first=False, before_first=lambda: remount("ro"), before_next=lambda: remount("rw"))


def together(world: World, case: "Case") -> tuple[Findings, Ended]:
    """Sixteen releases at once, with room for as many as the case says."""
    findings = Findings()
    if case.at > 1:
        ended = world.run(*world.release_words()[1])
        findings.expect(ended["code"] == 0, NEXT, ended["err"])
    before = world.room_for(case.at, findings)
    runs = [world.release_words() for _ in range(PROCESSES)]
    ended_all = world.run_together([words for _, words in runs], **case.how)
    after = world.account(findings)
    charged = len(after.charges - before.charges)
    findings.expect(charged <= case.at, OVERSPENT, f"{charged} charges where {case.at} were allowed")
    paid = set()
    for (out, _), ended in zip(runs, ended_all, strict=True):
        own = check_folder(findings, out) if out.exists() else None
        if own is not None:
            findings.expect(own in after.charges and own not in paid, LOST, f"{out.name} has no charge of its own")
            paid.add(own)
        stands = "The charge stands" in ended["err"] or "may have been" in ended["err"]
        check_message(findings, ended, out, charged=out.exists() or stands)
        findings.expect(ended["code"] != 0 or own is not None, UNTRUE, ended["err"])
    claimed = sum(ended["code"] == 0 or "The charge stands" in ended["err"] for ended in ended_all)
    findings.expect(claimed <= charged, LOST, f"{claimed} runs say that they were charged, {charged} were")
    check_leftovers(findings, world.folder, killed=any(ended["code"] < 0 for ended in ended_all))
    world.room_for(1, findings)
    again = world.run(*world.release_words()[1])
    findings.expect(again["code"] == 0, NEXT, f"{again['code']}: {again['err']}")
    return findings, ended_all[0]


def groups() -> Iterator["Group"]:
    """The lines of the table."""
    from faults.campaign import Case, Group

    def plan(**parts: Any) -> dict[str, Any]:
        return {"plan": Plan(**parts).to_json()}

    at_once = "16 processes at once"
    yield Group(
        command="release", fault=at_once, cases=tuple(Case(at=room) for room in (1, 4, 15)), attempt=together, fresh=1
    )
    slow = plan(kinds=NETWORK, delay=0.005)
    yield Group(
        command="release",
        fault=f"{at_once}, every call on a file 5 ms slower",
        cases=tuple(Case(at=room, how=slow) for room in (1, 4)),
        attempt=together,
        fresh=1,
    )
    missing = [
        Case(at=place, how=plan(kinds=("lock",), action="fail", at=place, error=error, times=times))
        for error in (errno.ENOLCK, errno.EAGAIN, errno.ESTALE)
        for place, times in ((1, -1), (3, 2), (10, 4), (17, 1))
    ]
    yield Group(
        command="release",
        fault=f"{at_once}, locks refused as by a network file system whose lock server fails",
        cases=tuple(missing),
        attempt=together,
        fresh=1,
    )
    if may_mount():
        free = tuple(Case(at=size) for size in range(0, 700_000, 10_000))
        yield Group(command="release", fault="disk with n bytes free", cases=free, attempt=full_disk, fresh=1)
        yield Group(
            command="release", fault="read-only disk", cases=(Case(at=0), Case(at=1)), attempt=read_only, fresh=1
        )
