"""`scumble demo`: the main job on built-in data."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.options import Json
from scumble.cli.output import out, print_json
from scumble.cli.plan import print_plan
from scumble.cli.release import print_evaluation, print_published
from scumble.demo.demo import run_demo


def demo(
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The folder to make, with a number where it exists (default: scumble-demo)."),
    ] = None,
    json: Json = False,
) -> None:
    """The main job on built-in data, start to finish, with a ledger of its own."""
    if json:
        print_json(run_demo(out).to_json())
        return
    run_demo(out, output=DemoPrinter())


class DemoPrinter:
    """Prints the demo as it goes: the command a user would type, then what it says."""

    def command(self, text: str) -> None:
        out.print(f"\n$ {text}", style="bold")

    def text(self, text: str) -> None:
        out.print(text)

    plan = staticmethod(print_plan)
    published = staticmethod(print_published)
    evaluation = staticmethod(print_evaluation)
