"""The benchmark's tables: a small one blown up to millions of rows, as the DiffGen paper blew up Adult.

Each record is kept and followed by variations of it, in which some attribute values are replaced by values drawn from
the attribute's public domain. The class stays. Written a row group at a time with the writer's ordinary settings, text
as plain strings, so that a file larger than memory could be made.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from scumble.experiments.examples import patients, patients_schema
from scumble.files.datasets import load
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Grid
from scumble.privacy.noise import simulation

ROW_GROUP = 1 << 20
"""What `pyarrow.parquet.write_table` makes a row group of, unless told otherwise."""
REPLACED = 0.25
"""The chance that an attribute value of a variation is replaced."""
SEED = 2011


def base(name: str) -> tuple[pa.Table, Schema]:
    """The records to start from: `adult`, from the folder of SCUMBLE_DATA, or made-up `patients`."""
    if name == "patients":
        schema = patients_schema()
        table = patients(2_000, SEED)
    else:
        dataset = load(name)
        schema = dataset.schema
        table = pacsv.read_csv(dataset.path)
    return table.select([attribute.name for attribute in schema.attributes]), schema


def write_parquet(path: Path, records: pa.Table, schema: Schema, rows: int) -> None:
    """Blow `records` up to `rows` rows in a Parquet file, which appears whole or not at all."""
    draw = simulation(SEED)
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetWriter(unfinished, records.schema) as writer:
        for start in range(0, rows, ROW_GROUP):
            places = np.arange(start, min(start + ROW_GROUP, rows))
            writer.write_table(_variations(records, schema, places, draw), row_group_size=ROW_GROUP)
    unfinished.rename(path)


def write_csv(path: Path, parquet: Path) -> None:
    """The same rows as text."""
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetFile(parquet) as file, pacsv.CSVWriter(unfinished, file.schema_arrow) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch)
    unfinished.rename(path)


def _variations(records: pa.Table, schema: Schema, places: np.ndarray, draw: np.random.Generator) -> pa.Table:
    """Rows of the blown-up table: first the records themselves, then round after round of variations."""
    columns = []
    for attribute in schema.attributes:
        column = records.column(attribute.name).combine_chunks().take(pa.array(places % len(records)))
        if attribute.name != schema.target:
            replaced = (places >= len(records)) & (draw.random(len(places)) < REPLACED)
            column = pa.compute.if_else(pa.array(replaced), _drawn(attribute, column.type, len(places), draw), column)
        columns.append(column)
    return pa.table(columns, schema=records.schema)


def _drawn(attribute: Attribute, kind: pa.DataType, rows: int, draw: np.random.Generator) -> pa.Array:
    """Values of an attribute's public domain, each as likely as any other: leaves of a tree, whole numbers of a grid."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        low, high = int(domain.edges[0]), int(domain.edges[-1])
        return pa.array(draw.integers(low, high, rows)).cast(kind)
    codes = pa.array(draw.integers(0, domain.size, rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array(domain.labels, pa.string())).cast(kind)
