"""`scumble perturb`: perturb a table record by record."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import TABLE, Json, SchemaFile, choice, with_csv_options, with_strength_options
from scumble.cli.output import err, print_advice, print_guarantee, print_json, print_readings, print_text, progress_bar
from scumble.errors import InputError
from scumble.flows.perturb import perturb as perturb_table
from scumble.foreign.files import read_bytes
from scumble.model.dialect import Dialect


@with_csv_options
@with_strength_options
def perturb(
    *,
    data: Annotated[str, typer.Argument(help=TABLE, show_default=False)],
    schema: SchemaFile,
    out: Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)],
    secret: Annotated[
        Path | None, typer.Option(help="A file with at least 16 random bytes that fix each entity's noise.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(help="The column that identifies entities; never published (default: the persons).")
    ] = None,
    keyed: Annotated[
        str | None,
        typer.Option(help="Keyed function of --secret: hmac-sha256/2 (default); blake2b/1 repeats an older table."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        choice(("interval",), help="Write `interval` to accept interval privacy, which is not differential privacy."),
    ] = None,
    json: Json = False,
    strength: dict[str, Any],
    dialect: Dialect,
) -> None:
    """Perturb every record independently, for a receiver who must not see the true table."""
    with progress_bar() as progress:
        made = perturb_table(
            data,
            schema=schema,
            out=out,
            secret=None if secret is None else _secret(secret),
            entity=entity,
            keyed=keyed,
            accept=accept or (),
            **asdict(dialect),
            progress=progress,
            **strength,
        )
    print_readings(dialect, data)
    if secret is None:
        print_text("Each repetition costs privacy again: keep this table, or fix the noise with --secret.", err)
    print_advice(made.release.plan.guarantee)
    if json:
        print_json(made.to_json())
        return
    print_text(f"{made.folder}: {made.release.records:,} perturbed records.")
    print_guarantee(made.release.plan.guarantee)
    for note in made.release.plan.notes:
        print_text(f"  {note}")


def _secret(path: Path) -> bytes:
    try:
        return read_bytes(path, follow_links=True)
    except OSError as error:
        raise InputError(
            f"The secret {path} cannot be read: {error.strerror}. Make one: `head -c 32 /dev/urandom > FILE`."
        ) from error
