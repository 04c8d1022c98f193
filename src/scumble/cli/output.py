"""Printing: results on standard output, everything else on standard error."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from scumble.errors import ScumbleError
from scumble.flows.progress import Progress as Report
from scumble.foreign.text import printable
from scumble.model.dialect import Dialect
from scumble.model.guarantee import Guarantee
from scumble.model.suspicion import epsilon_advice, suspicion_text

PROGRESS_VARIABLE = "SCUMBLE_PROGRESS"
"""With the value `lines`, progress is lines of JSON on standard error, for a program that started this one."""
QUIET_SECONDS = 2.0
"""Work shorter than this shows no progress."""


class SafeConsole(Console):
    """A console that prints control characters in texts of others as escapes."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(printable(each) if isinstance(each, str) else each for each in objects), **options)


# Names and paths of the user are printed: brackets and colons in them are not markup.
out = SafeConsole(highlight=False, markup=False, emoji=False, soft_wrap=True)
err = SafeConsole(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_json(data: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    typer.echo(printable(json.dumps(data, indent=2, ensure_ascii=False)))  # these escapes are those of JSON


def print_lines(text: str) -> None:
    """Print the lines of a file or a drawing on standard output as they are, but for control characters."""
    typer.echo(printable(text), nl=False)


def print_text(text: str, console: Console = out) -> None:
    """Print a paragraph: wrapped between words on a terminal, one line in a pipe."""
    console.print(text, soft_wrap=not console.is_terminal)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table with a title."""
    from rich.table import Table

    table = Table(
        title=printable(title), title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False
    )
    for column in columns:
        table.add_column(printable(column), overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    out.print(table)


def print_readings(dialect: Dialect, *tables: str | Path | None, engine: str = "memory") -> None:
    """Print how the CSV files that a command has read were read, as far as this was found in their headers.

    The command has done its work: a file that can no longer be read does not make it fail.
    """
    from scumble.sources import SPARK, open_source, readings

    for table in tables if engine != SPARK else ():
        with suppress(ScumbleError, OSError):
            for line in [] if table is None else readings(open_source(table, dialect=dialect)):
                print_text(line, err)


def print_guarantee(guarantee: Guarantee) -> None:
    """Print a guarantee, and what its epsilon means."""
    print_text(f"Guarantee: {guarantee.sentence}")
    meaning = suspicion_text(guarantee)
    if meaning:
        print_text(meaning)


def print_advice(promise: Guarantee | Fraction, when: str = "") -> None:
    """Print a warning if an epsilon is unwise. Every verb with an epsilon does, whatever else it prints."""
    if advice := epsilon_advice(promise):
        print_text(f"warning{when}: {advice}", err)


@contextmanager
def progress_bar() -> Iterator[Report]:
    """One line on a terminal, from the third second on: the phase, how much of it is done, and how long it may take."""
    from scumble.cli.progress import ProgressLine, progress_lines

    if os.environ.get(PROGRESS_VARIABLE) == "lines":
        yield progress_lines()
        return
    if not err.is_terminal:
        yield lambda label, done, total: None
        return
    with ProgressLine(err, QUIET_SECONDS) as line:
        yield line.report
