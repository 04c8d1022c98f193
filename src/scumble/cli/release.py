"""`scumble release`, `scumble evaluate` and `scumble verify`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.evaluation import print_evaluation
from scumble.cli.options import (
    TABLE,
    Json,
    LedgerFile,
    LossReason,
    NewLedger,
    SchemaFile,
    UsualMethod,
    WitnessFile,
    choice,
    declared_loss,
    with_csv_options,
    with_method_options,
)
from scumble.cli.output import (
    err,
    out,
    print_advice,
    print_guarantee,
    print_json,
    print_readings,
    print_text,
    progress_bar,
)
from scumble.engines import ENGINES
from scumble.files.page_check import NOT_CHECKED
from scumble.flows import release as flow
from scumble.flows.charge import WEAKER
from scumble.flows.evaluate import evaluate as evaluate_release
from scumble.flows.plan import plan as plan_release
from scumble.model.dialect import Dialect


@with_method_options
@with_csv_options
def release(
    *,
    data: Annotated[str, typer.Argument(help=TABLE, show_default=False)],
    schema: SchemaFile,
    out: Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)],
    method: UsualMethod = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="The dataset's name in the ledger (default: the file's stem).")
    ] = None,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    new_ledger: NewLedger = False,
    reason: LossReason = None,
    engine: Annotated[str, choice(ENGINES, "--engine", help=f"One of: {', '.join(ENGINES)}.")] = "memory",
    table: Annotated[
        bool, typer.Option("--table/--no-table", help="Also write rows: table.csv, and fine.csv where there is detail.")
    ] = True,
    accept: Annotated[
        list[str] | None,
        choice(WEAKER, "--accept", help=f"Accept a guarantee weaker than differential privacy: {', '.join(WEAKER)}."),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", help="An Ed25519 private key (PEM) to sign the release with.")
    ] = None,
    json: Json = False,
    dialect: Dialect,
    parameters: dict[str, Any],
) -> None:
    """Publish a table: reserve the budget, read the rows, write the release."""
    declared = declared_loss(new_ledger, reason)
    planned = plan_release(schema=schema, method=method, **parameters)
    for warning in planned.warnings:
        print_text(f"warning, before the charge: {warning}", err)
    print_advice(planned.guarantee, ", before the charge")
    with progress_bar() as progress:
        published = flow.release(
            data,
            schema=schema,
            out=out,
            method=method,
            dataset=dataset,
            ledger=ledger,
            witness=witness,
            new_ledger=declared,
            engine=engine,
            table=table,
            **asdict(dialect),
            accept=accept or (),
            sign=sign,
            progress=progress,
            notify=lambda text: print_text(f"notice: {text}", err),
            **parameters,
        )
    print_readings(dialect, data, engine=engine)
    if json:
        print_json(published.to_json())
    else:
        print_published(published)
    for warning in published.warnings:
        print_text(f"warning: {warning}", err)


def print_published(published: flow.Published) -> None:
    """Print the result of a release: size, guarantee, steps and charge."""
    made = published.release
    print_text(f"{published.folder}: {made.size_text}. Recommended for training: {published.recommended}.")
    print_guarantee(made.plan.guarantee)
    for step in made.story:
        out.print(f"  {step}")
    if published.uses:
        print_text(published.uses)
    print_text(f"Charged {published.receipt.text}. Took {published.seconds:.1f} s.")


@with_csv_options
def evaluate(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    test: Annotated[str | None, typer.Option("--test", help="Raw rows to test on.", show_default=False)] = None,
    train: Annotated[
        str | None, typer.Option("--train", help="The raw rows behind the release, for comparison.")
    ] = None,
    table: Annotated[
        str | None,
        choice(("table", "fine"), "--table", help="Which table of the release: table or fine. (default: recommended)"),
    ] = None,
    classifier: Annotated[
        list[str] | None,
        choice(
            ("tree", "boosting", "c45"),
            help="tree, boosting or c45; repeat the option for more. (default: tree, boosting)",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Another attribute to predict, or NUMBER>THRESHOLD such as age>40; repeat the option for more."
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Also report distances and accuracies within each value of this attribute.")
    ] = None,
    fidelity: Annotated[
        bool, typer.Option("--fidelity", help="Also compare distributions, associations and random queries.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for evaluation.html and evaluation.json, outside the release. Implies --fidelity."),
    ] = None,
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Compare a release with raw rows: accuracy of classifiers trained on it, and distances of its margins.

    The figures are computed from raw rows without noise. They are for the data owner only.
    """
    with progress_bar() as progress:
        result = evaluate_release(
            folder,
            test=test,
            train=train,
            table=table,
            classifiers=classifier or ("tree", "boosting"),
            targets=target or (),
            by=by,
            fidelity=fidelity,
            out=out,
            progress=progress,
            **asdict(dialect),
        )
    print_readings(dialect, test, train)
    if json:
        print_json(result)
        return
    print_evaluation(result)
    if out is not None:
        print_text(f"For the data owner only: {out / 'evaluation.html'} and {out / 'evaluation.json'}.")


def verify(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    signed_by: Annotated[
        Path | None, typer.Option("--signed-by", help="The owner's public key (PEM): the release must be signed by it.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a release folder without the private data."""
    passed = flow.verify(folder, signed_by=signed_by)
    if json:
        print_json({"release": str(folder), "held": passed})
        return
    skipped = sum(check.startswith(NOT_CHECKED) for check in passed)
    for check in passed:
        out.print(f"      {check}" if check.startswith(NOT_CHECKED) else f"  ok  {check}")
    out.print(f"{folder}: all {len(passed) - skipped} checks passed.")
