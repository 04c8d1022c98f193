"""The line of those who trust nobody, on the side of the receiver: distributions and trees from blurred records.

    folder -> distributions, a tree -> predictions over true values

Everything streams but the rows a tree is learned from. How the folder came about is in `blur_flow`.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.engines.coding import read_numbers
from scumble.errors import InputError
from scumble.files.noise_file import read_noise
from scumble.files.perturbed_table import published_blocks
from scumble.flows.load import load_blurred
from scumble.flows.perturb import coded_blocks, reading, reported_schema
from scumble.mining.tree_model import Feature, TreeModel
from scumble.model.counts import Integers
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.taxonomy import Grid
from scumble.sources import check_columns, open_source

if TYPE_CHECKING:
    from scumble.mining.reconstruction.distributions import Distribution

ALGORITHMS = {"byclass": "byclass", "local": "local", "global": "global", "randomized": "uncorrected"}
"""The paper's names of ways to learn a tree, and ours."""


def noise_of(folder: str | Path) -> NoiseModel:
    """The noise model of a folder of blurred records; of one that clients' records were gathered in, noise.json alone
    decides."""
    place = Path(folder)
    if (place / "release.json").exists():
        return load_blurred(place).noise
    return read_noise(place / "noise.json")


def reconstruct(
    folder: str | Path, *, original: Any = None, rule: str = "smoothed", delimiter: str = ","
) -> "list[Distribution]":
    """The distributions of true values behind a folder of blurred ones; beside the `original` ones where given, which
    are private: the result is then for their owner alone. The `rule` is `smoothed`, or `paper`: Equation 3 with the
    paper's stop alone."""
    # SciPy's statistics take a second to import.
    from scumble.mining.reconstruction.distributions import distributions
    from scumble.mining.reconstruction.smoothing import Rule

    if rule not in list(Rule):
        raise InputError(f"There is no rule {rule!r}. Choose from {', '.join(Rule)}.")
    noise = noise_of(folder)
    true = None if original is None else true_blocks(original, noise, delimiter=delimiter)
    return distributions(noise, published_blocks(Path(folder) / "table.csv", noise), true, Rule(rule))


def true_blocks(data: Any, noise: NoiseModel, *, delimiter: str = ",") -> Iterator[dict[str, Any]]:
    """True rows coded as they would be before blurring, to compare with."""
    source = open_source(data, delimiter=delimiter)
    read = reported_schema(noise)
    check_columns(source, read)
    return (codes for codes, _ in coded_blocks(source, read))


def train(folder: str | Path, *, algorithm: str = "byclass", **options: Any) -> TreeModel:
    """A tree learned from a folder of blurred records, for true ones."""
    from scumble.mining.perturbed.classifier import PerturbedTreeClassifier

    if algorithm not in ALGORITHMS:
        raise InputError(f"There is no algorithm {algorithm!r}. Choose from {', '.join(ALGORITHMS)}.")
    noise = noise_of(folder)
    target = noise.published.target
    if target is None:
        raise InputError("The blurred records have no class to learn. Perturb with a schema that has a `target`.")
    blocks = list(published_blocks(Path(folder) / "table.csv", noise))
    columns = {n: np.concatenate([b[n] for b in blocks] or [np.zeros(0, dtype=np.int64)]) for n in noise.reported}
    if not len(columns[target]):
        raise InputError("The table has no rows to learn from. Give one that has.")
    values = np.stack([_numbers(noise[a.name], columns[a.name]) for a in noise.published.predictors], axis=1)
    labels = np.array(noise.published.classes, dtype=object)[columns[target]]
    learner = PerturbedTreeClassifier(noise, algorithm=ALGORITHMS[algorithm], **options)
    return replace(learner.fit(values, labels).model_, target=target)


def _numbers(randomized: RandomizedAttribute, codes: Integers) -> npt.NDArray[np.float64]:
    """Published codes as a learner takes them: numbers, missing ones not a number; a category by its place."""
    domain = randomized.published.domain
    if not isinstance(domain, Grid):
        return codes.astype(np.float64)
    return np.concatenate([domain.edge_floats[:-1], [np.nan]])[codes]


def predict(
    model: TreeModel, data: Any, *, delimiter: str = ","
) -> Iterator[tuple[npt.NDArray[np.str_], npt.NDArray[np.str_] | None]]:
    """The class of every row of true values, block by block, and what the table says it is where it does.

    What does not parse, a category that the model does not know, and what the schema says stands for a missing value,
    count as missing. A row without a class has an empty one.
    """
    source = open_source(data, delimiter=delimiter)
    names = [feature.name for feature in model.features]
    judged = [model.target] if model.target is not None and model.target in source.columns() else []
    wanted = reading([*names, *judged])
    check_columns(source, wanted)
    classes = np.array([str(each) for each in model.classes])
    for batch in source.batches(wanted):
        values = [_feature(feature, batch.column(feature.name)) for feature in model.features]
        told = classes[model.probabilities(np.stack(values, axis=1)).argmax(axis=1)]
        truth = None
        if judged:
            truth = np.array(batch.column(judged[0]).cast(pa.string()).fill_null("").to_pylist(), dtype=np.str_)
        yield told, truth


def _feature(feature: Feature, column: pa.Array) -> npt.NDArray[np.float64]:
    if feature.values is None:
        return read_numbers(column, feature.missing)
    places = pc.index_in(column.cast(pa.string()), pa.array(feature.values, pa.string()))
    return places.cast(pa.float64()).to_numpy(zero_copy_only=False)
