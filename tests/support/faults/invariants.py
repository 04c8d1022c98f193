"""What must be true after any fault, checked with the public interface only.

- No lost charge: the ledger has the charge of every release that was published or reported.
- No overspending: no account has spent more than its ceiling.
- No torn folder: a folder under its final name verifies.
- No leftover: no file but the inputs contains rows, and what a killed run left is removed by the next run.
- The exit code and the message are true: 0 exactly if the release is there and recorded; otherwise the message says
  whether the run was charged and whether the release is there.
- The next run works.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
from command_line import people

import scumble
from faults.launcher_environment import environment
from scumble.errors import ScumbleError
from scumble.files.atomic_folder import PREFIX
from scumble.locked_folders import GRACE_SECONDS

CANARY = "canary-of-row"
"""In a column of the table that no schema mentions: nothing may contain it."""
EMPTY_BYTES = 12288
"""The headers of a database of DuckDB, which are written before any row."""
INPUTS = ("people.csv", "schema.yaml")
LOST, OVERSPENT, TORN, LEFTOVER, UNTRUE, NEXT, HUNG = (
    "lost charge",
    "overspend",
    "torn folder",
    "leftover with rows",
    "untrue message",
    "next run failed",
    "hang",
)
CATEGORIES = (LOST, OVERSPENT, TORN, LEFTOVER, UNTRUE, NEXT, HUNG)


def table_with_canaries(rows: int, *, seed: int) -> str:
    """People, and in each row a text that must appear nowhere else."""
    header, *lines = people(rows, seed=seed).splitlines()
    return "\n".join([f"{header},note", *(f"{line},{CANARY}-{n}" for n, line in enumerate(lines))]) + "\n"


@dataclass(frozen=True, kw_only=True)
class Account:
    """What the ledger says."""

    spent: Fraction = Fraction(0)
    ceiling: Fraction = Fraction(0)
    charges: frozenset[str] = frozenset()
    """The entries of charges, by their hashes."""
    settled: int = 0


@dataclass(kw_only=True)
class Findings:
    """What was wrong after one fault."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, category: str, what: str) -> None:
        self.found.append((category, what))

    def expect(self, true: bool, category: str, what: str) -> None:
        if not true:
            self.add(category, what)


@contextmanager
def as_its_user(folder: Path) -> Iterator[None]:
    """The environment of the commands that run in a folder."""
    before = {name: os.environ.get(name) for name in environment(folder)}
    os.environ.update(environment(folder))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def account(ledger: Path, dataset: str = "people") -> Account:
    """The account of a dataset, after the whole ledger was verified. Raises `ScumbleError`."""
    if not ledger.exists():
        return Account()
    with scumble.Ledger.open(ledger) as opened:
        opened.verify()
        stated = [each for each in opened.datasets()["datasets"] if each["name"] == dataset]
    if not stated:
        return Account()
    entries = stated[0]["entries"]
    return Account(
        spent=Fraction(stated[0]["spent"]),
        ceiling=Fraction(stated[0]["ceiling"]),
        charges=frozenset(entry["hash"] for entry in entries if entry["kind"] == "reserve"),
        settled=sum(entry["kind"] == "settle" for entry in entries),
    )


def check_folder(findings: Findings, out: Path) -> str | None:
    """Check a published folder. Returns the entry of the charge that paid for it, if it states one."""
    try:
        scumble.verify(out)
    except ScumbleError as error:
        findings.add(TORN, f"{out.name}: {error}")
        return None
    receipt: dict[str, Any] = json.loads((out / "release.json").read_text("utf-8"))["receipt"]
    return receipt.get("entry")


def check_message(findings: Findings, ended: dict[str, Any], out: Path, *, charged: bool | None) -> None:
    """Compare the exit code and the last message with what happened. `charged` is None for commands without ledger."""
    code, error = ended["code"], ended["err"]
    said = f"code {code}: {error[-400:]}"
    findings.expect(not ended["hung"], HUNG, said)
    if code < 0:
        return  # killed: it could not say anything
    findings.expect("Traceback" not in error and code in range(6), UNTRUE, said)
    if code == 0:
        findings.expect(out.exists() and charged is not False, UNTRUE, said)
        return
    findings.expect(bool(re.search("^error: ", error, re.MULTILINE)), UNTRUE, said)
    complete = "is complete" in error
    findings.expect(complete == out.exists(), UNTRUE, f"{out.name} exists: {out.exists()}; {said}")
    if charged is not None:
        stands = "The charge stands" in error or "may have been charged" in error
        findings.expect(stands or not charged, UNTRUE, f"charged; {said}")
        certain = "The charge stands" in error
        findings.expect(charged or not certain, LOST, f"not charged; {said}")


PYTHONS_TRIAL = b"blat"
"""The content of the file with which Python tries a folder for temporary files. Nobody removes it after a kill."""


def check_leftovers(findings: Findings, folder: Path, *, killed: bool) -> None:
    """Look for rows outside the inputs. A killed run may leave an unfinished folder, which others cannot read."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        try:
            if path.is_file() and name not in INPUTS and CANARY.encode() in path.read_bytes():
                findings.add(LEFTOVER, f"{name} contains rows")
            if path.name.startswith(PREFIX):
                findings.expect(killed, LEFTOVER, f"{name} was left behind")
                findings.expect(path.stat().st_mode & 0o077 == 0, LEFTOVER, f"{name} can be read by others")
            scratch = path.is_file() and path.is_relative_to(folder / "scratch") and path.stat().st_size
            if scratch and path.read_bytes() != PYTHONS_TRIAL:
                findings.expect(killed and _is_empty_database(path), LEFTOVER, f"{name} was left behind")
        except FileNotFoundError:
            continue


def _is_empty_database(path: Path) -> bool:
    """Whether a file is a database of DuckDB without tables: one that was created and not yet unlinked."""
    try:
        with duckdb.connect(str(path), read_only=True) as database:
            (tables,) = database.execute("SELECT count(*) FROM duckdb_tables()").fetchone() or (1,)
    except duckdb.Error:
        return path.stat().st_size <= EMPTY_BYTES
    return tables == 0


def age_leftovers(folder: Path) -> None:
    """Make what a killed run left old enough to be removed by the next one."""
    long_ago = time.time() - GRACE_SECONDS - 5
    for place in (folder, folder / "scratch"):
        for path in place.iterdir():
            if path.is_dir() and (path.name.startswith(PREFIX) or place.name == "scratch"):
                os.utime(path, (long_ago, long_ago))


def check_swept(findings: Findings, folder: Path) -> None:
    """After the next run, nothing is left of the killed one."""
    left = [path.name for path in folder.rglob(f"{PREFIX}*")]
    findings.expect(not left, LEFTOVER, f"not removed by the next run: {left}")
