"""`scumble compare`: compares methods on public tables."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.output import err, out, print_json, print_table, print_text, progress_bar
from scumble.comparison.peers import PEERS
from scumble.methods import METHODS

USUAL_OUT = Path("scumble-compare")
OWNERS = "joint-N and apart-N (N owners, 2 to 7), together (one owner of all rows)"
CONTENDERS = f"{', '.join(method.name for method in METHODS)}, raw, {OWNERS}, other projects' {', '.join(PEERS)}"


def compare(
    *,
    contender: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A contender; repeat the option for more: {CONTENDERS}, or METHOD:NAME=VALUE,... The first is the "
            "reference for differences. (default: diffgen, histograms, raw)"
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="A table; repeat the option for more: adult, patients, a generated one, or FILE@SCHEMA. "
            "(default: adult)"
        ),
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(help="A privacy budget; repeat the option for more. (default: 0.1, 0.25, 0.5, 1)"),
    ] = None,
    classifier: Annotated[
        list[str] | None, typer.Option(help="tree or boosting; repeat the option for both. (default: both)")
    ] = None,
    splits: Annotated[int, typer.Option(help="Number of random 2/3–1/3 splits.", min=1)] = 10,
    first_split: Annotated[
        int, typer.Option(help="Seed of the first split; the next splits use the following numbers.", min=0)
    ] = 0,
    out: Annotated[Path, typer.Option(help="The folder for results and cache.")] = USUAL_OUT,
    cache: Annotated[Path | None, typer.Option(help="The cache folder (default: OUT/cache).")] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = os.cpu_count() or 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Compare methods on public tables: accuracy and AUC over repeated random splits.

    No ledger is charged and the test rows are read raw: never compare methods on a private table that you will release.
    Results are cached, so an interrupted comparison resumes where it stopped.
    """
    # scikit-learn takes a second to import; other commands should not wait for it.
    from scumble.comparison.compare import Comparison
    from scumble.comparison.compare import compare as run_comparison
    from scumble.comparison.files import write_comparison
    from scumble.mining.benchmark.classifiers import CLASSIFIERS

    comparison = Comparison(
        tables=tuple(data or ["adult"]),
        contenders=tuple(contender or ["diffgen", "histograms", "raw"]),
        epsilons=tuple(epsilon or ["0.1", "0.25", "0.5", "1"]),
        splits=tuple(range(first_split, first_split + splits)),
        classifiers=tuple(classifier or CLASSIFIERS),
    )
    with progress_bar() as progress:
        result = run_comparison(comparison, cache or out / "cache", jobs=jobs, progress=progress)
    summary = write_comparison(result, out)
    for reason in result.skipped:
        print_text(f"Left out: {reason}", err)
    if json:
        print_json({"folder": str(out), **summary})
    else:
        _print(summary, out)


def _print(summary: dict[str, Any], folder: Path) -> None:
    for table in summary["comparison"]["tables"]:
        lines = [line for line in summary["lines"] if line["table"] == table]
        measures = list(dict.fromkeys((line["classifier"], line["measure"]) for line in lines))
        rows: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
        for line in lines:
            scale, digits = (1, 4) if line["measure"] == "auc" else (100, 2)
            band = "" if line["band"] is None else f" ± {scale * line['band']:.{digits}f}"
            row = rows.setdefault((line["epsilon"] or "-", line["contender"]), {})
            row[line["classifier"], line["measure"]] = f"{scale * line['mean']:.{digits}f}{band}"
        print_table(
            f"{table}: means and 95 % confidence bands",
            ["eps", "contender", *(f"{classifier} {measure}" for classifier, measure in measures)],
            [[*key, *(cells.get(measure, "") for measure in measures)] for key, cells in rows.items()],
        )
    plot = folder / "comparison.svg"
    out.print(f"Differences: {folder / 'comparison.md'}." + (f" Plot: {plot}." if plot.exists() else ""))
