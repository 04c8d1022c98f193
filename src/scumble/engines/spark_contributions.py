"""Bounds the rows of each person on the executors of a Spark cluster, by windows of Spark.

The rows are chosen as `scumble.engines.contributions.kept_rows` chooses them. Codes, ids and hashes are computed where
the rows are read; then the rows of each person are brought together.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from scumble.engines.coding import code_type
from scumble.engines.contributions import REPEAT_STEP, read_contributions
from scumble.model.counts import Block
from scumble.model.persons import Persons
from scumble.model.schema import Schema
from scumble.sources.spark_batches import SparkBatches

HALF = 1 << 63
"""Spark has no unsigned numbers: a hash is stored with this subtracted."""


def bounded_rows(batches: SparkBatches, schema: Schema, persons: Persons, key: bytes) -> SparkBatches:
    """Coded rows, at most so many of each person, without the rows that the schema drops."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    names, codes = batches.names, [f"code{place}" for place in range(len(schema.attributes))]

    def contributions(parts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        renamed = (batch.rename_columns(names) for batch in parts)
        for part in read_contributions(renamed, schema, persons, key):
            hashes = (part.hashes ^ np.uint64(HALF)).view(np.int64)
            columns = [part.persons.cast(pa.string()), pa.array(hashes), pa.array(part.inside)]
            coded = [pa.array(column.astype(np.int64)) for column in part.block]
            yield pa.record_batch([*columns, *coded], names=["person", "hash", "inside", *codes])

    kinds = ", ".join(f"{name} bigint" for name in codes)
    rows = batches.frame.mapInArrow(contributions, f"person string, hash bigint, inside boolean, {kinds}")
    equal = Window.partitionBy("person", "hash").orderBy("hash")
    priority = sql.expr(
        f"(cast(hash as decimal(20, 0)) + {HALF}BD + cast(repeat as decimal(11, 0)) * {REPEAT_STEP}BD) % {1 << 64}BD"
    )
    ranked = (
        rows.repartition("person")
        .withColumn("repeat", sql.row_number().over(equal) - 1)
        .withColumn("priority", priority)
        .withColumn("place", sql.row_number().over(Window.partitionBy("person").orderBy("priority")))
    )
    kept = ranked.where(f"inside and place <= {persons.rows_each_at_most}").select(*codes)
    return SparkBatches(frame=kept, names=codes, where=batches.where)


def coded_blocks(batches: Iterable[pa.RecordBatch], schema: Schema) -> Iterator[Block]:
    """The rows of `bounded_rows` in the integer types of their codes."""
    kinds = [code_type(attribute.domain.size) for attribute in schema.attributes]
    for batch in batches:
        yield tuple(column.to_numpy().astype(kind) for column, kind in zip(batch.columns, kinds, strict=True))
