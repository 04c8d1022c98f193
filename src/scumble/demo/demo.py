"""The demo: made-up patients, a plan, a release, an evaluation, a refused second release, and the checks."""

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from scumble.demo.patients import write_patients
from scumble.errors import BudgetError
from scumble.flows import release as flow
from scumble.flows.evaluate import evaluate
from scumble.model.plan import Planned
from scumble.privacy.ledger import Ledger


class Watcher(Protocol):
    """Somebody who wants to see the demo as it goes."""

    def command(self, text: str) -> None: ...
    def text(self, text: str) -> None: ...
    def plan(self, planned: Planned) -> None: ...
    def published(self, published: flow.Published) -> None: ...
    def evaluation(self, result: dict[str, Any]) -> None: ...


class _Nobody:
    def command(self, text: str) -> None: ...
    def text(self, text: str) -> None: ...
    def plan(self, planned: Planned) -> None: ...
    def published(self, published: flow.Published) -> None: ...
    def evaluation(self, result: dict[str, Any]) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Demo:
    """What the demo left behind."""

    folder: Path
    release: Path
    evaluation: dict[str, Any] = field(default_factory=dict)
    refused: str = ""
    checks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "release": str(self.release),
            "evaluation": self.evaluation,
            "refused": self.refused,
            "checks": list(self.checks),
        }


def run_demo(out: Path | None = None, *, watcher: Watcher | None = None) -> Demo:
    """Everything a data owner does, in a folder of its own with a ledger of its own."""
    show = watcher or _Nobody()
    folder = _fresh_folder(out or Path("scumble-demo"))
    data, test, schema = folder / "patients.csv", folder / "test.csv", folder / "schema.yaml"
    target, ledger = folder / "release", folder / "ledger.db"
    write_patients(folder)
    show.text(f"Made-up patients are in {folder}: patients.csv, test.csv, and schema.yaml, which is public.")

    show.command(f"scumble plan --schema {schema} --epsilon 1")
    show.plan(flow.plan(schema=schema, epsilon="1"))

    show.command(f"scumble release {data} --schema {schema} --epsilon 1 --ledger {ledger} --out {target}")
    show.published(flow.release(data, schema=schema, epsilon="1", ledger=ledger, out=target))

    show.command(f"scumble evaluate {target} --test {test} --train {data}")
    scores = evaluate(target, test=test, train=data)
    show.evaluation(scores)

    again = folder / "again"
    show.command(f"scumble release {data} --schema {schema} --epsilon 1 --ledger {ledger} --out {again}")
    refused = _expect_refusal(data, schema, ledger, again)
    show.text(f"refused, exit code 3: {refused}")

    show.command(f"scumble verify {target}")
    checks = tuple(flow.verify(target))
    show.text("\n".join(f"  ok  {check}" for check in checks))

    show.command(f"scumble ledger verify --ledger {ledger}")
    with Ledger.open(ledger) as book:
        entries = book.verify()
    show.text(f"  ok  {entries} entries, chain and arithmetic hold")
    show.text(f"\nOpen {target / 'report.html'} in a browser; {target / 'README.md'} is for the miner.")
    return Demo(folder=folder, release=target, evaluation=scores, refused=refused, checks=checks)


def _expect_refusal(data: Path, schema: Path, ledger: Path, out: Path) -> str:
    try:
        flow.release(data, schema=schema, epsilon="1", ledger=ledger, out=out)
    except BudgetError as refusal:
        return str(refusal)
    raise AssertionError("the ledger let a second release pass")


def _fresh_folder(out: Path) -> Path:
    """`out`, or the first of `out`-2, `out`-3, ... that is not there yet: the demo runs every time, over nothing."""
    for number in count(1):
        folder = out if number == 1 else out.absolute().parent / f"{out.absolute().name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("numbers never end")
