"""The verb `perturb`: perturbs a table record by record into a release folder (local model).

    schema + strength -> noise model -> perturb row by row -> folder

Each record is perturbed independently, so there is no holder and no ledger, and the table is streamed. If the schema
names persons, the first rows of each are perturbed and the others are left out. What a receiver does with the folder is
in `scumble.flows.mine`.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import compress
from pathlib import Path
from typing import Any

from scumble import interrupts
from scumble.engines.coding import Codes, code_entities
from scumble.engines.first_rows import FirstRows
from scumble.errors import ChargeOutcome, InputError
from scumble.files.atomic_folder import Staging, staging
from scumble.files.perturbed_table import write_blurred
from scumble.files.release_folder import write_release
from scumble.flows.charge import check_accepted
from scumble.flows.plan import schema_of
from scumble.flows.progress import Progress
from scumble.flows.release import check_before_reading
from scumble.foreign.numbers import parse_decimal
from scumble.model.counts import Integers
from scumble.model.display import plural
from scumble.model.guarantee import LocalDP, persons_of
from scumble.model.guarantee_json import to_json
from scumble.model.local.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.local.randomizers import Discretized, Retained, Truthful, Withheld, parse_share
from scumble.model.persons import Persons
from scumble.model.plan import Plan, Spend
from scumble.model.release import BlurredRelease
from scumble.model.schema import Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import KeyedWords, Keying, RowNumbers, SystemWords
from scumble.privacy.perturber import perturb_block
from scumble.sources import Dialect, Source, check_dialect, has_column, open_source
from scumble.sources.source import RowProgress

BLOCK_ROWS = 1 << 17
REPEATED = (
    "Every run draws new noise. Whoever sees several tables of the same people learns more than the guarantee states: "
    "the epsilons of the tables add up, and the intervals get narrower."
)
FIXED = (
    "A secret fixes the noise: as long as a value, its row's id and the noise model stay the same, its report stays "
    "the same, so repeating it reveals nothing more. A report that differs from an earlier one proves that the value "
    "changed, and the epsilons of the two reports add up."
)
REPEATED_IDS = {
    Keying.HMAC_SHA256: "Rows with the same id are numbered in their order and get independent noise. Rows with a "
    "blank id get new noise in every run.",
    Keying.BLAKE2B: "Rows with a blank id, and all rows with the same id but the first, get new noise in every run.",
}
ONE_ROW = "The guarantee is that of one row: for a person with several rows, the epsilons of the rows add up."
FIRST_ROWS = (
    "A person, by `{column}`, sends at most {reports}: of the first rows in the table's order, each perturbed with "
    "epsilon divided by {bound}. All further rows are left out, whatever they contain. Rows without an id count as one "
    "person."
)
ASSUMED = "Against those who do not know the secret, the guarantee holds if {} is a pseudo-random function."
FUNCTIONS = {Keying.HMAC_SHA256: "HMAC-SHA-256", Keying.BLAKE2B: "BLAKE2b"}


@dataclass(frozen=True, kw_only=True)
class Perturbed:
    """The result of `perturb`: a release of perturbed records and its folder."""

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
    privacy_of: Mapping[str, object] | None = None,
    retain: Mapping[str, object] | object = None,
    discretize: Mapping[str, Sequence[str | int | float]] | None = None,
) -> NoiseModel:
    """The noise model of a schema: by interval privacy (default: 100 % at 95 % confidence), or by epsilon.

    `privacy` is the width of the interval that a true value is hidden in, as a share of its range. `noise` is
    `gaussian`, `uniform` or `discretized`. With `epsilon` the result is local differential privacy instead: of one
    report, or, if the schema names persons, of all reports of a person. Attributes in `truthful` are reported without
    noise, those in `withhold` are not reported. `privacy_of` gives the width of single attributes, `retain` the
    probability that a category is reported unchanged: by attribute, or one for all categories that no other argument
    names, the class excepted. `discretize` gives the edges of intervals, of equal width or not, that replace the values
    of a number. Raises `InputError` if the arguments contradict each other or do not fit the schema.
    """
    public = schema_of(schema)
    widths, intervals = privacy_of or {}, discretize or {}
    probabilities = _retained(public, retain, {*truthful, *withhold, *widths})
    _check_one_treatment(truthful, withhold, widths, probabilities, intervals)
    if epsilon is None:
        made = for_privacy(
            public,
            privacy="100%" if privacy is None else privacy,
            confidence="95%" if confidence is None else confidence,
            noise=noise or "gaussian",
            truthful=truthful,
            withheld=withhold,
            privacy_of=widths,
            chosen={
                **{name: Retained(probability=parse_share(p, name=name)) for name, p in probabilities.items()},
                **{name: Discretized(edges=_edges(name, edges)) for name, edges in intervals.items()},
            },
        )
    elif privacy is not None or confidence is not None or noise is not None or widths or retain or intervals:
        raise InputError(
            "An epsilon determines the noise. Give epsilon, or privacy, confidence, noise, privacy_of, retain and "
            "discretize."
        )
    else:
        made = for_epsilon(public, epsilon=epsilon, truthful=truthful, withheld=withhold)
    if not isinstance(made.guarantee, LocalDP):
        return made
    # Dropping a row because of its values would reveal what local privacy hides.
    clamped = [a if a.name in truthful else replace(a, outside=Outside.CLAMP) for a in public.attributes]
    return replace(made, schema=replace(public, attributes=tuple(clamped)))


def _edges(name: str, edges: Sequence[str | int | float]) -> tuple[Decimal, ...]:
    try:
        return tuple(parse_decimal(edge) for edge in edges)
    except ValueError as error:
        raise InputError(
            f"{name!r}: an edge of its intervals is not a number. Write edges such as 0:10:50:100."
        ) from error


def _retained(schema: Schema, retain: Mapping[str, object] | object, treated: Collection[str]) -> Mapping[str, object]:
    """The probability by attribute. One probability alone is that of all categories that are not treated otherwise."""
    if retain is None or isinstance(retain, Mapping):
        return retain or {}
    categories = [a.name for a in schema.attributes if isinstance(a.domain, Tree) and a.domain.size > 1]
    return {name: retain for name in categories if name != schema.target and name not in treated}


def _check_one_treatment(*treatments: Iterable[str]) -> None:
    named = [name for names in treatments for name in set(names)]
    twice = sorted(name for name, times in Counter(named).items() if times > 1)
    if twice:
        raise InputError(
            f"{twice[0]!r} is named twice. Name an attribute in only one of truthful, withhold, privacy_of, retain and "
            "discretize."
        )


def perturbation_plan(noise: NoiseModel, *, keying: Keying | None, collected: str = "") -> Plan:
    """The plan of a noise model: its guarantee, the epsilon of each attribute, and notes for the report.

    `collected` says how the records were collected, if each was perturbed elsewhere by its owner.
    """
    guarantee = noise.guarantee
    local, persons = isinstance(guarantee, LocalDP), persons_of(guarantee)
    spends = [
        Spend(label=name, epsilon=each.epsilon, purpose=f"{each.randomizer.kind}, in every record")
        for name, each in noise.attributes.items()
        if local and name in noise.reported and each.epsilon is not None
    ]
    without_noise = [name for name in noise.reported if isinstance(noise[name].randomizer, Truthful)]
    withheld = [name for name, randomizer in noise.randomizers.items() if isinstance(randomizer, Withheld)]
    notes = [
        f"Reported without noise: {', '.join(without_noise)}." if without_noise else "",
        f"Withheld: {', '.join(withheld)}." if withheld else "",
        "Values outside the public range and values that do not parse are treated by the rules of the schema before "
        + (
            "perturbation; no row is dropped for a covered value."
            if local
            else "perturbation. A missing number stays missing."
        ),
        "" if persons is None else _first_rows(persons),
        collected,
        REPEATED if keying is None else FIXED,
        "" if keying is None or collected else REPEATED_IDS[keying],
        ONE_ROW if keying is not None and persons is None and not collected else "",
        "" if keying is None else ASSUMED.format(FUNCTIONS[keying]),
    ]
    return Plan(
        guarantee=guarantee,
        schema_unit=noise.schema.unit,
        spends=tuple(spends),
        cells_at_most=0,
        notes=tuple(note for note in notes if note),
    )


def _first_rows(persons: Persons) -> str:
    bound = persons.rows_each_at_most
    return FIRST_ROWS.format(column=persons.column, reports=plural(bound, "report"), bound=bound)


def perturb(
    data: Any,
    *,
    schema: Schema | str | Path,
    out: str | Path,
    secret: bytes | None = None,
    entity: str | None = None,
    keyed: str | None = None,
    accept: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
    progress: Progress | None = None,
    **strength: Any,
) -> Perturbed:
    """Perturb a table record by record into a release folder, in constant memory.

    If the schema names persons, the first `rows_each_at_most` rows of each are perturbed, with the epsilon of a person
    divided among them, and the others are left out; memory grows with the number of persons.

    `data`, `schema`, `out`, `accept`, `delimiter`, `encoding`, `multiline` and `progress` are those of `release`;
    `strength` takes the arguments of `noise_model`. With a `secret` and a column that identifies each `entity`
    (default: the persons of the schema), the same rows always get the same noise. Nothing is charged to a ledger,
    because each record is protected on its own. Raises `InputError` if an argument, the schema or the header is wrong.
    """
    began = time.perf_counter()
    report = progress or (lambda label, done, total: None)
    noise = noise_model(schema, **strength)
    if secret is not None and entity is None:
        entity = noise.schema.person
    if (secret is None) != (entity is None):
        raise InputError("A secret fixes the noise of entities, so give both: --secret FILE and --entity COLUMN.")
    keying = _keying(keyed, secret)
    planned = perturbation_plan(noise, keying=keying)
    check_accepted(planned.guarantee, accept)
    dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
    source = open_source(data, dialect=dialect)
    check_dialect(dialect, source)
    read = reported_schema(noise)
    check_before_reading(source, read)
    if entity is not None and not has_column(source, entity):
        raise InputError(f"The table has no column {entity!r}. Give --entity a column name from the header.")
    words = SystemWords() if secret is None or keying is None else KeyedWords(secret, keying)
    rows = RowNumbers()
    with staging(Path(out)) as stage:
        interrupts.follow_charge(lambda: _outcome(stage, Path(out)))
        blocks = (
            perturb_block(
                noise, codes, words=words, entities=names, occurrences=None if names is None else rows.number(names)
            )
            for codes, names in coded_blocks(
                source, read, entity, lambda done, total: report("perturbing rows", done, total)
            )
        )
        made = write_perturbed(stage.folder, noise, planned, {**strength, "keyed": keying}, blocks)
        with interrupts.delayed():
            stage.publish()
    return Perturbed(folder=Path(out), release=made, seconds=time.perf_counter() - began)


def write_perturbed(
    folder: Path,
    noise: NoiseModel,
    plan: Plan,
    stated: Mapping[str, Any],
    blocks: Iterable[Mapping[str, Integers]],
) -> BlurredRelease:
    """Write perturbed blocks as a release into an empty folder. `stated` are the parameters as the owner gave them."""
    made = BlurredRelease(
        method="perturb",
        parameters={name: _stated_parameter(value) for name, value in stated.items() if value},
        plan=plan,
        schema=noise.published,
        noise=noise,
        records=write_blurred(folder / "table.csv", noise, blocks),
    )
    write_release(made, folder, {})
    return made


def _outcome(stage: Staging, out: Path) -> ChargeOutcome:
    """What an interruption reports: there is no charge, but the folder may be complete."""
    made = f"The release {out} is complete." if stage.published else "No release was made."
    return ChargeOutcome(has_ledger=False, others=made)


def _keying(keyed: str | None, secret: bytes | None) -> Keying | None:
    keying = Keying.HMAC_SHA256 if keyed is None else Keying.named(keyed)
    if keyed is not None and secret is None:
        raise InputError("A keyed function needs a secret. Give --secret FILE and --entity COLUMN with --keyed.")
    return None if secret is None else keying


def _stated_parameter(value: Any) -> list[str] | str:
    if isinstance(value, Mapping):
        pairs = {n: ":".join(map(str, each)) if isinstance(each, list | tuple) else each for n, each in value.items()}
        return [f"{name}={each}" for name, each in pairs.items()]
    return [str(each) for each in value] if isinstance(value, list | tuple) else str(value)


def reported_schema(noise: NoiseModel) -> Schema:
    """The schema of the true values that are read: without withheld attributes."""
    attributes = tuple(noise.schema[name] for name in noise.reported)
    return replace(noise.schema, attributes=attributes, target=noise.published.target, identifiers=())


def coded_blocks(
    source: Source, schema: Schema, entity: str | None = None, progress: RowProgress | None = None
) -> Iterator[tuple[dict[str, Codes], list[str] | None]]:
    """Coded columns by name, and the entity of each row, without the rows that the schema drops and without those after
    the first rows of a person."""
    persons = schema.persons
    first = None if persons is None else FirstRows(persons.rows_each_at_most)
    id_columns = [column for column in dict.fromkeys((schema.person, entity)) if column is not None]
    batches = source.batches(tuple(dict.fromkeys((*schema.columns, *id_columns))), progress)
    for block, ids in code_entities(batches, schema, id_columns=id_columns, most_rows=BLOCK_ROWS):
        interrupts.check()
        columns = dict(zip(schema.names, block, strict=True))
        names = None if entity is None else ids[id_columns.index(entity)]
        if first is not None:
            kept = first.keep(ids[0])
            columns = {name: codes[kept] for name, codes in columns.items()}
            names = None if names is None else list(compress(names, kept))
        yield columns, names
