"""`scumble reconstruct` and `scumble mine`: what the receiver of perturbed records does with them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from scumble.cli.options import Json, choice, with_csv_options
from scumble.cli.output import err, print_json, print_lines, print_readings, print_table, print_text
from scumble.errors import InputError
from scumble.files.csv_tables import write_csv
from scumble.flows import mine as mine_flow
from scumble.installation import is_installed, missing_sentence
from scumble.mining.tree_model import TreeModel
from scumble.mining.tree_view import draw_tree, tree_text
from scumble.model.dialect import Dialect

mine_app = typer.Typer(
    help="Learn decision trees from perturbed records, and apply them to true records.", no_args_is_help=True
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of perturbed records.", show_default=False)]


@with_csv_options
def reconstruct(
    *,
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)],
    original: Annotated[
        str | None, typer.Option(help="The true rows, for comparison; the result is then private.")
    ] = None,
    rule: Annotated[
        str,
        choice(
            ("smoothed", "paper"),
            help="smoothed, or paper: Equation 3 and its stopping rule, without a smoothing step.",
        ),
    ] = "smoothed",
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Reconstruct the distributions of true values from perturbed ones: as CSV, JSON and plot."""
    with err.status("reconstructing"):
        found = mine_flow.write_distributions(folder, out=out, original=original, rule=rule, **asdict(dialect))
    print_readings(dialect, original)
    if json:
        print_json({"folder": str(out), "distributions": [each.summary() for each in found]})
        return
    rows = [
        [
            each.attribute,
            each.group or "all rows",
            f"{each.rows:,.0f}",
            *(f"{d:.3f}" for d in each.distances().values()),
        ]
        for each in found
    ]
    distances = [] if original is None else ["distance randomized", "reconstructed"]
    print_table("Distributions", ["attribute", "class", "rows", *distances], rows)
    drawn = is_installed("charts")
    print_text(f"{out} has distributions.csv, distributions.json{' and distributions.svg' if drawn else ''}.")
    if not drawn:
        print_text(f"The picture was left out. {missing_sentence('charts')}", err)
    if original is not None:
        print_text("These files contain the true distributions, which no guarantee covers: do not publish them.", err)


@mine_app.command()
def train(
    *,
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", help="The model: one JSON file.", show_default=False)],
    algorithm: Annotated[
        str, choice(mine_flow.ALGORITHMS, help=f"One of: {', '.join(mine_flow.ALGORITHMS)}.")
    ] = "byclass",
    leaves: Annotated[
        str,
        choice(
            ("reconstructed", "associated"),
            help="Class counts at the leaves: reconstructed, or associated as in the paper.",
        ),
    ] = "reconstructed",
    text: Annotated[bool, typer.Option("--text", help="Print the tree.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the tree's upper levels into this SVG file.")] = None,
    json: Json = False,
) -> None:
    """Learn a decision tree from perturbed records."""
    _check_new(out, plot)
    with err.status("learning"):
        model = mine_flow.train(folder, algorithm=algorithm, leaves=leaves)
    model.write(out)
    if plot is not None:
        draw_tree(model, plot)
    if json:
        facts: dict[str, Any] = {
            "model": str(out),
            "algorithm": algorithm,
            "leaves": model.leaves,
            "depth": model.depth,
        }
        print_json({**facts, "text": tree_text(model)} if text else facts)
        return
    if text:
        print_lines(f"{tree_text(model)}\n")
    print_text(f"{out}: a tree of {model.leaves} leaves, {model.depth} deep, by {algorithm}.")


@mine_app.command()
@with_csv_options
def predict(
    *,
    model: Annotated[
        Path, typer.Argument(help="A model of `mine train`, or model.json of a release.", show_default=False)
    ],
    data: Annotated[str, typer.Option("--data", help="Rows of true values.", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", help="Write the predicted classes into this CSV file.")] = None,
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Predict the classes of true rows, which stay with their owner; and the accuracy if the table has the class."""
    _check_new(out)
    tree = TreeModel.read(model)
    counts: Counter[str] = Counter()
    right = judged = 0

    def chunks() -> Iterator[list[pa.Array]]:
        nonlocal right, judged
        for predictions, truth in mine_flow.predict(tree, data, dialect=dialect):
            counts.update(predictions.tolist())
            if truth is not None:
                judged += int((truth != "").sum())
                right += int((predictions == truth).sum())
            yield [pa.array(predictions)]

    if out is None:
        for _ in chunks():
            pass
    else:
        write_csv(out, [tree.target or "class"], chunks())
    print_readings(dialect, data)
    accuracy = right / judged if judged else None
    if json:
        predicted = {str(each): counts[str(each)] for each in tree.classes}
        print_json({"rows": counts.total(), "accuracy": accuracy, "predicted": predicted})
        return
    for label in tree.classes:
        print_text(f"{label}: {counts[str(label)]:,}")
    print_text(f"{counts.total():,} rows." if accuracy is None else f"Accuracy {accuracy:.2%} of {judged:,} rows.")


def _check_new(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and path.exists():
            raise InputError(f"{path} exists already and is not overwritten. Give another name.")
