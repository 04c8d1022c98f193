"""The demo on synthetic patients: plan, release, evaluation, a refused second release, and verification."""

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from scumble.demo.patients import write_patients
from scumble.errors import BudgetError
from scumble.flows.evaluate import evaluate
from scumble.flows.plan import plan
from scumble.flows.release import Published, release, verify
from scumble.model.plan import Plan
from scumble.privacy.ledger import Ledger


class DemoOutput(Protocol):
    """Receives what the demo does, step by step."""

    def command(self, text: str) -> None: ...
    def text(self, text: str) -> None: ...
    def plan(self, planned: Plan) -> None: ...
    def published(self, published: Published) -> None: ...
    def evaluation(self, result: dict[str, Any]) -> None: ...


class _Silent:
    def command(self, text: str) -> None: ...
    def text(self, text: str) -> None: ...
    def plan(self, planned: Plan) -> None: ...
    def published(self, published: Published) -> None: ...
    def evaluation(self, result: dict[str, Any]) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Demo:
    """The results of the demo."""

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


def run_demo(out: Path | None = None, *, output: DemoOutput | None = None) -> Demo:
    """Run everything a data owner does, in a new folder with a new ledger."""
    show = output or _Silent()
    folder = _fresh_folder(out or Path("scumble-demo"))
    data, test, schema = folder / "patients.csv", folder / "test.csv", folder / "schema.yaml"
    target, ledger = folder / "release", folder / "ledger.db"
    witness = folder / "witness.db"  # of its own: the user may delete the folder
    write_patients(folder)
    show.text(f"Synthetic patients are in {folder}: patients.csv, test.csv, and the public schema.yaml.")

    show.command(f"scumble plan --schema {schema} --epsilon 1")
    show.plan(plan(schema=schema, epsilon="1"))

    show.command(f"scumble release {data} --schema {schema} --epsilon 1 --ledger {ledger} --out {target}")
    show.published(release(data, schema=schema, epsilon="1", ledger=ledger, witness=witness, out=target))

    show.command(f"scumble evaluate {target} --test {test} --train {data} --classifier c45")
    scores = evaluate(target, test=test, train=data, classifiers=("c45",))  # which needs no optional package
    show.evaluation(scores)

    again = folder / "again"
    show.command(f"scumble release {data} --schema {schema} --epsilon 1 --ledger {ledger} --out {again}")
    refused = _expect_refusal(data, schema, ledger, witness, again)
    show.text(f"refused, exit code 3: {refused}")

    show.command(f"scumble verify {target}")
    checks = tuple(verify(target))
    show.text("\n".join(f"  ok  {check}" for check in checks))

    show.command(f"scumble ledger verify --ledger {ledger}")
    with Ledger.open(ledger, witness=witness) as opened:
        entries = opened.verify()
    show.text(f"  ok  {entries} entries: hash chain and arithmetic are correct")
    show.text(
        f"\nOpen {target / 'report.html'} in a browser. {target / 'README.md'} is for those who analyse the release."
    )
    return Demo(folder=folder, release=target, evaluation=scores, refused=refused, checks=checks)


def _expect_refusal(data: Path, schema: Path, ledger: Path, witness: Path, out: Path) -> str:
    try:
        release(data, schema=schema, epsilon="1", ledger=ledger, witness=witness, out=out)
    except BudgetError as refusal:
        return str(refusal)
    raise AssertionError("the ledger accepted a second release")


def _fresh_folder(out: Path) -> Path:
    """Create `out`, or the first of `out`-2, `out`-3, ... that does not exist: the demo overwrites nothing."""
    for number in count(1):
        folder = out if number == 1 else out.absolute().parent / f"{out.absolute().name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("unreachable: the count has no end")
