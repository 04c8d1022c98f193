"""`scumble reproduce`: reproduces a figure of a paper and compares the paper's claims with our results."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scumble.cli.options import choice
from scumble.cli.output import err, print_json, print_table, print_text, progress_bar

if TYPE_CHECKING:
    from scumble.reproductions.figure import Request

USUAL_OUT = Path("scumble-figures")


def _figures(incomplete: str) -> list[str]:
    from scumble.reproductions import FIGURES

    return [name for name in ("list", "all", *FIGURES) if name.startswith(incomplete)]


def reproduce(
    *,
    figure: Annotated[
        str,
        typer.Argument(help="The figure's name, `all`, or `list`.", show_default=False, autocompletion=_figures),
    ],
    out: Annotated[Path, typer.Option(help="The folder for plots, tables and cache.")] = USUAL_OUT,
    runs: Annotated[
        int | None, typer.Option(help="Number of runs at each point (default: as in the paper).", min=1)
    ] = None,
    classifier: Annotated[
        str | None,
        choice(
            ("c45", "tree", "boosting"),
            help="Classifier of the figures on accuracy: c45, tree or boosting (default: as in the paper).",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One run and less data: all figures in minutes.")] = False,
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
        request = Request(
            cache=out / "cache", runs=runs, jobs=jobs, progress=progress, classifier=classifier, quick=quick
        )
        if figure == "all":
            _reproduce_all(request, out, json=json)
            return
        made = reproductions.reproduce(figure, request)
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


def _reproduce_all(request: "Request", out: Path, *, json: bool) -> None:
    from scumble import reproductions
    from scumble.reproductions.everything import reproduce_all, total_sentence

    def announce(name: str, number: int, total: int, seconds: float) -> None:
        print_text(f"{name}, {number} of {total}. About {max(round(seconds / 60), 1)} min left for all.", err)

    outcomes = reproduce_all(reproductions.FIGURES, request, out, announce)
    if json:
        print_json({"folder": str(out), "figures": [asdict(each) for each in outcomes]})
        return
    rows = [
        [
            each.figure,
            "not made" if each.problem else str(each.agree),
            "" if each.problem else str(len(each.differ)),
            "" if each.problem else f"{each.seconds:.0f} s" + ("" if each.again else ", earlier"),
        ]
        for each in outcomes
    ]
    print_table("Claims of the papers", ["figure", "agree", "differ", "time"], rows)
    for each in outcomes:
        for line in (*each.differ, *([each.problem] if each.problem else [])):
            print_text(f"{each.figure}: {line}")
    print_text(f"{total_sentence(outcomes)} Summary: {out / 'summary.md'}.")
