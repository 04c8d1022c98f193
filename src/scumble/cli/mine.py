"""`scumble reconstruct` and `scumble mine`: what the receiver of perturbed records does with them."""

import csv
import json as jsonlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
import typer

from scumble.charts import Chart, Panel, Point, Series, write_svg
from scumble.cli.options import Delimiter, Json, delimiter_of
from scumble.cli.output import err, print_json, print_table, print_text
from scumble.errors import InputError
from scumble.files.atomic_folder import staging
from scumble.files.csv_tables import write_csv
from scumble.flows import mine as mine_flow
from scumble.mining.tree_model import TreeModel
from scumble.mining.tree_view import draw_tree, tree_text

if TYPE_CHECKING:
    from scumble.mining.reconstruction.distributions import Distribution, Histogram

mine_app = typer.Typer(
    help="Learn decision trees from perturbed records, and apply them to true records.", no_args_is_help=True
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of perturbed records.", show_default=False)]


def reconstruct(
    *,
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)],
    original: Annotated[
        Path | None, typer.Option(help="The true rows, for comparison; the result is then private.")
    ] = None,
    rule: Annotated[
        str, typer.Option(help="smoothed, or paper: Equation 3 and its stopping rule, without a smoothing step.")
    ] = "smoothed",
    delimiter: Delimiter = ",",
    json: Json = False,
) -> None:
    """Reconstruct the distributions of true values from perturbed ones: as CSV, JSON and plot."""
    with staging(out) as stage:
        with err.status("reconstructing"):
            found = mine_flow.reconstruct(folder, original=original, rule=rule, delimiter=delimiter_of(delimiter))
        lines = [
            {"attribute": each.attribute, "class": each.group or "", "kind": kind, **line}
            for each in found
            for kind, histogram in each.histograms.items()
            for line in histogram.lines()
        ]
        with (stage.folder / "distributions.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
        summary = [
            {"attribute": each.attribute, "class": each.group, "rows": each.rows, "distance": each.distances()}
            for each in found
        ]
        document = {
            "distributions": [
                {**facts, **{kind: list(h.lines()) for kind, h in each.histograms.items()}}
                for facts, each in zip(summary, found, strict=True)
            ]
        }
        (stage.folder / "distributions.json").write_text(jsonlib.dumps(document, indent=1) + "\n", encoding="utf-8")
        write_svg(_chart(found), stage.folder / "distributions.svg")
        stage.publish()
    if json:
        print_json({"folder": str(out), "distributions": summary})
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
    print_text(f"{out} has distributions.csv, distributions.json and distributions.svg.")
    if original is not None:
        print_text("These files contain the true distributions, which no guarantee covers: do not publish them.", err)


def _chart(found: "list[Distribution]") -> Chart:
    panels = [
        Panel(
            title=each.attribute,
            x_label="value" if each.reconstructed.edges is not None else "category, by its place",
            y_label="density" if each.reconstructed.edges is not None else "share",
            series=tuple(Series(label=kind, points=_points(h)) for kind, h in each.histograms.items()),
            from_zero=True,
            numbered=each.reconstructed.edges is None,
        )
        for each in found
        if each.group is None
    ]
    return Chart(title="Reconstructed distributions", panels=tuple(panels))


def _points(histogram: "Histogram") -> tuple[Point, ...]:
    if histogram.edges is None:
        return tuple(Point(x=place, y=share) for place, share in enumerate(histogram.shares.tolist()))
    lows, highs = histogram.edges[:-1], histogram.edges[1:]
    density = histogram.shares / (highs - lows)
    return tuple(Point(x=x, y=y) for x, y in zip(((lows + highs) / 2).tolist(), density.tolist(), strict=True))


@mine_app.command()
def train(
    *,
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", help="The model: one JSON file.", show_default=False)],
    algorithm: Annotated[str, typer.Option(help=f"One of: {', '.join(mine_flow.ALGORITHMS)}.")] = "byclass",
    leaves: Annotated[
        str, typer.Option(help="Class counts at the leaves: reconstructed, or associated as in the paper.")
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
        typer.echo(tree_text(model))
    print_text(f"{out}: a tree of {model.leaves} leaves, {model.depth} deep, by {algorithm}.")


@mine_app.command()
def predict(
    *,
    model: Annotated[Path, typer.Argument(help="A model that `mine train` wrote.", show_default=False)],
    data: Annotated[Path, typer.Option("--data", help="Rows of true values.", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", help="Write the predicted classes into this CSV file.")] = None,
    delimiter: Delimiter = ",",
    json: Json = False,
) -> None:
    """Predict the classes of true rows, which stay with their owner; and the accuracy if the table has the class."""
    _check_new(out)
    tree = TreeModel.read(model)
    counts: Counter[str] = Counter()
    right = judged = 0

    def chunks() -> Iterator[list[pa.Array]]:
        nonlocal right, judged
        for predictions, truth in mine_flow.predict(tree, data, delimiter=delimiter_of(delimiter)):
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
