"""The benchmark's tables: a small table enlarged to millions of rows, as the DiffGen paper does with Adult.

The original records are followed by variations of them, in which some attribute values are replaced by values drawn
from the attribute's public domain. The class is never replaced. Files are written one row group at a time with the
writer's default settings and text as plain strings, so a file may be larger than memory.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from scumble.datasets import load
from scumble.demo.patients import patients, patients_schema
from scumble.engines.coding import code_type
from scumble.files.schema_file import parse_schema
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema
from scumble.privacy.noise import simulation

ROW_GROUP = 1 << 20
"""The default row group size of `pyarrow.parquet.write_table`."""
REPLACED = 0.25
"""The probability that an attribute value of a variation is replaced."""
SEED = 2011
VERSION = 1
"""Part of the file names. Increase it when the way the files are made changes."""


def schema_of(name: str) -> Schema:
    """The schema of `adult` (from the folder SCUMBLE_DATA) or of the synthetic `patients`.

    `adult-50` is the schema of Adult widened to 50 attributes.
    """
    name, _, attributes = name.partition("-")
    schema = patients_schema() if name == "patients" else load(name).schema
    return widened(schema, int(attributes)) if attributes else schema


def widened(schema: Schema, attributes: int) -> Schema:
    """The attributes repeated under other names, and the class."""
    predictors = schema.predictors
    copies = [
        replace(predictors[number % len(predictors)], name=_copied(predictors, number)) for number in range(attributes)
    ]
    return replace(schema, attributes=(*copies, schema[str(schema.target)]), identifiers=())


def _copied(predictors: tuple[Attribute, ...], number: int) -> str:
    times, place = divmod(number, len(predictors))
    return predictors[place].name if times == 0 else f"{predictors[place].name}.{times}"


def base(name: str) -> tuple[pa.Table, Schema]:
    """The records to start from, and their schema."""
    schema = schema_of(name)
    plain = name.partition("-")[0]
    table = patients(2_000, SEED) if plain == "patients" else pacsv.read_csv(load(plain).path)
    columns = {attribute.name: table.column(attribute.name.partition(".")[0]) for attribute in schema.attributes}
    return pa.table(columns), schema


def coded_bytes(schema: Schema, rows: int) -> int:
    """The size in bytes of the coded table, with the smallest integer type for each attribute."""
    return rows * sum(np.dtype(code_type(attribute.domain.size)).itemsize for attribute in schema.attributes)


def write_parquet(path: Path, records: pa.Table, schema: Schema, rows: int) -> None:
    """Enlarge `records` to `rows` rows in a Parquet file, written atomically."""
    draw = simulation(SEED)
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetWriter(unfinished, records.schema) as writer:
        for start in range(0, rows, ROW_GROUP):
            places = np.arange(start, min(start + ROW_GROUP, rows))
            writer.write_table(_variations(records, schema, places, draw), row_group_size=ROW_GROUP)
    unfinished.rename(path)


def write_csv(path: Path, parquet: Path) -> None:
    """The same rows as CSV."""
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetFile(parquet) as file, pacsv.CSVWriter(unfinished, file.schema_arrow) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch)
    unfinished.rename(path)


def _variations(records: pa.Table, schema: Schema, places: np.ndarray, draw: np.random.Generator) -> pa.Table:
    """The given rows of the enlarged table: first the records themselves, then repeated variations of them."""
    columns = []
    for attribute in schema.attributes:
        column = records.column(attribute.name).combine_chunks().take(pa.array(places % len(records)))
        if attribute.name != schema.target:
            replaced = (places >= len(records)) & (draw.random(len(places)) < REPLACED)
            column = pa.compute.if_else(pa.array(replaced), _drawn(attribute, column.type, len(places), draw), column)
        columns.append(column)
    return pa.table(columns, schema=records.schema)


def _drawn(attribute: Attribute, kind: pa.DataType, rows: int, draw: np.random.Generator) -> pa.Array:
    """Values drawn uniformly from an attribute's public domain: leaves of a tree, whole numbers of a grid."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        low, high = int(domain.edges[0]), int(domain.edges[-1])
        return pa.array(draw.integers(low, high, rows)).cast(kind)
    codes = pa.array(draw.integers(0, domain.size, rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array(domain.labels, pa.string())).cast(kind)


def long_grid_schema() -> Schema:
    """A grid of a million cells, a small one, and a class."""
    return parse_schema(
        """
scumble: schema/1
target: class
attributes:
  long: {numeric: {low: 0, high: 1000000, step: 1}}
  short: {numeric: {low: 0, high: 10, step: 1}}
  class: {classes: ["no", "yes"]}
"""
    )


def write_long_grid(path: Path, schema: Schema, rows: int) -> None:
    """Rows whose class depends on both numbers."""
    draw = simulation(SEED)
    long, short = draw.integers(0, 1_000_000, rows), draw.integers(0, 10, rows)
    sure = long / 1_000_000 + short / 10 + draw.normal(scale=0.3, size=rows) > 1
    columns = {"long": long, "short": short, "class": np.where(sure, "yes", "no")}
    pq.write_table(pa.table({each.name: columns[each.name] for each in schema.attributes}), path)
