"""`scumble studio`: the local web page."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from scumble import interrupts
from scumble.cli.options import Json
from scumble.cli.output import err, print_json, print_text
from scumble.installation import needing


def studio(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="The folder with your tables. Nothing outside of it is read.")
    ] = Path(),
    port: Annotated[int, typer.Option("--port", help="The port on 127.0.0.1 (default: any free one).", min=0)] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    json: Json = False,
) -> None:
    """Open the studio: a local web page that leads from a table to a published folder.

    Ctrl-C ends it.
    """
    with needing("studio"):
        from scumble.studio.server import Studio

    with Studio.listening(folder, port=port) as opened:
        if json:
            print_json({"address": opened.address, "folder": str(opened.folder)})
        else:
            print_text(f"The studio is at {opened.address}")
            print_text("The address contains a secret. Ctrl-C ends the studio; runs that it started go on.", err)
        with suppress(KeyboardInterrupt):
            opened.serve(browser=browser)
        interrupts.report()  # Ctrl-C is how a studio ends
