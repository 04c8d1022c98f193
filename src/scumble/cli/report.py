"""`scumble report`: pages about a release for the public, for a board, or for engineers."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.options import Json, choice
from scumble.cli.output import err, print_json, print_text, progress_bar
from scumble.errors import InputError

AUDIENCES = ("public", "board", "technical")


def report(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    audience: Annotated[str, choice(AUDIENCES, "--audience", help=f"One of: {', '.join(AUDIENCES)}.")] = "public",
    out: Annotated[
        Path, typer.Option("--out", help="The folder for the pages, outside the release.", show_default=False)
    ],
    train: Annotated[str | None, typer.Option("--train", help="The raw rows behind the release.")] = None,
    test: Annotated[str | None, typer.Option("--test", help="Other raw rows, to test classifiers on.")] = None,
    control: Annotated[
        str | None, typer.Option("--control", help="Similar rows that are not in the release, for the attacks.")
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Runs of the audit on made-up tables; 0 for none.", min=0)] = 400,
    json: Json = False,
) -> None:
    """Write the pages about a release for an audience.

    `public` never reads raw rows. The pages for a board and for engineers are computed from raw rows without noise.
    They are marked as the owner's own and are never written into a release folder. `technical` has an evaluation with
    fidelity, an audit and, if their rows are given, the risk of re-identification and attacks.
    """
    from scumble.auditing.audience_reports import OWNER_ONLY, Audience, write_reports
    from scumble.auditing.audit import FEWEST_RUNS

    try:
        chosen = Audience(audience)
    except ValueError:
        available = ", ".join(each.value for each in Audience)
        raise InputError(f"Unknown audience {audience!r}. Available: {available}.") from None
    if 0 < runs < FEWEST_RUNS:  # refused before any page is written
        raise InputError(f"--runs {runs} is too few for a lower bound. Give {FEWEST_RUNS} or more, or 0 for no audit.")
    with progress_bar() as progress:
        pages = write_reports(
            folder, audience=chosen, out=out, train=train, test=test, control=control, runs=runs, progress=progress
        )
    if chosen is Audience.TECHNICAL:
        for missing in _missing(train, test, control, runs):
            print_text(f"notice: {missing}", err)
    if json:
        print_json({"audience": chosen.value, "pages": [str(page) for page in pages]})
        return
    for page in pages:
        print_text(str(page))
    if chosen is not Audience.PUBLIC:
        print_text(OWNER_ONLY)


def _missing(train: str | None, test: str | None, control: str | None, runs: int) -> list[str]:
    """The parts of a technical report that need more than was given."""
    parts = (
        (train is None, "No risk of re-identification and no fidelity: give the raw rows behind the release, --train."),
        (test is None, "No classifiers were tested: give other raw rows, --test."),
        (train is None or control is None, "No attacks: give --train, and similar rows that are not in it, --control."),
        (runs == 0, "No audit: give --runs."),
    )
    return [text for absent, text in parts if absent]
