"""What a release is worth to a miner: the glue between a release folder, raw rows and `scumble.mining`.

All of it is for the owner. It takes raw rows, and what it prints is not covered by the release's guarantee.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble.engines.coding import code_blocks, read_numbers
from scumble.errors import InputError
from scumble.files.csv_tables import arrow_table
from scumble.flows.load import load_release
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.taxonomy import Grid, Tree
from scumble.sources import FrameSource, Source, check_columns, open_source

if TYPE_CHECKING:
    from scumble.mining.benchmark.sample import Sample


def evaluate(
    folder: str | Path,
    *,
    test: Any,
    train: Any = None,
    table: str | None = None,
    delimiter: str = ",",
    classifiers: Sequence[str] = ("tree", "boosting"),
) -> dict[str, Any]:
    """What a miner can do with a release: accuracy and AUC, on `test`, of classifiers trained on it.

    `table` is `table` or `fine`, the recommended one where it is left out. With `train`, the raw rows, the same
    classifiers trained on those stand beside. Both kinds of rows are private: the figures are for the owner and are not
    covered by the release's guarantee.
    """
    # scikit-learn takes a second to import, which no other verb needs.
    from scumble.mining.benchmark.scores import majority_accuracy, score

    made = load_release(folder)
    chosen = made.table_named(table)
    published, schema = training_sample(made, chosen), made.tables[chosen]
    judged = _sample(open_source(test, delimiter=delimiter), schema)
    result = {
        "table": chosen,
        **score(published, judged, schema, classifiers=classifiers),
        "majority": majority_accuracy(published, judged),
    }
    if train is not None:
        source = open_source(train, delimiter=delimiter)
        fine = finest_schema(made.schema, source)
        raw = score(
            _sample(source, fine),
            _sample(open_source(test, delimiter=delimiter), fine),
            fine,
            classifiers=classifiers,
        )
        result["raw"] = raw
    return result


def training_sample(release: Release, table: str | None = None) -> "Sample":
    """The training data of a miner, by default the recommended table, coded by its schema: cells weighted by their
    counts, the fine rows drawn inside them, or published records."""
    from scumble.mining.benchmark.sample import sample_of_counts

    chosen = release.table_named(table)
    rows = release.rows_of(chosen)
    if rows is None:
        return sample_of_counts(release.schema, release.cells.count)
    return _sample(FrameSource(table=arrow_table(rows)), release.tables[chosen])


def _sample(source: Source, schema: Schema) -> "Sample":
    """All rows of a source, coded."""
    from scumble.mining.benchmark.sample import Sample

    check_columns(source, schema)
    blocks = list(code_blocks(source.batches(schema), schema))
    columns = {
        attribute.name: np.concatenate([block[place] for block in blocks] or [np.zeros(0, dtype=np.uint8)])
        for place, attribute in enumerate(schema.attributes)
    }
    codes = np.stack([columns[attribute.name].astype(np.int64) for attribute in schema.predictors], axis=1)
    if schema.target is None:
        raise InputError("The release has no class to predict. Evaluate a release made with a `target`.")
    return Sample(codes=codes, labels=columns[schema.target].astype(np.int64), weights=None)


def finest_schema(published: Schema, source: Source) -> Schema:
    """The schema of the raw rows: the leaves of the public trees, and every number that occurs a cell of its own.

    It is read off the rows, so it serves the owner's own comparison and nothing that is published.
    """
    check_columns(source, published)
    attributes = []
    batches = list(source.batches(published))
    for attribute in published.attributes:
        domain = attribute.domain
        if isinstance(domain, Tree):
            domain = domain.origin or domain
        else:
            columns = [read_numbers(batch.column(attribute.name)) for batch in batches]
            values = np.unique(np.concatenate(columns or [np.zeros(0)]))
            values = values[np.isfinite(values)]
            edges = [Decimal(repr(float(value))) for value in values] or [Decimal(0)]
            beyond = edges[-1] + max(abs(edges[-1]), Decimal(1))  # a step that no rounding swallows
            domain = Grid(edges=(*edges, beyond), missing=domain.missing)
        attributes.append(replace(attribute, domain=domain))
    return replace(published, attributes=tuple(attributes))
