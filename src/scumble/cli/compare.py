"""`scumble compare`: compares methods on public tables."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import METHOD_NAMES, choice
from scumble.cli.output import err, out, print_json, print_table, print_text, progress_bar
from scumble.comparison.peers import PEERS
from scumble.methods import METHODS

USUAL_OUT = Path("scumble-compare")
OWNERS = "joint-N and apart-N (N owners, 2 to 7), together (one owner of all rows)"
CONTENDERS = (
    f"{', '.join(method.name for method in METHODS)}, raw, independent (raw rows, all associations lost), {OWNERS}, "
    f"other projects' {', '.join(PEERS)}"
)


def compare(
    *,
    contender: Annotated[
        list[str] | None,
        choice(
            (*METHOD_NAMES, "raw", "independent", "together", *PEERS),
            help=f"A contender; repeat the option for more: {CONTENDERS}, or METHOD:NAME=VALUE,... The first is the "
            "reference for differences. (default: diffgen, histograms, raw)",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        choice(
            ("adult", "census", "eia", "patients"),
            help="A table; repeat the option for more: adult, patients, a generated one, or FILE@SCHEMA. "
            "(default: adult)",
        ),
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(help="A privacy budget; repeat the option for more. (default: 0.1, 0.25, 0.5, 1)"),
    ] = None,
    classifier: Annotated[
        list[str] | None,
        choice(
            ("tree", "boosting", "c45"),
            help="tree, boosting or c45; repeat the option for more. (default: tree, boosting)",
        ),
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(help="Other attributes to predict, separated by commas; NUMBER>THRESHOLD for numbers."),
    ] = None,
    attacks: Annotated[
        bool,
        typer.Option(
            "--attacks", help="Also attack each table as `audit --attacks` does, and map risk against utility."
        ),
    ] = False,
    splits: Annotated[int, typer.Option(help="Number of random 2/3–1/3 splits.", min=1)] = 10,
    first_split: Annotated[
        int, typer.Option(help="Seed of the first split; the next splits use the following numbers.", min=0)
    ] = 0,
    out: Annotated[Path, typer.Option(help="The folder for results and cache.")] = USUAL_OUT,
    cache: Annotated[Path | None, typer.Option(help="The cache folder (default: OUT/cache).")] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = os.cpu_count() or 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Compare methods on public tables: accuracy and distances of margins over repeated random splits.

    No ledger is charged and the test rows are read raw: never compare methods on a private table that you will release.
    Results are cached, so an interrupted comparison resumes where it stopped.
    """
    # scikit-learn takes a second to import; other commands should not wait for it.
    from scumble.comparison.compare import Comparison
    from scumble.comparison.compare import compare as run_comparison
    from scumble.comparison.files import write_comparison
    from scumble.mining.benchmark.classifiers import USUAL

    comparison = Comparison(
        tables=tuple(data or ["adult"]),
        contenders=tuple(contender or ["diffgen", "histograms", "raw"]),
        epsilons=tuple(epsilon or ["0.1", "0.25", "0.5", "1"]),
        splits=tuple(range(first_split, first_split + splits)),
        classifiers=tuple(classifier or USUAL),
        targets=tuple(each.strip() for each in (targets or "").split(",") if each.strip()),
        attacks=attacks,
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
    """Print one table of scores for each data set and classifier, the recalls below it, and the distances."""
    from scumble.comparison.measures import MAIN, OF_ATTACKS, OF_TABLE, RECALL

    bands = "" if len(summary["comparison"]["splits"]) < 2 else ", mean ± 95 % confidence band"
    for table in summary["comparison"]["tables"]:
        lines = [line for line in summary["lines"] if line["table"] == table]
        for target, classifier in dict.fromkeys((line["target"], line["classifier"]) for line in lines):
            here = [line for line in lines if (line["target"], line["classifier"]) == (target, classifier)]
            if not classifier:
                continue
            if target:
                _print_lines(f"{table}, {target} by {classifier}{bands}", here)
                continue
            scores = [line for line in here if not line["measure"].startswith(RECALL)]
            scores.sort(key=lambda line: line["measure"] not in MAIN)
            _print_lines(f"{table}, {classifier}{bands}", scores)
            recalls = [{**line, "band": None} for line in here if line["measure"].startswith(RECALL)]
            _print_lines(f"{table}, {classifier}: recall of each class, %", recalls)
        of_table = [line for line in lines if line["measure"] in OF_TABLE and line["measure"] not in OF_ATTACKS]
        _print_lines(f"{table}: distances of margins, % (lower is better){bands}", of_table)
        risks = [line for line in lines if line["measure"] in OF_ATTACKS]
        _print_lines(f"{table}: gain of attacks over the control group, points (lower is better){bands}", risks)
    plot = folder / "comparison.svg"
    out.print(f"Differences: {folder / 'comparison.md'}." + (f" Plot: {plot}." if plot.exists() else ""))


def _print_lines(title: str, lines: Sequence[dict[str, Any]]) -> None:
    from scumble.comparison.measures import RECALL, measure_named

    measures = list(dict.fromkeys(line["measure"] for line in lines))
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines:
        row = rows.setdefault((line["epsilon"] or "-", line["contender"]), {})
        row[line["measure"]] = measure_named(line["measure"]).text(line["mean"], line["band"])
    if rows:
        headings = [
            name.removeprefix(RECALL) if name.startswith(RECALL) else measure_named(name).heading for name in measures
        ]
        print_table(
            title,
            ["eps", "contender", *headings],
            [[*key, *(cells.get(measure, "") for measure in measures)] for key, cells in rows.items()],
        )
