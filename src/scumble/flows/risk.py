"""The verb `risk`: how well the people in a table are hidden among others who look like them.

It works on any table: the raw rows of an owner, or the published table of a release.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from scumble.errors import InputError
from scumble.files.csv_tables import arrow_table
from scumble.files.evaluation_files import refuse_release_folder
from scumble.files.report.risk import risk_page
from scumble.flows.load import load_release
from scumble.flows.plan import schema_of
from scumble.flows.public_rows import code_rows
from scumble.mining.benchmark.sample import sample_of_counts
from scumble.mining.risk.measures import attackers, diversity, homogeneous_records, size_distribution
from scumble.mining.risk.population import population_uniqueness
from scumble.model.budget import Budget, parse_budget
from scumble.model.counts import Integers
from scumble.model.guarantee import Guarantee, KAnonymity
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.sources import ArrowSource, Dialect, check_dialect, open_source

OF_ROWS = "Computed from raw rows without noise, for the data owner only. Do not publish."
OF_RELEASE = "Computed from the published table only."
OF_SYNTHETIC = (
    "Computed from the published table only. Its records are synthetic or noisy counts: a group of one is not a "
    "person. The protection of the people is the guarantee of the release, not the size of groups."
)
MOST_SENSITIVE_VALUES = 1000


@dataclass(frozen=True, kw_only=True)
class RiskTable:
    """A table as it is judged: a column of numbers for each attribute, in which equal numbers are equal values."""

    schema: Schema
    columns: Mapping[str, Integers]
    weights: Integers
    """How many records each line stands for."""
    notice: str
    quasi: tuple[str, ...]
    """The quasi-identifier if none is named."""
    generalized: frozenset[str] = frozenset()
    """Attributes whose numbers stand for generalized values, not for codes of the schema."""
    guarantee: Guarantee | None = None
    read: int | None = None


def risk(
    data: Any,
    *,
    schema: Schema | str | Path | None = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | None = None,
    population: int | None = None,
    threshold: Budget = "0.2",
    report: str | Path | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
) -> dict[str, Any]:
    """Measure the risk of re-identification in a table: raw rows with their `schema`, or the folder of a release.

    `quasi` names the quasi-identifier, the attributes by which someone could recognize a person (default: that of the
    release, else all but the class). `sensitive` is the attribute whose diversity is measured (default: the class).
    `population` is the public number of people of whom the table is a sample. A record is at risk if the probability
    that a link to it is right is above the `threshold`. `report` is an HTML file to write, outside of release folders.

    Returns plain data: `k`, the sizes of groups, `sample_uniqueness`, `diversity` (distinct l, entropy l, t), the risks
    of the prosecutor, journalist and marketer attackers and, with a population, its estimated uniqueness. Raises
    `InputError` if an attribute is unknown. Figures of raw rows are for the data owner only.
    """
    limit = parse_budget(threshold, name="threshold")
    if limit > 1:
        raise InputError(f"threshold is {threshold}, but a probability is at most 1. Give one such as 0.2.")
    if report is not None:
        refuse_release_folder(Path(report), what="A report on risk")
    folder = isinstance(data, str | Path) and (Path(data) / "release.json").is_file()
    if folder:
        table = table_of_release(load_release(data))
    elif schema is None:
        raise InputError("A table needs its schema: give --schema. Only the folder of a release has its own.")
    else:
        dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
        source = open_source(data, dialect=dialect)
        check_dialect(dialect, source)
        public = schema_of(schema)
        rows = code_rows(source, public)
        table = RiskTable(
            schema=public,
            columns={name: column.astype(np.int64) for name, column in rows.columns.items()},
            weights=np.ones(rows.rows, dtype=np.int64),
            notice=OF_ROWS,
            quasi=tuple(attribute.name for attribute in public.predictors),
            read=rows.read,
        )
    result = risk_of_table(table, quasi=quasi, sensitive=sensitive, population=population, threshold=limit)
    if report is not None:
        Path(report).write_text(risk_page(result), encoding="utf-8")
    return result


def risk_of_table(
    table: RiskTable,
    *,
    quasi: str | Sequence[str] | None,
    sensitive: str | None,
    population: int | None,
    threshold: Fraction,
) -> dict[str, Any]:
    """All measures of a table, as plain data."""
    names = _quasi(table, quasi)
    secret = sensitive if sensitive is not None else table.schema.target
    if secret is not None and secret in names:
        if sensitive is not None:
            raise InputError(
                f"{secret!r} is sensitive and cannot be part of the quasi-identifier. Leave it out of one."
            )
        secret = None
    groups = _groups([table.columns[name] for name in names], table.weights)
    sizes = np.bincount(groups, weights=table.weights).astype(np.int64) if len(groups) else np.zeros(0, dtype=np.int64)
    records = int(sizes.sum())
    if population is not None and population < records:
        raise InputError("The population is smaller than the table. Give the number of people it was drawn from.")
    result: dict[str, Any] = {
        "notice": table.notice,
        "records": records,
        **({} if table.read is None else {"read": table.read}),
        "quasi": list(names),
        "k": int(sizes.min(initial=records)),
        "groups": len(sizes),
        "average_size": records / max(len(sizes), 1),
        "sizes": size_distribution(sizes),
        "sample_uniqueness": float((sizes == 1).sum() / max(records, 1)),
        "threshold": float(threshold),
        **attackers(sizes, threshold=float(threshold), population=population),
    }
    if table.guarantee is not None:
        result["guarantee"] = table.guarantee.sentence
    if secret is not None:
        result["sensitive"] = secret
        result["diversity"] = _diversity(table, groups, len(sizes), secret)
    if population is not None:
        result["population"] = population_uniqueness(sizes, population)
    return result


def table_of_release(release: Release) -> RiskTable:
    """The published table of a release. Raises `InputError` for records that were perturbed one by one."""
    guarantee, schema = release.plan.guarantee, release.schema
    predictors = tuple(attribute.name for attribute in schema.predictors)
    recommended = release.table_named(None)
    groups = release.generalized
    if groups is not None:
        lines, classes = np.nonzero(groups.count)
        columns: dict[str, Integers] = {}
        generalized = set()
        for place, name in enumerate(predictors):
            ranges = groups.boxes[:, place]
            if (ranges[:, 1] - ranges[:, 0] == 1).all():
                columns[name] = ranges[lines, 0]
            else:
                columns[name] = np.unique(ranges, axis=0, return_inverse=True)[1].reshape(-1)[lines]
                generalized.add(name)
        columns |= {} if schema.target is None else {schema.target: classes}
        return RiskTable(
            schema=schema,
            columns=columns,
            weights=groups.count[lines, classes],
            notice=OF_RELEASE,
            quasi=groups.quasi,
            generalized=frozenset(generalized),
            guarantee=guarantee,
        )
    if release.counted_records is None:
        raise InputError(
            "The records of this release were perturbed one by one, each with its own noise. Groups of equal records "
            "say nothing about the people: read the guarantee of the release instead."
        )
    published, rows = release.tables[recommended], release.rows_of(recommended)
    if rows is not None:
        found = code_rows(ArrowSource(table=arrow_table(rows)), published.of_published_rows)
        columns = {name: column.astype(np.int64) for name, column in found.columns.items()}
        weights = np.ones(found.rows, dtype=np.int64)
    else:
        sample = sample_of_counts(published, release.cells.count)
        codes, labels = sample.codes.astype(np.int64), sample.labels.astype(np.int64)
        columns = {attribute.name: codes[:, place] for place, attribute in enumerate(published.predictors)}
        columns |= {} if published.target is None else {published.target: labels}
        weights = sample.counts
    return RiskTable(
        schema=published,
        columns=columns,
        weights=weights,
        notice=OF_RELEASE if isinstance(guarantee, KAnonymity) else OF_SYNTHETIC,
        quasi=predictors,
        guarantee=guarantee,
    )


def _quasi(table: RiskTable, quasi: str | Sequence[str] | None) -> tuple[str, ...]:
    if quasi is None:
        return table.quasi
    names = tuple(name.strip() for name in quasi.split(",")) if isinstance(quasi, str) else tuple(quasi)
    if not names or len(set(names)) < len(names):
        raise InputError("The quasi-identifier is empty or names an attribute twice. Give each name once.")
    return tuple(table.schema[name].name for name in names)


def _groups(columns: Sequence[Integers], weights: Integers) -> Integers:
    """The group of each line, numbered from 0."""
    group: Integers = np.zeros(len(weights), dtype=np.int64)
    for column in columns:
        values, number = np.unique(column, return_inverse=True)
        group = np.unique(group * max(len(values), 1) + number.reshape(-1), return_inverse=True)[1].reshape(-1)
    return group


def _diversity(table: RiskTable, groups: Integers, number: int, sensitive: str) -> dict[str, float]:
    attribute = table.schema[sensitive]
    if sensitive in table.generalized:
        raise InputError(
            f"{sensitive!r} is published in ranges, so its diversity is unknown. Choose another attribute."
        )
    size = attribute.domain.size
    if size > MOST_SENSITIVE_VALUES:
        raise InputError(
            f"{sensitive!r} has {size:,} values, more than {MOST_SENSITIVE_VALUES:,}. Give it a coarser domain."
        )
    counts = np.zeros((number, size), dtype=np.int64)
    np.add.at(counts, (groups, table.columns[sensitive]), table.weights)
    return {**diversity(counts, attribute), "homogeneous_records": homogeneous_records(counts)}
