"""A folder in which commands run one after the other, with faults, and what is checked after each."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from command_line import SCHEMA

import scumble
from faults.invariants import (
    LOST,
    NEXT,
    OVERSPENT,
    UNTRUE,
    Account,
    Findings,
    account,
    age_leftovers,
    as_its_user,
    check_folder,
    check_leftovers,
    check_message,
    check_swept,
    table_with_canaries,
)
from faults.shim import environment as with_shim
from scumble.errors import ScumbleError

Ended = dict[str, Any]


class Launcher:
    """A process of `faults.launcher`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, *jobs: dict[str, Any]) -> list[Ended]:
        """Run commands at the same time; return how they ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(jobs) + "\n")
        self._process.stdin.flush()
        ended: list[Ended] = json.loads(self._process.stdout.readline())
        return ended


@contextmanager
def launcher(shim: Path) -> Iterator[Launcher]:
    """A launcher with the compiled shim."""
    command = [sys.executable, "-m", "faults.launcher"]
    environment = {**with_shim(shim), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield Launcher(process)
        assert process.stdin is not None
        process.stdin.close()


class World:
    """A working folder with a table and a ledger, in which faults happen."""

    def __init__(self, folder: Path, launcher: Launcher) -> None:
        self.folder = folder
        self.launcher = launcher
        self._numbers = itertools.count()
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "scratch").mkdir(parents=True)
        (folder / "people.csv").write_text(table_with_canaries(40, seed=1))
        (folder / "schema.yaml").write_text(SCHEMA)

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    def run(self, *words: str, **how: Any) -> Ended:
        (ended,) = self.run_together([words], **how)
        return ended

    def run_together(self, commands: list[tuple[str, ...]], **how: Any) -> list[Ended]:
        jobs = [{"folder": str(self.folder), "words": words, **how} for words in commands]
        return self.launcher.run(*jobs)

    def release_words(self, engine: str = "memory") -> tuple[Path, tuple[str, ...]]:
        out = self.folder / f"out{next(self._numbers)}"
        words = f"release people.csv --schema schema.yaml --epsilon 1 --out {out.name} --engine {engine}"
        return out, tuple(words.split())

    def account(self, findings: Findings) -> Account:
        """What the ledger says; a ledger that cannot be read after a fault has lost its charges."""
        try:
            with as_its_user(self.folder):
                found = account(self.ledger)
        except ScumbleError as error:
            findings.add(LOST, f"the ledger cannot be used: {error}")
            return Account()
        findings.expect(found.spent <= found.ceiling, OVERSPENT, f"{found.spent} of {found.ceiling}")
        findings.expect(found.spent == len(found.charges), LOST, f"{found.spent} for {len(found.charges)} charges")
        return found

    def room_for(self, releases: int, findings: Findings) -> Account:
        """Raise the ceiling such that exactly so many more releases are allowed. A new account opens with one."""
        now = self.account(findings)
        if now.charges and now.ceiling != now.spent + releases:
            with as_its_user(self.folder), scumble.Ledger.open(self.ledger) as opened:
                opened.grant("people", Fraction(now.spent + releases), "another release")
        return now

    def release(
        self,
        *,
        look_first: bool,
        engine: str = "memory",
        before_first: Callable[[], object] = lambda: None,
        before_next: Callable[[], object] = lambda: None,
        **how: Any,
    ) -> tuple[Findings, Ended]:
        """A release with a fault, for which there is room for just one, and what is true afterwards."""
        findings = Findings()
        before = self.room_for(1, findings)
        out, words = self.release_words(engine)
        before_first()
        ended = self.run(*words, **how)
        before_next()
        check_leftovers(findings, self.folder, killed=_cannot_clean_up(ended, how))
        age_leftovers(self.folder)
        looked = self.account(findings) if look_first else None
        again_out, again_words = self.release_words(engine)
        again = self.run(*again_words)
        after = self.account(findings)
        charged = len(after.charges - before.charges) - (again["code"] == 0)
        self._check_again(findings, again, charged=charged, engine=engine)
        if looked is not None:
            findings.expect(looked.charges <= after.charges, LOST, "an entry that was there is gone")
            findings.expect(len(looked.charges - before.charges) == charged, LOST, f"{looked} became {after}")
        findings.expect(before.charges <= after.charges, LOST, "an earlier charge is gone")
        findings.expect(charged in (0, 1), OVERSPENT, f"one run was charged {charged} times")
        check_message(findings, ended, out, charged=charged > 0)
        for each in (out, again_out):
            if each.exists():
                entry = check_folder(findings, each)
                findings.expect(entry is None or entry in after.charges, LOST, f"{each.name} has no charge: {entry}")
        if ended["code"] == 0:
            findings.expect(after.settled > before.settled, UNTRUE, "ended with 0, but the ledger names no release")
        check_swept(findings, self.folder)
        check_leftovers(findings, self.folder, killed=False)
        return findings, ended

    def _check_again(self, findings: Findings, again: Ended, *, charged: int, engine: str) -> None:
        """The next run is refused if the failed one was charged; with a new ceiling it works."""
        expected = 3 if charged else 0
        findings.expect(again["code"] == expected, NEXT, f"{again['code']} instead of {expected}: {again['err']}")
        if again["code"] == 3:
            self.room_for(1, findings)
            _, words = self.release_words(engine)
            last = self.run(*words)
            findings.expect(last["code"] == 0, NEXT, f"after a grant: {last['code']}: {last['err']}")

    def grant(self, *, look_first: bool, **how: Any) -> tuple[Findings, Ended]:
        """A change of the ceiling with a fault: the old or the new one, and the message says which."""
        findings = Findings()
        before = self.account(findings)
        if not before.charges:
            ended = self.run(*self.release_words()[1])
            findings.expect(ended["code"] == 0, NEXT, ended["err"])
            before = self.account(findings)
        wanted = before.ceiling + 1
        ended = self.run("ledger", "grant", "people", str(wanted), "--reason", "a test", **how)
        after = self.account(findings)
        said = f"{before.ceiling} became {after.ceiling}; code {ended['code']}: {ended['err'][-300:]}"
        findings.expect(after.ceiling in (before.ceiling, wanted), OVERSPENT, said)
        findings.expect((before.charges, before.spent) == (after.charges, after.spent), LOST, said)
        findings.expect(not ended["hung"] and "Traceback" not in ended["err"], UNTRUE, said)
        if ended["code"] == 0:
            findings.expect(after.ceiling == wanted, UNTRUE, said)
        elif ended["code"] > 0 and after.ceiling == wanted:
            findings.expect("is now" in ended["out"] or _uncertain(ended["err"]), UNTRUE, said)
        again = self.run("ledger", "grant", "people", str(wanted + 1), "--reason", "once more")
        findings.expect(again["code"] == 0, NEXT, f"{again['code']}: {again['err']}")
        findings.expect(self.account(findings).ceiling == wanted + 1, NEXT, "the next grant is not recorded")
        return findings, ended

    def perturb(self, *, look_first: bool, **how: Any) -> tuple[Findings, Ended]:
        """Perturbed records: the folder is there whole, or not at all."""
        findings = Findings()
        out = self.folder / f"perturbed{next(self._numbers)}"
        words = ("perturb", "people.csv", "--schema", "schema.yaml", "--epsilon", "2", "--out")
        ended = self.run(*words, out.name, **how)
        check_leftovers(findings, self.folder, killed=_cannot_clean_up(ended, how))
        check_message(findings, ended, out, charged=None)
        if out.exists():
            check_folder(findings, out)
        age_leftovers(self.folder)
        again = self.folder / f"perturbed{next(self._numbers)}"
        then = self.run(*words, again.name)
        findings.expect(then["code"] == 0 and again.exists(), NEXT, f"{then['code']}: {then['err']}")
        check_swept(findings, self.folder)
        shutil.rmtree(again, ignore_errors=True)
        return findings, ended


def _cannot_clean_up(ended: Ended, how: dict[str, Any]) -> bool:
    """Whether a run was killed, or the disk no longer removes files. The next run removes what is left."""
    plan = how.get("plan", {})
    return ended["code"] < 0 or (plan.get("action") == "fail" and plan["times"] < 0 and "name" in plan["kinds"])


def _uncertain(message: str) -> bool:
    """Whether an error leaves open if the change was recorded."""
    return "may have been recorded" in message


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
