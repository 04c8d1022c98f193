"""`scumble ledger`: show what was spent, raise (`grant`) a ceiling, verify the hash chain."""

from pathlib import Path
from typing import Annotated

import typer

from scumble import interrupts
from scumble.cli.options import Json, LedgerFile, LossReason, NewLedger, WitnessFile, declared_loss
from scumble.cli.output import err, out, print_advice, print_json, print_table, print_text
from scumble.errors import InputError
from scumble.model.budget import budget_text, parse_budget, parse_delta, short_delta
from scumble.model.suspicion import total_text
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_place import default_path, default_witness
from scumble.privacy.ledger_statement import LedgerStatement
from scumble.privacy.open_ledger import refuse_missing

ledger_app = typer.Typer(help="Show, verify and raise the privacy budgets of datasets.", no_args_is_help=True)


@ledger_app.command()
def show(*, ledger: LedgerFile = None, witness: WitnessFile = None, json: Json = False) -> None:
    """Show every dataset with its unit, spent budget, ceiling and entries."""
    path = ledger or default_path()
    statement, notices = LedgerStatement(path=path), tuple[str, ...]()
    if path.exists():
        with Ledger.open(path, witness=witness, reading=True) as opened:
            statement, notices = opened.statement(), opened.notices
    else:
        refuse_missing(path, witness or default_witness())
    for notice in notices:
        print_text(f"notice: {notice}", err)
    if json:
        print_json(statement.to_json())
        return
    if not statement.accounts:
        print_text(f"The ledger {path} is empty. The first release of a dataset adds an entry.")
    else:
        out.print(f"The ledger {path}")
    for event in statement.events:
        out.print(f"{event.time} {event.text}")
    for account in statement.accounts:
        out.print()
        out.print(account.listing.heading)
        print_text(total_text(account.spent))
        print_table("", account.listing.columns, account.listing.rows)


def _existing(ledger: Path | None, witness: Path | None) -> Path:
    """The path of the ledger, which must exist: a mistyped name must not create a new ledger."""
    path = ledger or default_path()
    if not path.exists():
        refuse_missing(path, witness or default_witness())
        raise InputError(f"The ledger {path} does not exist. Give its path with --ledger or SCUMBLE_LEDGER.")
    return path


@ledger_app.command()
@interrupts.completed
def grant(
    *,
    name: Annotated[str, typer.Argument(help="The dataset.", show_default=False)],
    ceiling: Annotated[
        str, typer.Argument(help="The total epsilon that the dataset may ever spend.", show_default=False)
    ],
    reason: Annotated[
        str, typer.Option("--reason", help="The reason, which is recorded permanently.", show_default=False)
    ],
    delta: Annotated[
        str | None,
        typer.Option(help="The total delta that the dataset may ever spend.", show_default=False),
    ] = None,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    json: Json = False,
) -> None:
    """Raise the ceiling of a dataset, with a reason."""
    amount = parse_budget(ceiling, name="the ceiling")
    total = None if delta is None else parse_delta(delta, name="the ceiling of delta")
    print_advice(amount)
    with Ledger.open(_existing(ledger, witness), witness=witness) as opened:
        opened.grant(name, amount, reason, delta=total)
    if json:
        granted = {} if total is None else {"ceiling_delta": budget_text(total)}
        print_json({"dataset": name, "ceiling": budget_text(amount), **granted, "reason": reason})
    else:
        also = "" if total is None else f", and that of delta {short_delta(total)}"
        out.print(f"{name}: the ceiling is now {budget_text(amount)}{also}.")
        print_text(total_text(amount))


@ledger_app.command()
def verify(
    *,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    release: Annotated[
        list[Path] | None,
        typer.Option(
            "--release", metavar="DIR", help="A release folder that this ledger paid for. Can be given several times."
        ),
    ] = None,
    new_ledger: NewLedger = False,
    reason: LossReason = None,
    json: Json = False,
) -> None:
    """Check the hash chain and the arithmetic of the ledger, and compare it with its witness and with releases."""
    from scumble.files.page_check import NOT_CHECKED
    from scumble.flows.ledger_check import check_ledger

    declared = declared_loss(new_ledger, reason)
    path = _existing(ledger, witness) if declared is None else ledger or default_path()
    with Ledger.open(path, witness=witness, new_ledger=declared) as opened:
        checks = check_ledger(opened, release or ())
        entries, notices = opened.verify(), opened.notices
    for notice in notices:
        print_text(f"notice: {notice}", err)
    if json:
        print_json({"entries": entries, "valid": True, "checks": checks, "notices": list(notices)})
        return
    for check in checks:
        print_text(f"    {check}" if check.startswith(NOT_CHECKED) else f"ok  {check}")
