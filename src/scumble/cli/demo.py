"""`scumble demo`: the whole workflow on built-in data."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.evaluation import print_evaluation
from scumble.cli.options import Json
from scumble.cli.output import out, print_json
from scumble.cli.plan import print_plan
from scumble.cli.release import print_published
from scumble.demo.demo import run_demo


def demo(
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The folder to create; a number is appended if it exists (default: scumble-demo)."),
    ] = None,
    json: Json = False,
) -> None:
    """Run the whole workflow on built-in data, with a separate ledger."""
    if json:
        print_json(run_demo(out).to_json())
        return
    run_demo(out, output=DemoPrinter())


class DemoPrinter:
    """Prints each command of the demo and its output."""

    def command(self, text: str) -> None:
        out.print(f"\n$ {text}", style="bold")

    def text(self, text: str) -> None:
        out.print(text)

    plan = staticmethod(print_plan)
    published = staticmethod(print_published)
    evaluation = staticmethod(print_evaluation)
