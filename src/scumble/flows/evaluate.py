"""Evaluates a release: trains classifiers on it and measures them on raw rows.

This is for the data owner. The results depend on raw rows and are not covered by the guarantee of the release.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scumble.engines.coding import code_blocks
from scumble.engines.number_columns import read_numbers
from scumble.errors import InputError
from scumble.files.csv_tables import arrow_table
from scumble.flows.load import load_release
from scumble.model.grid import Grid
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.sources import ArrowSource, Dialect, Source, check_columns, open_source

if TYPE_CHECKING:
    from scumble.mining.benchmark.sample import Sample


def evaluate(
    folder: str | Path,
    *,
    test: Any,
    train: Any = None,
    table: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
    classifiers: Sequence[str] = ("tree", "boosting"),
) -> dict[str, Any]:
    """Scores, on the raw rows `test`, of classifiers trained on a release.

    `table` is `table` or `fine`; the default is the recommended table. `train` takes the raw rows behind the release:
    the same classifiers are then also trained on these, under the key `raw`. Returns plain data: for each classifier
    its accuracy, AUC, balanced accuracy (`balanced_accuracy`, and `balanced_accuracy_weighted` for class-weighted
    predictions) and the `recall` of each class, and how many test rows were read and are in the domain: the others are
    not scored. `commonest` has the same scores for always predicting the commonest class, of the raw rows `train` if
    these are given, else of the release; `majority` is its accuracy. Raises `InputError` if a table lacks a column of
    the release. The figures depend on private rows and are not covered by the guarantee of the release.
    """
    # scikit-learn takes a second to import, and no other verb needs it.
    from scumble.mining.benchmark.scores import commonest_class, score

    made = load_release(folder)
    chosen = made.table_named(table)
    published, schema = training_sample(made, chosen), made.tables[chosen]
    dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
    tested, read = _counted_sample(open_source(test, dialect=dialect), schema)
    result = {
        "table": chosen,
        "test_rows": {"read": read, "in_domain": len(tested.labels)},
        **score(published, tested, schema, classifiers=classifiers),
    }
    commonest = {"of": "release", **commonest_class(published, tested, schema)}
    if train is not None:
        source = open_source(train, dialect=dialect)
        # Noise can make another class the commonest of a release, so the raw rows decide if they are given.
        commonest = {"of": "train", **commonest_class(_sample(source, schema), tested, schema)}
        fine = finest_schema(made.schema, source)
        raw = score(
            _sample(source, fine),
            _sample(open_source(test, dialect=dialect), fine),
            fine,
            classifiers=classifiers,
        )
        result["raw"] = raw
    return {**result, "majority": commonest["accuracy"], "commonest": commonest}


def training_sample(release: Release, table: str | None = None) -> "Sample":
    """The training data of a miner, by default the recommended table, coded by its schema: cells weighted by their
    counts, the fine rows, or published records."""
    from scumble.mining.benchmark.sample import sample_of_counts

    chosen = release.table_named(table)
    rows = release.rows_of(chosen)
    if rows is None:
        return sample_of_counts(release.schema, release.cells.count)
    return _sample(ArrowSource(table=arrow_table(rows)), release.tables[chosen].of_published_rows)


def _sample(source: Source, schema: Schema) -> "Sample":
    """All rows of a source that are in the domain, coded by a schema."""
    return _counted_sample(source, schema)[0]


def _counted_sample(source: Source, schema: Schema) -> "tuple[Sample, int]":
    """The rows of a source that are in the domain, and how many rows were read."""
    from scumble.mining.benchmark.sample import Sample

    check_columns(source, schema.columns)
    read = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal read
        for batch in source.batches(schema.columns):
            read += batch.num_rows
            yield batch

    blocks = list(code_blocks(counted(), schema))
    columns = {
        attribute.name: np.concatenate([block[place] for block in blocks] or [np.zeros(0, dtype=np.uint8)])
        for place, attribute in enumerate(schema.attributes)
    }
    codes = np.stack([columns[attribute.name].astype(np.int64) for attribute in schema.predictors], axis=1)
    if schema.target is None:
        raise InputError("The release has no class to predict. Evaluate a release made with a `target`.")
    sample = Sample(codes=codes, labels=columns[schema.target].astype(np.int64), weights=None)
    return sample, read


def finest_schema(published: Schema, source: Source) -> Schema:
    """The finest schema of raw rows: the leaves of the public trees, and one cell for every number that occurs.

    It depends on private rows, so it is used only for the owner's comparison and never published.
    """
    check_columns(source, published.columns)
    attributes = []
    batches = list(source.batches(published.columns))
    for attribute in published.attributes:
        domain = attribute.domain
        if isinstance(domain, Tree):
            domain = domain.finest
        else:
            columns = [
                read_numbers(batch.column(attribute.source_column), numbers=attribute.numbers) for batch in batches
            ]
            values = np.unique(np.concatenate(columns or [np.zeros(0)]))
            values = values[np.isfinite(values)]
            edges = [Decimal(repr(float(value))) for value in values] or [Decimal(0)]
            beyond = edges[-1] + max(abs(edges[-1]), Decimal(1))  # far enough to stay above after rounding
            domain = Grid(edges=(*edges, beyond), missing=domain.missing)
        attributes.append(replace(attribute, domain=domain))
    return replace(published, attributes=tuple(attributes))
