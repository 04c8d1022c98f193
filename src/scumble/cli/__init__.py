"""The command line: one module for each verb, imported when the verb is used."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from difflib import SequenceMatcher
from threading import Timer
from typing import Annotated, Any

import typer

from scumble import __version__, interrupts
from scumble.cli.output import err
from scumble.cli.verbs import Verbs
from scumble.errors import Interrupted, ScumbleError
from scumble.foreign.text import printable

INTERRUPTED = 130
"""The exit code of typer after Ctrl-C. This program exits with 1, or with 5 if a release was charged."""
RESEND_SECONDS = 0.05
"""Delay before a lost Ctrl-C is sent again."""

app = typer.Typer(name="scumble", cls=Verbs, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scumble {__version__}")
        raise typer.Exit


@app.callback()
def scumble(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Publish a table that people can mine without publishing the people in it."""


def main() -> None:
    """Run the command line. An error becomes one line on standard error and an exit code."""
    # Otherwise pydantic searches all installed packages for plugins. scumble uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.unraisablehook = _interrupt_again
    with interrupts.handled():
        try:
            with interrupts.converted():
                code, message = _run()
            if code == 0:
                interrupts.check()
        except KeyboardInterrupt:
            code, message = _interrupted()
        with suppress(KeyboardInterrupt), interrupts.delayed():
            _print_error(message)
        interrupts.keep_exit_code()
        sys.exit(code)


def _run() -> tuple[int, str]:
    """Run the verb; its exit code and, if it failed, the message."""
    try:
        code = app(standalone_mode=False)
    except ScumbleError as error:
        return error.exit_code, str(error)
    except typer.TyperException as error:
        return error.exit_code, _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return 1, f"The run failed: {place}{error.strerror or error}. Check free disk space and file permissions."
    return _interrupted() if code == INTERRUPTED else (code or 0, "")


def _interrupted() -> tuple[int, str]:
    """The exit code and the message after an interruption that no run reported: it may have come after its end."""
    interrupts.report()
    charge = interrupts.last_charge()
    if charge is None:
        return 1, "Interrupted."
    return Interrupted.exit_code if charge.begun else 1, f"Interrupted. {charge}"


def _interrupt_again(lost: Any) -> None:
    """Interrupt again if Ctrl-C came while a destructor ran, where Python only prints it.

    It is done a little later, because here and in the destructor it would be lost again. A run that publishes stops at
    the next `interrupts.check` in any case.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    later = Timer(RESEND_SECONDS, interrupts.resend)
    later.daemon = True
    later.start()


def _usage(error: typer.TyperException) -> str:
    """What is wrong with the arguments of a command; empty if typer printed its help instead."""
    near = getattr(error, "possibilities", None)
    unknown = getattr(error, "option_name", None)
    if unknown is not None:
        problem = f"No such option: {unknown}." + (f" Did you mean {_nearest(unknown, near)}?" if near else "")
    else:
        problem = error.format_message()
    if not problem:
        return ""
    context = getattr(error, "ctx", None)
    ending = "" if problem.endswith((".", "?")) else "."
    return f"{problem}{ending} See `{context.command_path if context else 'scumble'} --help`."


def _nearest(name: str, available: Iterable[str]) -> str:
    return max(available, key=lambda each: SequenceMatcher(None, name, each).ratio())


def _print_error(message: str) -> None:
    if message:
        from rich.text import Text

        err.print(Text.assemble(("error:", "bold red"), " ", printable(message)))
