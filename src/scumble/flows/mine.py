"""What the receiver of perturbed records does: `reconstruct` distributions, `train` a tree, `predict` true rows.

Tables are streamed, except the rows that a tree is learned from. `scumble.flows.perturb` writes the folders.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.charts import BarPanel, Chart, Panel, Point, Series, is_cut, write_svg
from scumble.engines.arrow_values import distinct_values, python_values, read_texts
from scumble.engines.number_columns import read_numbers
from scumble.errors import InputError
from scumble.files.atomic_folder import staging
from scumble.files.noise_file import read_noise
from scumble.files.perturbed_table import published_blocks
from scumble.files.schema_file import schema_data, schema_from
from scumble.flows.load import load_blurred
from scumble.flows.perturb import coded_blocks, reported_schema
from scumble.installation import is_installed
from scumble.mining.tree_model import Feature, TreeModel
from scumble.model.local.noise_model import NoiseModel
from scumble.model.notation import PLAIN
from scumble.model.schema import Attribute, Outside
from scumble.model.values import Flaw, read_value
from scumble.sources import AS_FOUND, Dialect, check_columns, check_dialect, open_source

if TYPE_CHECKING:
    from scumble.mining.reconstruction.distributions import Distribution, Histogram

ALGORITHMS = {"byclass": "byclass", "local": "local", "global": "global", "randomized": "uncorrected"}
"""The paper's names of the algorithms, and those of `Algorithm`."""


def noise_of(folder: str | Path) -> NoiseModel:
    """The noise model of a release folder, or of a folder with only noise.json and the records that clients sent."""
    place = Path(folder)
    if (place / "release.json").exists():
        return load_blurred(place).noise
    return read_noise(place / "noise.json")


def reconstruct(
    folder: str | Path,
    *,
    original: Any = None,
    rule: str = "smoothed",
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
) -> "list[Distribution]":
    """Reconstruct the distributions of the true values from a folder of perturbed records.

    With the `original` rows the result also has the true distributions, which are private. The `rule` is `smoothed`, or
    `paper`: Equation 3 with the stopping rule of the paper. Returns one distribution for each attribute, over all rows
    and for each class. Raises `InputError` if the rule is unknown, or if the folder has no noise model or no table.
    """
    # Imported late: SciPy's statistics take a second.
    from scumble.mining.reconstruction.distributions import distributions
    from scumble.mining.reconstruction.smoothing import Rule

    if rule not in list(Rule):
        raise InputError(f"Unknown rule {rule!r}. Available: {', '.join(Rule)}.")
    noise = noise_of(folder)
    dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
    true = None if original is None else true_blocks(original, noise, dialect)
    return distributions(noise, published_blocks(Path(folder) / "table.csv", noise), true, Rule(rule))


def write_distributions(
    folder: str | Path, *, out: str | Path, original: Any = None, rule: str = "smoothed", **csv_options: Any
) -> "list[Distribution]":
    """Reconstruct as `reconstruct` does, and write distributions.csv, distributions.json and distributions.svg into a
    new folder `out`. Nothing is left behind if it fails."""
    with staging(Path(out)) as stage:
        found = reconstruct(folder, original=original, rule=rule, **csv_options)
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
        document = {
            "distributions": [
                {**each.summary(), **{kind: list(h.lines()) for kind, h in each.histograms.items()}} for each in found
            ]
        }
        (stage.folder / "distributions.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        if is_installed("charts"):
            write_svg(_chart(found), stage.folder / "distributions.svg")
        stage.publish()
    return found


CUT_PEAKS = "Arrows: noise collects randomized values at the ends of a range, higher than the axis reaches."


def _chart(found: "list[Distribution]") -> Chart:
    panels = tuple(_panel(each) for each in found if each.group is None)
    cut = any(isinstance(panel, Panel) and is_cut(panel) for panel in panels)
    return Chart(title="Reconstructed distributions", panels=panels, note=CUT_PEAKS if cut else "")


def _panel(each: "Distribution") -> Panel | BarPanel:
    """Densities of numbers as lines, shares of categories as named bars."""
    if each.reconstructed.edges is None:
        shares = {kind: tuple(h.shares.tolist()) for kind, h in each.histograms.items()}
        return BarPanel.of_largest(
            title=each.attribute, x_label="share", names=each.reconstructed.names, values=shares, by="reconstructed"
        )
    return Panel(
        title=each.attribute,
        x_label="value",
        y_label="density",
        series=tuple(Series(label=kind, points=_points(h)) for kind, h in each.histograms.items()),
        from_zero=True,
        led_by="reconstructed",
    )


def _points(histogram: "Histogram") -> tuple[Point, ...]:
    assert histogram.edges is not None
    lows, highs = histogram.edges[:-1], histogram.edges[1:]
    density = histogram.shares / (highs - lows)
    return tuple(Point(x=x, y=y) for x, y in zip(((lows + highs) / 2).tolist(), density.tolist(), strict=True))


def true_blocks(data: Any, noise: NoiseModel, dialect: Dialect = AS_FOUND) -> Iterator[dict[str, Any]]:
    """True rows, coded as they would be before perturbation; of each person only those that would be perturbed."""
    source = open_source(data, dialect=dialect)
    check_dialect(dialect, source)
    read = reported_schema(noise)
    check_columns(source, read.columns_read)
    return (codes for codes, _ in coded_blocks(source, read))


def train(folder: str | Path, *, algorithm: str = "byclass", **options: Any) -> TreeModel:
    """Learn a tree from a folder of perturbed records; it predicts the class of true records."""
    from scumble.mining.perturbed.classifier import PerturbedTreeClassifier

    if algorithm not in ALGORITHMS:
        raise InputError(f"Unknown algorithm {algorithm!r}. Available: {', '.join(ALGORITHMS)}.")
    noise = noise_of(folder)
    target = noise.published.target
    if target is None:
        raise InputError(
            "The perturbed records have no class to learn. Perturb with a schema that has a `target`, and report it."
        )
    blocks = list(published_blocks(Path(folder) / "table.csv", noise))
    columns = {n: np.concatenate([b[n] for b in blocks] or [np.zeros(0, dtype=np.int64)]) for n in noise.reported}
    if not len(columns[target]):
        raise InputError("The table has no rows to learn from.")
    codes = np.stack([columns[attribute.name] for attribute in noise.published.predictors], axis=1)
    learner = PerturbedTreeClassifier(noise, algorithm=ALGORITHMS[algorithm], **options)
    model = learner.fit_codes(codes, columns[target]).model_
    notated = any(attribute.notation is not None for attribute in noise.schema.attributes)
    return replace(
        model,
        target=target,
        target_column=noise.published[target].column,
        schema=schema_data(noise.schema) if notated else None,
    )


def predict(
    model: TreeModel, data: Any, *, dialect: Dialect = AS_FOUND
) -> Iterator[tuple[npt.NDArray[np.str_], npt.NDArray[np.str_] | None]]:
    """The predicted class of every row of true values, block by block, and the true class if the table has it.

    Values that do not parse, unknown categories and the marker of missing values count as missing. The true class of
    a row is empty if it is missing.
    """
    source = open_source(data, dialect=dialect)
    check_dialect(dialect, source)
    names = [feature.source_column for feature in model.features]
    label = model.target if model.target_column is None else model.target_column
    judged = [label] if label is not None and label in source.columns() else []
    wanted = list(dict.fromkeys((*names, *judged)))  # a model may use a column twice
    check_columns(source, wanted)
    classes = np.array([str(each) for each in model.classes])
    known = {} if model.schema is None else {each.name: each for each in schema_from(model.schema).attributes}
    for batch in source.batches(wanted):
        values = [
            _feature(feature, batch.column(feature.source_column), known.get(feature.name))
            for feature in model.features
        ]
        predicted = classes[model.probabilities(np.stack(values, axis=1)).argmax(axis=1)]
        truth = None
        if judged:
            truth = np.array(_classes(batch.column(judged[0]), known.get(str(model.target))), dtype=np.str_)
        yield predicted, truth


def _feature(feature: Feature, column: pa.Array, attribute: Attribute | None) -> npt.NDArray[np.float64]:
    if feature.values is None:
        return read_numbers(column, feature.missing, PLAIN if attribute is None else attribute.numbers)
    if attribute is not None and attribute.notation is not None:
        return _codes(column, attribute)
    places = {text: place for place, text in reversed(list(enumerate(feature.values))) if text}
    return np.array([places.get(text, np.nan) for text in read_texts(column)], dtype=np.float64)


def _codes(column: pa.Array, attribute: Attribute) -> npt.NDArray[np.float64]:
    """The codes of true values by the attribute's notation; not a number where a value is unknown or unreadable."""
    clamped = replace(attribute, outside=Outside.CLAMP)
    values, places = distinct_values(column)
    readings = [read_value(clamped, value) for value in (*python_values(values), None)]
    unknown = {Flaw.UNKNOWN, Flaw.UNREADABLE, *([Flaw.MISSING] if attribute.missing is None else [])}
    codes = [np.nan if reading.code is None or reading.flaw in unknown else reading.code for reading in readings]
    return np.array(codes, dtype=np.float64)[places]


def _classes(column: pa.Array, attribute: Attribute | None) -> list[str]:
    """The classes of true rows as text, empty where one is missing or unknown."""
    if attribute is None or attribute.notation is None:
        return read_texts(column)
    labels = attribute.domain.labels
    return ["" if np.isnan(code) else labels[int(code)] for code in _codes(column, attribute)]
