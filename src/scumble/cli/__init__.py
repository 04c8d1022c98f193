"""The command line: one module for each verb, imported when the verb is used."""

import os
import signal
import sys
from threading import Timer
from typing import Any, NoReturn

import typer

from scumble.cli.output import err
from scumble.cli.verbs import Verbs
from scumble.errors import ScumbleError

INTERRUPTED = 130
"""What typer makes of Ctrl-C. Ours is 1, and 5 where a charge stands, of which the release itself tells."""
MOMENT = 0.05
"""Seconds that a lost Ctrl-C waits."""

app = typer.Typer(name="scumble", cls=Verbs, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def scumble() -> None:
    """Publish a table that people can mine without publishing the people in it."""


def main() -> None:
    """Run the command line; what goes wrong becomes one line on standard error and an exit code."""
    # pydantic would search every installed package for plugins, and scumble uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.unraisablehook = _interrupt_again
    try:
        code = app(standalone_mode=False)
    except ScumbleError as error:
        _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        _fail(_usage(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"The machine failed: {place}{error.strerror or error}. See that the disk has room and is yours to use.")
    if code == INTERRUPTED:
        _fail("Interrupted.")
    sys.exit(code)


def _interrupt_again(lost: Any) -> None:
    """Ctrl-C that came while a library freed an object, where Python can only print it: let it come once more.

    A moment later, for here it would be lost again, as it would in the destructor.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    later = Timer(MOMENT, os.kill, (os.getpid(), signal.SIGINT))
    later.daemon = True
    later.start()


def _usage(error: typer.TyperException) -> str:
    """What was wrong with the words of a command; nothing where typer has printed its help instead."""
    problem = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{problem}. See `{context.command_path if context else 'scumble'} --help`." if problem else ""


def _fail(message: str, code: int = 1) -> NoReturn:
    if message:
        from rich.text import Text

        err.print(Text.assemble(("error:", "bold red"), " ", message))
    sys.exit(code)
