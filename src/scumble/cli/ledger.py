"""`scumble ledger`: show, grant, verify."""

from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import Json, LedgerFile
from scumble.cli.output import out, print_json, print_table, print_text
from scumble.errors import InputError
from scumble.model.budget import budget_text, parse_budget
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_file import default_path

ledger_app = typer.Typer(help="What every dataset has spent, for ever.", no_args_is_help=True)


@ledger_app.command()
def show(*, ledger: LedgerFile = None, json: Json = False) -> None:
    """Every dataset with its unit, what it has spent, its ceiling, and its entries."""
    path = ledger or default_path()
    data: dict[str, Any] = {"datasets": []}
    if path.exists():
        with Ledger.open(path) as book:
            data = book.datasets()
    if json:
        print_json(data)
        return
    if not data["datasets"]:
        print_text(f"The ledger {path}: nothing was spent yet. The first release opens an account.")
    else:
        out.print(f"The ledger {path}")
    for dataset in data["datasets"]:
        out.print()
        out.print(f"{dataset['name']} ({dataset['unit']}): {dataset['spent']} of {dataset['ceiling']} spent")
        rows = [[entry["time"], entry["kind"], _amount(entry), entry["hash"][:12]] for entry in dataset["entries"]]
        print_table("", ["time", "entry", "what", "hash"], rows)


def _existing(ledger: Path | None) -> Path:
    """Where the ledger is. A name mistyped should not make a new one."""
    path = ledger or default_path()
    if not path.exists():
        raise InputError(f"There is no ledger {path}. Name the one you mean with --ledger or SCUMBLE_LEDGER.")
    return path


def _amount(entry: dict[str, str]) -> str:
    """The telling part of an entry."""
    if "charged" in entry:
        return f"{entry['method']}, charged {entry['charged']}"
    if "ceiling" in entry:
        reason = f", {entry['reason']}" if "reason" in entry else ""
        return f"ceiling {entry['ceiling']}{reason}"
    return {"rows": "its rows were read", "settle": "its release stands"}.get(entry["kind"], "")


@ledger_app.command()
def grant(
    *,
    name: Annotated[str, typer.Argument(help="The dataset.", show_default=False)],
    ceiling: Annotated[str, typer.Argument(help="All that the dataset may ever spend.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept for ever.", show_default=False)],
    ledger: LedgerFile = None,
    json: Json = False,
) -> None:
    """Raise a dataset's ceiling, with a reason."""
    amount = parse_budget(ceiling, name="the ceiling")
    with Ledger.open(_existing(ledger)) as book:
        book.grant(name, amount, reason)
    if json:
        print_json({"dataset": name, "ceiling": budget_text(amount), "reason": reason})
    else:
        out.print(f"{name}: the ceiling is {budget_text(amount)} from now on.")


@ledger_app.command()
def verify(*, ledger: LedgerFile = None, json: Json = False) -> None:
    """Recompute the chain of hashes and the arithmetic."""
    with Ledger.open(_existing(ledger)) as book:
        entries = book.verify()
    if json:
        print_json({"entries": entries, "valid": True})
    else:
        out.print(f"{entries} entries: the chain and the arithmetic hold.")
