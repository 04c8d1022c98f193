"""The benchmark's tables: a small one blown up to millions of rows, as the DiffGen paper blew up Adult.

Each record is kept and followed by variations of it, in which some attribute values are replaced by values drawn from
the attribute's public domain. The class stays. Written a row group at a time with the writer's ordinary settings, text
as plain strings, so that a file larger than memory could be made.
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
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Grid
from scumble.privacy.noise import simulation

ROW_GROUP = 1 << 20
"""What `pyarrow.parquet.write_table` makes a row group of, unless told otherwise."""
REPLACED = 0.25
"""The chance that an attribute value of a variation is replaced."""
SEED = 2011
VERSION = 1
"""Part of the files' names: a change of how they are made needs a new one."""


def schema_of(name: str) -> Schema:
    """The schema of `adult`, from the folder of SCUMBLE_DATA, or of made-up `patients`; `adult-50`: that of a table of
    fifty attributes."""
    name, _, attributes = name.partition("-")
    schema = patients_schema() if name == "patients" else load(name).schema
    return widened(schema, int(attributes)) if attributes else schema


def widened(schema: Schema, attributes: int) -> Schema:
    """The same attributes over and over, under other names, and the class."""
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
    """The size of the table in codes of the smallest integers."""
    return rows * sum(np.dtype(code_type(attribute.domain.size)).itemsize for attribute in schema.attributes)


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
    """Values of an attribute's public domain, all as likely: leaves of a tree, whole numbers of a grid."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        low, high = int(domain.edges[0]), int(domain.edges[-1])
        return pa.array(draw.integers(low, high, rows)).cast(kind)
    codes = pa.array(draw.integers(0, domain.size, rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array(domain.labels, pa.string())).cast(kind)
