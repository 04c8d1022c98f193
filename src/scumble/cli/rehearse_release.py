"""`scumble rehearse`: a whole release of generated rows, without a ledger."""

from typing import Annotated, Any

import typer

from scumble.cli.options import Json, SchemaFile, UsualMethod, with_method_options
from scumble.cli.output import print_advice, print_guarantee, print_json, print_table, print_text, progress_bar
from scumble.flows.plan import plan as plan_release

SHOWN_TABLES = 20


@with_method_options
def rehearse(
    *,
    schema: SchemaFile,
    method: UsualMethod = None,
    rows: Annotated[int, typer.Option("--rows", help="The number of generated rows.", min=0)] = 10_000,
    json: Json = False,
    parameters: dict[str, Any],
) -> None:
    """Make a whole release of rows drawn from the schema: time, size and noise. It costs nothing.

    The rows are uniform and independent: they show cost and noise, and never an accuracy.
    """
    from scumble.demo.release_rehearsal import FREE, rehearse_release

    planned = plan_release(schema=schema, method=method, **parameters)
    print_advice(planned.guarantee)
    with progress_bar() as progress:
        found = rehearse_release(schema, method=method, parameters=parameters, rows=rows, progress=progress)
    if json:
        print_json(found.to_json())
        return
    print_text(f"{found.rows:,} rows by {found.method}: {found.size}, {found.bytes:,} bytes, in {found.seconds:.1f} s.")
    lines = [
        [each.name, f"{each.entries:,}", f"{each.deviation:.3g}", f"{each.apart:.3g}"]
        for each in found.tables[:SHOWN_TABLES]
    ]
    heads = ["counts of", "entries", "standard deviation of the noise", "difference that can be seen"]
    print_table("Noise", heads, lines)
    print_guarantee(planned.guarantee)
    print_text(FREE)
