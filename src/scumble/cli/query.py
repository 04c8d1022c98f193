"""`scumble query`: answers a question about a release, with intervals for the noise."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from scumble.charts import write_bars
from scumble.cli.options import Json
from scumble.cli.output import print_json, print_table, print_text
from scumble.errors import InputError
from scumble.flows.query import chart_of
from scumble.flows.query import query as ask
from scumble.querying.answers import QueryAnswer

ENDINGS = (".csv", ".svg", ".png")


def query(
    *,
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    where: Annotated[
        str, typer.Argument(metavar="CONDITION", help="Which records count (default: all).", show_default=False)
    ] = "",
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Divide the answer by the values of an attribute; numbers by a width: age:10."),
    ] = None,
    mean: Annotated[str | None, typer.Option("--mean", help="The mean of a numeric attribute.")] = None,
    quantile: Annotated[
        tuple[float, str] | None,
        typer.Option("--quantile", metavar="SHARE ATTRIBUTE", help="A quantile, such as 0.5 age for the median."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the answer into a new .csv, .svg or .png file.")
    ] = None,
    json: Json = False,
) -> None:
    """Answer a question about a release: counts, shares, means, quantiles, with 95 % intervals for the noise.

    A condition joins comparisons (= != < <= > >=, in (...), between ... and ..., is missing) by and, or, not and
    parentheses. Names with spaces are quoted by backticks or double quotes, texts by single quotes. A node of a
    taxonomy means all values below it.
    """
    if out is not None:
        _check_out(out)
    answer = ask(release, where, by=by or (), mean=mean, quantile=quantile)
    if out is not None:
        write_answer(answer, out)
    if json:
        print_json(answer.to_json())
        return
    print_table(answer.question, answer.columns, answer.texts)
    for note in answer.notes:
        print_text(note)


def _check_out(out: Path) -> None:
    if out.suffix not in ENDINGS:
        raise InputError(f"{out} does not end with {', '.join(ENDINGS)}. Choose one of these kinds of file.")
    if out.exists():
        raise InputError(f"{out} exists already and is not overwritten. Give another name.")


def write_answer(answer: QueryAnswer, out: Path) -> None:
    """Write an answer as CSV, or draw it as bars with intervals."""
    if out.suffix != ".csv":
        write_bars(chart_of(answer), out)
        return
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows(answer.records)
