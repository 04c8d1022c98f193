"""`scumble release`, `scumble evaluate` and `scumble verify`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import (
    TABLE,
    Json,
    LedgerFile,
    MethodName,
    SchemaFile,
    with_csv_options,
    with_method_options,
)
from scumble.cli.output import err, out, print_json, print_readings, print_table, print_text, progress_bar
from scumble.engines import ENGINES
from scumble.flows import release as flow
from scumble.flows.charge import WEAKER
from scumble.flows.evaluate import evaluate as evaluate_release
from scumble.flows.plan import plan as plan_release
from scumble.model.dialect import Dialect


@with_method_options
@with_csv_options
def release(
    *,
    data: Annotated[str, typer.Argument(help=TABLE, show_default=False)],
    schema: SchemaFile,
    out: Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)],
    method: MethodName = "diffgen",
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="The dataset's name in the ledger (default: the file's stem).")
    ] = None,
    ledger: LedgerFile = None,
    engine: Annotated[str, typer.Option("--engine", help=f"One of: {', '.join(ENGINES)}.")] = "memory",
    table: Annotated[
        bool, typer.Option("--table/--no-table", help="Also write rows: table.csv, and fine.csv where there is detail.")
    ] = True,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", help=f"Accept a guarantee weaker than differential privacy: {', '.join(WEAKER)}."),
    ] = None,
    json: Json = False,
    dialect: Dialect,
    parameters: dict[str, Any],
) -> None:
    """Publish a table: reserve the budget, read the rows, write the release."""
    for warning in plan_release(schema=schema, method=method, **parameters).warnings:
        print_text(f"warning, before the charge: {warning}", err)
    with progress_bar() as progress:
        published = flow.release(
            data,
            schema=schema,
            out=out,
            method=method,
            dataset=dataset,
            ledger=ledger,
            engine=engine,
            table=table,
            **asdict(dialect),
            accept=accept or (),
            progress=progress,
            **parameters,
        )
    print_readings(dialect, data, engine=engine)
    if json:
        print_json(published.to_json())
    else:
        print_published(published)
    for warning in published.warnings:
        print_text(f"warning: {warning}", err)


def print_published(published: flow.Published) -> None:
    """Print the result of a release: size, guarantee, steps and charge."""
    made = published.release
    print_text(f"{published.folder}: {made.size_text}. Recommended for training: {published.recommended}.")
    print_text(f"Guarantee: {made.plan.guarantee.sentence}")
    for step in made.story:
        out.print(f"  {step}")
    if published.uses:
        print_text(published.uses)
    print_text(f"Charged {flow.charge_text(published.receipt)}. Took {published.seconds:.1f} s.")


@with_csv_options
def evaluate(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    test: Annotated[str, typer.Option("--test", help="Raw rows to test on.", show_default=False)],
    train: Annotated[
        str | None, typer.Option("--train", help="The raw rows behind the release, for comparison.")
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", help="Which table of the release: table or fine. (default: recommended)")
    ] = None,
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Accuracy, balanced accuracy and AUC of classifiers trained on a release, measured on raw test rows."""
    with err.status("training and testing"):
        result = evaluate_release(folder, test=test, train=train, table=table, **asdict(dialect))
    print_readings(dialect, test, train)
    if json:
        print_json(result)
    else:
        print_evaluation(result)


def print_evaluation(result: dict[str, Any]) -> None:
    """Print the scores of each classifier, and the recall of each class below."""
    commonest = result["commonest"]
    of = "the raw rows" if commonest["of"] == "train" else "the release"
    scored = {"pruned tree on the release": result["tree"], "boosting on the release": result["boosting"]}
    short = {"tree": result["tree"], "boosting": result["boosting"]}
    if "raw" in result:
        raw = result["raw"]
        scored |= {"pruned tree on the raw rows (baseline)": raw["tree"], "boosting on the raw rows": raw["boosting"]}
        short |= {"tree, raw rows": raw["tree"], "boosting, raw rows": raw["boosting"]}
    scored["always the commonest class (lower bound)"] = commonest
    print_table(
        f"Classifiers trained on {result['table']}.csv",
        ["classifier", "accuracy", "balanced", "AUC", "weighted"],
        [[label, *_scores(scores)] for label, scores in scored.items()],
    )
    print_table(
        "Recall of each class",
        ["class", *short],
        [
            [
                label,
                *(
                    _per_cent(scores["recall"][label]) if label in scores["recall"] else "-"
                    for scores in short.values()
                ),
            ]
            for label in commonest["recall"]
        ],
    )
    print_text(
        "Balanced: mean recall of the classes. Weighted: balanced, if each class's probability is divided by its share."
    )
    print_text(f"The commonest class of {of} is {commonest['class']!r}.")
    pruning = [
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in result["pruning"].items()
    ]
    print_text(f"Pruning of the first tree: {', '.join(pruning)}.")
    tested = result["test_rows"]
    print_text(f"{tested['in_domain']:,} of {tested['read']:,} test rows are in the domain. Others are not scored.")
    print_text("These figures are computed from your raw rows without noise. Do not publish them.", err)


def _scores(scores: dict[str, Any]) -> list[str]:
    auc = "-" if scores["auc"] is None else f"{scores['auc']:.3f}"
    weighted = _per_cent(scores["balanced_accuracy_weighted"])
    return [_per_cent(scores["accuracy"]), _per_cent(scores["balanced_accuracy"]), auc, weighted]


def _per_cent(share: float) -> str:
    return f"{100 * share:.2f} %"


def verify(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    json: Json = False,
) -> None:
    """Check a release folder without the private data."""
    passed = flow.verify(folder)
    if json:
        print_json({"release": str(folder), "held": passed})
        return
    for check in passed:
        out.print(f"  ok  {check}")
    out.print(f"{folder}: all {len(passed)} checks passed.")
