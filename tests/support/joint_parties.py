"""Helpers of the tests of joint releases: a folder with an agreement and tables, and parties run as processes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import join_launcher
from command_line import SCHEMA, people

from scumble.demo.rehearsal import free_addresses
from scumble.flows.abandon import state_folder
from scumble.flows.join_plan import write_agreement

OWNERS = ("north", "south", "east")
LOST_SECONDS = 10.0
"""All parties must have ended within this time after one was lost."""


def agree(
    folder: Path,
    *,
    owners: tuple[str, ...] = OWNERS,
    submitters: tuple[str, ...] = (),
    aggregator: bool = False,
    rows: int = 120,
    schema: str = SCHEMA,
    deadlines: dict[str, int] | None = None,
    rows_at_most: int = 10_000,
    **parameters: Any,
) -> Path:
    """Write tables for all owners and an agreement with few rounds; return the agreement's path."""
    names = [*owners, *submitters, *["aggregator"] * aggregator]
    addresses = free_addresses(len(names))
    for number, name in enumerate((*owners, *submitters)):
        (folder / f"{name}.csv").write_text(people(rows, seed=number))
    (folder / "schema.yaml").write_text(schema)
    return write_agreement(
        folder / "agreed",
        schema=folder / "schema.yaml",
        parties={
            name: {"address": str(address), "owner": name != "aggregator", "computes": name not in submitters}
            for name, address in zip(names, addresses, strict=True)
        },
        parameters={"epsilon": "1", "rounds": "2", **parameters},
        rows_at_most=rows_at_most,
        deadlines={"start": 30, "stall": 30, "silence": 4, **(deadlines or {})},
    )


def run_words(name: str, *more: object, agreement: str = "agreed/agreement.yaml", **options: object) -> list[str]:
    """The command-line arguments of one party's run."""
    given: dict[str, object] = {"agreement": agreement, "party": name, "out": f"out-{name}"}
    if name != "aggregator":
        given |= {"data": f"{name}.csv", "ledger": f"{name}.db"}
    words: list[object] = ["join", "run"]
    for option, value in (given | options).items():
        if value is not None:
            words += [f"--{option.replace('_', '-')}", value]
    return [str(word) for word in (*words, *more)]


class Launcher:
    """A process that runs scenarios of `join_launcher`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def play(self, folder: Path, *parties: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Run some parties concurrently; return how each of them ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"folder": str(folder), "parties": parties}) + "\n")
        self._process.stdin.flush()
        ended: dict[str, dict[str, Any]] = json.loads(self._process.stdout.readline())
        return ended


@contextmanager
def launcher() -> Iterator[Launcher]:
    command = [sys.executable, join_launcher.__file__]
    path = os.pathsep.join([str(Path(join_launcher.__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as process:
        yield Launcher(process)
        assert process.stdin is not None
        process.stdin.close()


def answers(folder: Path, name: str) -> list[dict[str, Any]]:
    """The answers that a party has stored."""
    path = state_folder(folder / f"out-{name}", None) / "answers.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def same_release(folders: list[Path]) -> bool:
    """Whether releases are identical except for the receipt and what depends on it."""
    return len({json.dumps(_without_receipt(folder), sort_keys=True) for folder in folders}) == 1


def _without_receipt(folder: Path) -> dict[str, str]:
    contents = {path.name: path.read_text() for path in folder.iterdir()}
    manifest = json.loads(contents["release.json"])
    receipt = manifest.pop("receipt")
    manifest.pop("seal")
    for entry in ("files", "sizes"):
        manifest[entry].pop("report.html")
    contents["release.json"] = json.dumps(manifest)
    assert not receipt or contents["report.html"].count(receipt["entry"]) == 1
    contents["report.html"] = re.sub(
        r"<p>The data owner's ledger charged.*?</p>\s*", "", contents["report.html"], flags=re.S
    )
    return contents
