"""`scumble reproduce`: a paper's figure from our code, with the paper's claims beside ours."""

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
    runs: Annotated[int | None, typer.Option(help="Runs at each point (default: as in the paper).", min=1)] = None,
    jobs: Annotated[int, typer.Option(help="How many processes.", min=1)] = os.cpu_count() or 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """A paper's figure from our code: plot, CSV, and what the paper prints beside what we find."""
    # scikit-learn takes a second to import, which no other verb needs.
    from scumble import reproductions as figures
    from scumble.reproductions.figure import Request, verdict, write_figure

    if figure == "list":
        print_json({"figures": list(figures.FIGURES)}) if json else print_text("\n".join(figures.FIGURES))
        return
    with progress_bar() as progress:
        made = figures.reproduce(figure, Request(cache=out / "cache", runs=runs, jobs=jobs, progress=progress))
    told = write_figure(figure, made, out)
    if json:
        print_json({"folder": str(out), **told})
        return
    print_table(
        made.title,
        ["claim", "paper", "ours", ""],
        [[claim.text, claim.paper, claim.ours, verdict(claim)] for claim in made.claims],
    )
    for note in made.notes:
        print_text(f"- {note}")
    print_text(f"{out / figure}.svg has the plot, {figure}.csv the rows.")
