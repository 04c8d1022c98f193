"""`scumble risk`: k, l, t, uniqueness and the risk of re-identification of any table."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import TABLE, Json, with_csv_options
from scumble.cli.output import err, print_json, print_table, print_text
from scumble.files.report.risk import size_label
from scumble.files.report.text import percent
from scumble.flows.risk import risk as measure
from scumble.model.dialect import Dialect


@with_csv_options
def risk(
    *,
    data: Annotated[str, typer.Argument(metavar="DATA", help=f"{TABLE} Or a release folder.", show_default=False)],
    schema: Annotated[
        Path | None, typer.Option("--schema", help="The schema file. A release folder has its own.", show_default=False)
    ] = None,
    quasi: Annotated[
        str | None,
        typer.Option(
            help="The attributes by which someone could recognize a person, with commas (default: all but the class).",
            show_default=False,
        ),
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option(help="The attribute whose diversity is measured (default: the class).", show_default=False),
    ] = None,
    population: Annotated[
        int | None,
        typer.Option(help="The public number of people of whom the table is a sample.", min=1, show_default=False),
    ] = None,
    threshold: Annotated[str, typer.Option(help="Records with a higher risk than this are at risk.")] = "0.2",
    report: Annotated[
        Path | None, typer.Option(help="An HTML file to write, outside of release folders.", show_default=False)
    ] = None,
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Measure the risk of re-identification in a table: k, l, t, uniqueness, and the risks of three attackers.

    Figures of raw rows are computed without noise. They are for the data owner only.
    """
    with err.status("measuring"):
        result = measure(
            data,
            schema=schema,
            quasi=quasi,
            sensitive=sensitive,
            population=population,
            threshold=threshold,
            report=report,
            **asdict(dialect),
        )
    if json:
        print_json(result)
        return
    print_text(result["notice"])
    print_table(f"Records that look alike in {', '.join(result['quasi'])}", ("measure", "value"), _lines(result))
    sizes = [
        (size_label(band), f"{band['groups']:,}", f"{band['records']:,}", _percent(band["records"], result["records"]))
        for band in result["sizes"]
    ]
    print_table("Sizes of groups", ("size", "groups", "records", "share"), sizes)
    if report is not None:
        print_text(f"Report: {report}")


def _lines(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The measures in words."""
    yield "k, the size of the smallest group", f"{result['k']:,}"
    yield "records", f"{result['records']:,}"
    yield "groups", f"{result['groups']:,}, of {result['average_size']:.3g} records on average"
    yield "unique records", _share(result["sample_uniqueness"])
    for attacker in ("prosecutor", "journalist"):
        found = result[attacker]
        bound = ", at most (no --population)" if found.get("basis") == "table" else ""
        yield f"{attacker}: highest risk", f"{_share(found['highest'])}{bound}"
        yield f"{attacker}: average risk", _share(found["average"])
        yield f"{attacker}: records above {_share(result['threshold'])}", _share(found["records_at_risk"])
    yield "marketer: average risk", _share(result["marketer"])
    if "diversity" in result:
        found, name = result["diversity"], result["sensitive"]
        yield f"distinct l of {name}", f"{found['distinct_l']}"
        yield f"entropy l of {name}", f"{found['entropy_l']:.3f}"
        yield f"t of {name}", f"{found['t']:.3f}"
        yield f"records in groups with one {name} only", _share(found["homogeneous_records"])
    if "population" in result:
        found = result["population"]
        yield f"unique in the population ({found['model']})", _share(found["uniqueness"])


def _share(share: float) -> str:
    return percent(share).replace("\N{NO-BREAK SPACE}", " ")


def _percent(part: int, whole: int) -> str:
    return _share(part / max(whole, 1))
