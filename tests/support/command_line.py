"""Shared by the tests of the command line: a working folder, and commands in this process or in another one."""

import io
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from scumble.cli import main
from scumble.files.atomic_folder import PREFIX
from scumble.privacy.ledger import Ledger

SCHEMA = """\
scumble: schema/1
target: income
attributes:
  age: {numeric: {low: 0, high: 100, step: 10}}
  job: {taxonomy: {Any: {White: {Engineer: , Lawyer: }, Blue: {Dancer: , Writer: }}}}
  income: {classes: ["no", "yes"]}
"""
HEADER = "age,job,income"


def people(rows: int, *, seed: int = 1, header: str = HEADER) -> str:
    """People as CSV, whose income depends on their age."""
    draw = random.Random(seed)
    lines = [header]
    for _ in range(rows):
        age = draw.randrange(100)
        job = draw.choice(["Engineer", "Lawyer", "Dancer", "Writer"])
        lines.append(f"{age},{job},{'yes' if draw.random() < age / 100 else 'no'}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The error, which must be the only output: one line, and at most a command to copy below it.

        A warning may stand above it, if the plan has one, and a notice, if the ledger is new.
        """
        assert self.out == "", self.out
        above = ("warning, before the charge: ", "notice: The ledger ")
        said = "".join(line for line in self.err.splitlines(keepends=True) if not line.startswith(above))
        assert said.startswith("error: "), self.err
        assert said.endswith("\n"), self.err
        assert said.count("\n") <= 2, self.err
        return said.removeprefix("error: ").rstrip("\n")


def scumble(*words: object) -> Ended:
    """Run a command in this process, through the entry point of the executable."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", ["scumble", *map(str, words)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = 0 if end.code is None else int(end.code)
    return Ended(code=code, out=out.getvalue(), err=err.getvalue())


def process(*words: object) -> Ended:
    """Run a command in another process."""
    command = [sys.executable, "-m", "scumble", *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return Ended(code=ended.returncode, out=ended.stdout, err=ended.stderr)


def release_words(data: object = "people.csv", **options: object) -> list[object]:
    """The arguments of a release: default options, each replaced by one of `options`, or omitted if that is None."""
    given = {"schema": "schema.yaml", "epsilon": "1", "out": "out", **options}
    words: list[object] = ["release", data]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None:
            words += [option, value]
    return words


def release(data: object = "people.csv", **options: object) -> Ended:
    """Run a release in this process."""
    return scumble(*release_words(data, **options))


def complaints(ended: Ended) -> str:
    """Standard error without the warning that few records were counted, which depends on the noise, without the advice
    on a large epsilon, and without the notice that a ledger is new."""
    expected = (
        "warning: What can be learned from about ",
        "warning, before the charge: epsilon ",
        "notice: The ledger ",
    )
    return "".join(line for line in ended.err.splitlines(keepends=True) if not line.startswith(expected))


def accounts(ledger: Path) -> dict[str, dict[str, Any]]:
    """The account of every dataset, by name."""
    with Ledger.open(ledger) as opened:
        opened.verify()
        return {account["name"]: account for account in opened.datasets()["datasets"]}


def kinds(account: dict[str, Any]) -> list[str]:
    return [entry["kind"] for entry in account["entries"]]


def leftovers(folder: Path) -> list[Path]:
    """Unfinished folders beside their targets."""
    return list(folder.rglob(f"{PREFIX}*"))


@contextmanager
def nothing_happens(folder: Path, ledger: Path) -> Iterator[None]:
    """Check that the body charges nothing and neither creates nor changes a file."""
    before = contents(folder, ledger), accounts(ledger)
    yield
    assert (contents(folder, ledger), accounts(ledger)) == before


def contents(folder: Path, ledger: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, without the temporary files of SQLite beside the ledger."""
    found = {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
    return {str(path): content for path, content in found.items() if not path.name.startswith(ledger.name)}
