"""`scumble reproduce`: reproduces a figure of a paper and compares the paper's claims with our results."""

import os
from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import print_json, print_table, print_text, progress_bar

USUAL_OUT = Path("scumble-figures")


def reproduce(
    *,
    figure: Annotated[str, typer.Argument(help="The figure's name, or `list`.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The folder for plots, tables and cache.")] = USUAL_OUT,
    runs: Annotated[
        int | None, typer.Option(help="Number of runs at each point (default: as in the paper).", min=1)
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = os.cpu_count() or 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Reproduce a figure of a paper: plot, CSV, and the paper's claims compared with our results."""
    # scikit-learn takes a second to import; other commands should not wait for it.
    from scumble import reproductions
    from scumble.reproductions.figure import Request, verdict, write_figure

    if figure == "list":
        print_json({"figures": list(reproductions.FIGURES)}) if json else print_text("\n".join(reproductions.FIGURES))
        return
    with progress_bar() as progress:
        made = reproductions.reproduce(figure, Request(cache=out / "cache", runs=runs, jobs=jobs, progress=progress))
    summary = write_figure(figure, made, out)
    if json:
        print_json({"folder": str(out), **summary})
        return
    print_table(
        made.title,
        ["claim", "paper", "ours", ""],
        [[claim.text, claim.paper, claim.ours, verdict(claim)] for claim in made.claims],
    )
    for note in made.notes:
        print_text(f"- {note}")
    print_text(f"Plot: {out / figure}.svg. Data: {out / figure}.csv.")
