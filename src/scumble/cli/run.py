"""`scumble run`: a release recorded in a run file."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.options import Json, LedgerFile, WitnessFile
from scumble.cli.output import err, print_json, print_text, progress_bar
from scumble.cli.release import print_published
from scumble.files.run_file import read_run
from scumble.flows.run import plan_run
from scumble.flows.run import run as run_recorded


def run(
    *,
    file: Annotated[Path, typer.Argument(metavar="RUN.YAML", help="The run file.", show_default=False)],
    data: Annotated[
        str | None, typer.Option("--data", help="Another table with the same columns, such as that of the next year.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The folder to create (default: the run file's).")] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="The dataset's name in the ledger (default: the run file's).")
    ] = None,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    confirmed: Annotated[
        str | None,
        typer.Option("--confirmed", metavar="HASH", help="Refuse unless the run is the one the studio showed."),
    ] = None,
    json: Json = False,
) -> None:
    """Make the release that a run file describes: the same schema, method and parameters, with new noise."""
    for warning in plan_run(read_run(file), file.parent).warnings:
        print_text(f"warning, before the charge: {warning}", err)
    with progress_bar() as progress:
        published = run_recorded(
            file,
            data=data,
            out=out,
            dataset=dataset,
            ledger=ledger,
            witness=witness,
            confirmed=confirmed,
            progress=progress,
            notify=lambda text: print_text(f"notice: {text}", err),
        )
    if json:
        print_json(published.to_json())
    else:
        print_published(published)
    for warning in published.warnings:
        print_text(f"warning: {warning}", err)
