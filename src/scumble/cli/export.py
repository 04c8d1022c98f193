"""`scumble export`: a table of a release for another program."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.options import Json, choice
from scumble.cli.output import print_json, print_text
from scumble.files.exports.formats import FORMATS
from scumble.flows.export import export as write_export

TABLES = ("fine", "table", "counts", "groups")


def export(
    *,
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    out: Annotated[
        Path,
        typer.Option("--out", help="The new file: .parquet, .dta, .sav, .zsav or .csv.", show_default=False),
    ],
    format: Annotated[
        str | None,
        choice(FORMATS, "--format", help=f"One of: {', '.join(FORMATS)} (default: by the ending of --out)."),
    ] = None,
    table: Annotated[
        str | None,
        choice(TABLES, "--table", help=f"One of: {', '.join(TABLES)} (default: the one the release recommends)."),
    ] = None,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Add the ends of intervals as numbers: age_low <= x < age_high.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a table of a release for another program: Parquet, Stata or SPSS with value labels, or CSV.

    It reads a published folder only. This is post-processing: it costs nothing, and the guarantee of the release
    covers the file. Stata and SPSS need the extra `statistics`.
    """
    made = write_export(release, out, format=format, table=table, bounds=bounds)
    if json:
        print_json(
            {
                "out": str(made.path),
                "table": made.table,
                "format": made.format,
                "columns": list(made.columns),
                "renamed": dict(made.renamed),
            }
        )
        return
    print_text(f"{made.path}: {made.table} of the release, {len(made.columns)} columns.")
    for old, new in made.renamed.items():
        print_text(f"{old} is named {new} there.")
