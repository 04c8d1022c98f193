"""The command line: a thin skin over `flow`."""

import sys

import typer
from rich.markup import escape

from scumble.cli import owner
from scumble.cli.ledger import ledger_app
from scumble.cli.output import err
from scumble.cli.schema import schema_app
from scumble.errors import ScumbleError

app = typer.Typer(
    name="scumble",
    help="Publish a table that people can mine without publishing the people in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for verb in (owner.demo, owner.plan, owner.release, owner.evaluate, owner.verify):
    app.command()(verb)
app.add_typer(schema_app, name="schema")
app.add_typer(ledger_app, name="ledger")


def main() -> None:
    """Run the command line; errors become one line on standard error and an exit code."""
    try:
        app()
    except ScumbleError as error:
        err.print(f"[bold red]error:[/bold red] {escape(str(error))}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        err.print("Interrupted. Nothing was charged.")
        sys.exit(1)
