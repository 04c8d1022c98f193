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
"""The exit code of typer after Ctrl-C. This program exits with 1, or with 5 if a release was charged."""
RESEND_SECONDS = 0.05
"""Delay before a lost Ctrl-C is sent again."""

app = typer.Typer(name="scumble", cls=Verbs, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def scumble() -> None:
    """Publish a table that people can mine without publishing the people in it."""


def main() -> None:
    """Run the command line. An error becomes one line on standard error and an exit code."""
    # Otherwise pydantic searches all installed packages for plugins. scumble uses none.
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
        _fail(f"The run failed: {place}{error.strerror or error}. Check free disk space and file permissions.")
    if code == INTERRUPTED:
        _fail("Interrupted.")
    sys.exit(code)


def _interrupt_again(lost: Any) -> None:
    """Send Ctrl-C again if it came while a destructor ran, where Python only prints it.

    It is sent a little later, because here and in the destructor it would be lost again.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    later = Timer(RESEND_SECONDS, os.kill, (os.getpid(), signal.SIGINT))
    later.daemon = True
    later.start()


def _usage(error: typer.TyperException) -> str:
    """What is wrong with the arguments of a command; empty if typer printed its help instead."""
    problem = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{problem}. See `{context.command_path if context else 'scumble'} --help`." if problem else ""


def _fail(message: str, code: int = 1) -> NoReturn:
    if message:
        from rich.text import Text

        err.print(Text.assemble(("error:", "bold red"), " ", message))
    sys.exit(code)
