"""`scumble perturb`: perturb a table record by record."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.options import TABLE, Json, SchemaFile, with_csv_options
from scumble.cli.output import err, print_json, print_readings, print_text, progress_bar
from scumble.errors import InputError
from scumble.flows.perturb import perturb as perturb_table
from scumble.foreign.files import read_bytes
from scumble.model.dialect import Dialect


@with_csv_options
def perturb(
    *,
    data: Annotated[str, typer.Argument(help=TABLE, show_default=False)],
    schema: SchemaFile,
    out: Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)],
    privacy: Annotated[
        str | None,
        typer.Option(help="Width of the interval that hides a value, as a share of its public range (default: 100%)."),
    ] = None,
    confidence: Annotated[str | None, typer.Option(help="Confidence of that interval (default: 95%).")] = None,
    noise: Annotated[
        str | None, typer.Option(help="Noise of numbers: gaussian (default), uniform or discretized.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(help="Use local differential privacy with this total epsilon per record, or per person, instead."),
    ] = None,
    truthful: Annotated[str, typer.Option(help="Attributes reported without noise, separated by commas.")] = "",
    withhold: Annotated[str, typer.Option(help="Attributes left out, separated by commas.")] = "",
    privacy_of: Annotated[
        str, typer.Option(help="Privacy of single attributes, such as age=50%,salary=150%; the others use --privacy.")
    ] = "",
    retain: Annotated[
        str, typer.Option(help="Probability to report the true category, such as job=70%,sick=90%.")
    ] = "",
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
        typer.Option(help="Write `interval` to accept interval privacy, which is not differential privacy."),
    ] = None,
    json: Json = False,
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
            privacy=privacy,
            confidence=confidence,
            noise=noise,
            epsilon=epsilon,
            truthful=_names(truthful),
            withhold=_names(withhold),
            privacy_of=_pairs(privacy_of, "--privacy-of"),
            retain=_pairs(retain, "--retain"),
        )
    print_readings(dialect, data)
    if secret is None:
        print_text("Each repetition costs privacy again: keep this table, or fix the noise with --secret.", err)
    if json:
        print_json(made.to_json())
        return
    print_text(f"{made.folder}: {made.release.records:,} perturbed records.")
    print_text(f"Guarantee: {made.release.plan.guarantee.sentence}")
    for note in made.release.plan.notes:
        print_text(f"  {note}")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(text: str, option: str) -> dict[str, str]:
    pairs = [pair.rpartition("=") for pair in _names(text)]
    if not all(name.strip() and value.strip() for name, _, value in pairs):
        raise InputError(f"{option} is {text!r}. Write pairs such as age=50%, separated by commas.")
    named = [name.strip() for name, _, _ in pairs]
    if len(set(named)) < len(named):
        raise InputError(f"{option} names an attribute twice. Give each once.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _secret(path: Path) -> bytes:
    try:
        return read_bytes(path, follow_links=True)
    except OSError as error:
        raise InputError(
            f"The secret {path} cannot be read: {error.strerror}. Make one: `head -c 32 /dev/urandom > FILE`."
        ) from error
