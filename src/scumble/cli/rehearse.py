"""`scumble join rehearse`: a joint release of generated rows on one machine, and the table of its costs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import Json, MethodName, with_method_options
from scumble.cli.output import print_advice, print_json, print_table, print_text, progress_bar
from scumble.model.budget import budget_text, parse_budget
from scumble.model.suspicion import highest_text


def print_phases(phases: Sequence[Mapping[str, Any]], party: str) -> None:
    """Print the cost of each phase, and the sums."""
    names = ("seconds", "rounds", "bytes_sent", "bytes_received")
    total = {"name": "total", **{name: sum(phase[name] for phase in phases) for name in names}}
    rows = [
        [
            phase["name"],
            f"{phase['seconds']:.2f}",
            f"{phase['rounds']:,}",
            f"{phase['bytes_sent'] / 1e6:.3f}",
            f"{phase['bytes_received'] / 1e6:.3f}",
        ]
        for phase in (*phases, total)
    ]
    print_table(f"Cost for {party}", ["phase", "seconds", "rounds", "MB sent", "MB received"], rows)


@with_method_options
def rehearse(
    *,
    parties: Annotated[int, typer.Option("--parties", help="The number of owners.", min=2, max=7)] = 3,
    aggregator: Annotated[bool, typer.Option("--aggregator", help="Add a computing party without rows.")] = False,
    rows: Annotated[
        int, typer.Option("--rows", help="The number of generated rows of all owners together.", min=0)
    ] = 3000,
    delay_ms: Annotated[
        float,
        typer.Option(
            "--delay-ms", help="Delay every message by this many milliseconds, to imitate a distant network.", min=0
        ),
    ] = 0,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Draw uniform rows from this schema (default: generated patients).")
    ] = None,
    method: MethodName = "diffgen",
    out: Annotated[Path | None, typer.Option("--out", help="Keep all parties' folders in this new folder.")] = None,
    json: Json = False,
    parameters: dict[str, Any],
) -> None:
    """Run a joint release of generated rows on this machine, with one process for each party.

    Prints the seconds, rounds and bytes of every party and phase.
    """
    from scumble.demo.rehearsal import rehearse as run_rehearsal

    given = {"epsilon": "1", **parameters}
    epsilon = parse_budget(given["epsilon"])
    print_advice(epsilon)
    with progress_bar() as progress:
        rehearsed = run_rehearsal(
            owners=parties,
            aggregator=aggregator or parties == 2,
            rows=rows,
            delay_ms=delay_ms,
            schema=schema,
            method=method,
            parameters=given,
            out=out,
            progress=progress,
        )
    if json:
        print_json(rehearsed.to_json())
        return
    for name, result in rehearsed.parties.items():
        print_phases(result["phases"], name)
    first = next(iter(rehearsed.parties.values()))
    delay = f", every message delayed by {delay_ms:g} ms" if delay_ms else ""
    print_text(
        f"{len(rehearsed.parties)} parties, {rows:,} rows{delay}: {first['cells']:,} cells, identical at all parties, "
        f"in {rehearsed.seconds:.1f} s including start-up."
    )
    print_text(f"With epsilon {budget_text(epsilon)}, a 50 % suspicion can rise to at most {highest_text(epsilon)}.")
