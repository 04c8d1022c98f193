"""The line of those who trust nobody: blurred records, distributions rebuilt from them, trees learned from them.

    schema + strength -> noise model -> blur row by row -> folder        on the side of the people
    folder -> distributions, a tree -> predictions over true values      on the side of the receiver

Nobody holds a table here, so there is no holder and no ledger. Everything streams but the rows a tree is learned from.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.engines.coding import coder, read_numbers
from scumble.errors import InputError
from scumble.files.blurred_table import published_blocks, write_blurred
from scumble.files.release_folder import read_noise, read_release, write_release
from scumble.files.sources import Source, check_columns, open_source
from scumble.files.staging import staging
from scumble.flow import Progress, check_accepted, check_before_reading, schema_of
from scumble.mining.tree_model import Feature, TreeModel
from scumble.model.blur import Truthful, Withheld
from scumble.model.blurred import BlurredAttribute
from scumble.model.counts import Integers
from scumble.model.guarantee import LocalDP, to_json
from scumble.model.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.plan import BlurPlan, Spend
from scumble.model.release import BlurredRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Grid, Tree
from scumble.privacy.noise import KeyedWords, SystemWords
from scumble.privacy.perturb import perturb_block

if TYPE_CHECKING:
    from scumble.mining.distributions import Distribution

BLOCK_ROWS = 1 << 17
ALGORITHMS = {"byclass": "byclass", "local": "local", "global": "global", "randomized": "uncorrected"}
"""The paper's names of ways to learn a tree, and ours."""
REPEATED = (
    "Without a secret every run draws anew: whoever sees two tables of the same people learns more than the guarantee "
    "says."
)


@dataclass(frozen=True, kw_only=True)
class Blurred:
    """A table of blurred records that stands in its folder."""

    folder: Path
    release: BlurredRelease
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return {
            "release": str(self.folder),
            "guarantee": to_json(self.release.plan.guarantee),
            "spends": [spend.to_json() for spend in self.release.plan.spends],
            "records": self.release.records,
            "seconds": round(self.seconds, 3),
        }


def noise_model(
    schema: Schema | str | Path,
    *,
    privacy: object = None,
    confidence: object = None,
    noise: str | None = None,
    epsilon: object = None,
    truthful: Sequence[str] = (),
    withhold: Sequence[str] = (),
) -> NoiseModel:
    """How a schema's attributes are to be blurred: by the width of an interval (100 % at 95 %), or by epsilon."""
    public = schema_of(schema)
    both = sorted(set(truthful) & set(withhold))
    if both:
        raise InputError(f"{both[0]!r} cannot be told truthfully and withheld. Choose one.")
    if epsilon is None:
        made = for_privacy(
            public,
            privacy="100%" if privacy is None else privacy,
            confidence="95%" if confidence is None else confidence,
            noise=noise or "gaussian",
            truthful=truthful,
            withheld=withhold,
        )
    elif privacy is not None or confidence is not None or noise is not None:
        raise InputError("An epsilon decides the noise by itself. Leave out privacy, confidence and noise, or epsilon.")
    else:
        made = for_epsilon(public, epsilon=epsilon, truthful=truthful, withheld=withhold)
    if not isinstance(made.guarantee, LocalDP):
        return made
    # A row left out for what it holds would tell what local privacy hides.
    clamped = [a if a.name in truthful else replace(a, outside=Outside.CLAMP) for a in public.attributes]
    return replace(made, schema=replace(public, attributes=tuple(clamped)))


def blur_plan(noise: NoiseModel, *, fixed: bool) -> BlurPlan:
    """What a noise model costs and promises, as it is written down with a table."""
    guarantee = noise.guarantee
    local = isinstance(guarantee, LocalDP)
    spends = [
        Spend(label=name, epsilon=each.epsilon, purpose=f"{each.blur.kind}, in every record")
        for name, each in noise.attributes.items()
        if local and name in noise.told and each.epsilon is not None
    ]
    told = [name for name in noise.told if isinstance(noise[name].blur, Truthful)]
    held = [name for name, blur in noise.blurs.items() if isinstance(blur, Withheld)]
    notes = [
        f"Told as they are: {', '.join(told)}." if told else "",
        f"Withheld: {', '.join(held)}." if held else "",
        "Values outside the public range and cells that do not parse follow the schema's rule, before anything is "
        + ("blurred; no row is left out for what is covered." if local else "blurred. A missing number stays missing."),
        "The noise of each entity is fixed by a secret: blurring the same rows again gives the same table. The promise "
        "holds against all who do not know it, as far as BLAKE2b is a pseudo-random function."
        if fixed
        else REPEATED,
    ]
    return BlurPlan(
        guarantee=guarantee,
        unit=noise.schema.unit,
        spends=tuple(spends),
        cells_at_most=0,
        notes=tuple(note for note in notes if note),
    )


def perturb(
    data: Any,
    *,
    schema: Schema | str | Path,
    out: str | Path,
    secret: bytes | None = None,
    entity: str | None = None,
    accept: Sequence[str] = (),
    delimiter: str = ",",
    progress: Progress | None = None,
    **strength: Any,
) -> Blurred:
    """Blur a table record by record into a release folder, in constant memory. `strength` is as for `noise_model`.

    With a `secret` and a column that identifies each `entity`, the same rows are always blurred alike.
    """
    began = time.perf_counter()
    tell = progress or (lambda label, done, total: None)
    if (secret is None) != (entity is None):
        raise InputError("A secret fixes the noise of entities, so give both: --secret FILE and --entity COLUMN.")
    noise = noise_model(schema, **strength)
    planned = blur_plan(noise, fixed=secret is not None)
    check_accepted(planned.guarantee, accept)
    source = open_source(data, delimiter=delimiter)
    read = _told(noise)
    check_before_reading(source, read)
    if entity is not None and entity not in source.columns():
        raise InputError(f"There is no column {entity!r} to tell entities apart. Give --entity a name from the header.")
    words = SystemWords() if secret is None else KeyedWords(secret)
    with staging(Path(out)) as stage:
        blocks = (
            perturb_block(noise, codes, words=words, entities=names)
            for codes, names in _coded(source, read, entity, lambda done, total: tell("blurring rows", done, total))
        )
        made = BlurredRelease(
            method="perturb",
            parameters={
                name: list(value) if isinstance(value, list | tuple) else str(value)
                for name, value in strength.items()
                if value
            },
            plan=planned,
            schema=noise.published,
            noise=noise,
            records=write_blurred(stage.folder / "table.csv", noise, blocks),
        )
        write_release(made, stage.folder, {})
        stage.publish()
    return Blurred(folder=Path(out), release=made, seconds=time.perf_counter() - began)


def _told(noise: NoiseModel) -> Schema:
    """The schema of the true values that are read: what is withheld is not."""
    attributes = tuple(noise.schema[name] for name in noise.told)
    return replace(noise.schema, attributes=attributes, target=noise.published.target, identifiers=())


def _coded(
    source: Source, schema: Schema, entity: str | None = None, progress: Any = None
) -> Iterator[tuple[dict[str, npt.NDArray[np.integer]], list[str] | None]]:
    """Coded columns, without the rows that the schema drops, and whose they are."""
    coders = {attribute.name: coder(attribute) for attribute in schema.attributes}
    wanted = schema
    if entity is not None and entity not in coders:
        wanted = _reading([*coders, entity])
    for whole in source.batches(wanted, progress):
        for start in range(0, len(whole), BLOCK_ROWS):
            batch = whole.slice(start, BLOCK_ROWS)
            columns = {name: code(batch.column(name)) for name, code in coders.items()}
            masks = [column.kept for column in columns.values() if column.kept is not None]
            kept = np.flatnonzero(np.logical_and.reduce(masks)) if masks else np.arange(len(batch))
            names = None
            if entity is not None:
                texts = batch.column(entity).cast(pa.string()).fill_null("")
                names = texts.take(pa.array(kept)).to_pylist()
            yield {name: column.codes[kept] for name, column in columns.items()}, names


def _reading(names: Iterable[str]) -> Schema:
    """A schema that names columns to be read, and says nothing of them."""
    nothing = Tree.flat(["-"])
    return Schema(attributes=tuple(Attribute(name=n, domain=nothing, outside=Outside.CLAMP) for n in names))


def noise_of(folder: str | Path) -> NoiseModel:
    """The noise model of a folder of blurred records; of one that clients' records were gathered in, noise.json alone
    decides."""
    place = Path(folder)
    if (place / "release.json").exists():
        made = read_release(place)
        if not isinstance(made, BlurredRelease):
            raise InputError(f"{place} holds no blurred records. Give a folder that `scumble perturb` wrote.")
        return made.noise
    return read_noise(place / "noise.json")


def reconstruct(folder: str | Path, *, original: Any = None, delimiter: str = ",") -> "list[Distribution]":
    """The distributions of true values behind a folder of blurred ones; beside the `original` ones where given, which
    are private: the result is then for their owner alone."""
    # SciPy's statistics take a second to import.
    from scumble.mining.distributions import distributions

    noise = noise_of(folder)
    true = None if original is None else true_blocks(original, noise, delimiter=delimiter)
    return distributions(noise, published_blocks(Path(folder) / "table.csv", noise), true)


def true_blocks(data: Any, noise: NoiseModel, *, delimiter: str = ",") -> Iterator[dict[str, Any]]:
    """True rows coded as they would be before blurring, to compare with."""
    source = open_source(data, delimiter=delimiter)
    read = _told(noise)
    check_columns(source, read)
    return (codes for codes, _ in _coded(source, read))


def train(folder: str | Path, *, algorithm: str = "byclass", **options: Any) -> TreeModel:
    """A tree learned from a folder of blurred records, for true ones."""
    from scumble.mining.perturbed_classifier import PerturbedTreeClassifier

    if algorithm not in ALGORITHMS:
        raise InputError(f"There is no algorithm {algorithm!r}. Choose from {', '.join(ALGORITHMS)}.")
    noise = noise_of(folder)
    target = noise.published.target
    if target is None:
        raise InputError("The blurred records have no class to learn. Perturb with a schema that has a `target`.")
    blocks = list(published_blocks(Path(folder) / "table.csv", noise))
    columns = {n: np.concatenate([b[n] for b in blocks] or [np.zeros(0, dtype=np.int64)]) for n in noise.told}
    if not len(columns[target]):
        raise InputError("The table has no rows to learn from. Give one that has.")
    values = np.stack([_numbers(noise[a.name], columns[a.name]) for a in noise.published.predictors], axis=1)
    labels = np.array(noise.published.classes, dtype=object)[columns[target]]
    learner = PerturbedTreeClassifier(noise, algorithm=ALGORITHMS[algorithm], **options)
    return replace(learner.fit(values, labels).model_, target=target)


def _numbers(blurred: BlurredAttribute, codes: Integers) -> npt.NDArray[np.float64]:
    """Published codes as a learner takes them: numbers, missing ones not a number; a category by its place."""
    domain = blurred.published.domain
    if not isinstance(domain, Grid):
        return codes.astype(np.float64)
    return np.concatenate([domain.edge_floats[:-1], [np.nan]])[codes]


def predict(
    model: TreeModel, data: Any, *, delimiter: str = ","
) -> Iterator[tuple[npt.NDArray[np.str_], npt.NDArray[np.str_] | None]]:
    """The class of every row of true values, block by block, and what the table says it is where it does.

    What does not parse, and a category that the model does not know, counts as missing.
    """
    source = open_source(data, delimiter=delimiter)
    names = [feature.name for feature in model.features]
    judged = [model.target] if model.target is not None and model.target in source.columns() else []
    wanted = _reading([*names, *judged])
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
        return read_numbers(column)
    places = pc.index_in(column.cast(pa.string()), pa.array(feature.values, pa.string()))
    return places.cast(pa.float64()).to_numpy(zero_copy_only=False)
