"""Every kind of source follows the protocol: the header without rows, the rows as often as asked for."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

from scumble.engines.arrow_values import read_texts
from scumble.files.schema_file import parse_schema
from scumble.sources import open_source
from scumble.sources.source import Source

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 10, step: 1}}
  class: {classes: ["no", "yes"]}
"""
)
TABLE = pa.table({"age": [1, 2, 3], "other": ["x", "y", "z"], "class": ["no", "yes", "no"]})


FILES: dict[str, Callable[[Path], None]] = {
    "people.csv": lambda folder: pyarrow.csv.write_csv(TABLE, folder / "people.csv"),
    "peop*.csv": lambda folder: pyarrow.csv.write_csv(TABLE, folder / "people.csv"),
    "people.parquet": lambda folder: pq.write_table(TABLE, folder / "people.parquet"),
    "people.feather": lambda folder: feather.write_feather(TABLE, folder / "people.feather"),
    "peop*.feather": lambda folder: feather.write_feather(TABLE, folder / "people.feather"),
    "people.arrow": lambda folder: _write_stream(folder / "people.arrow"),
    "people.orc": lambda folder: orc.write_table(TABLE, folder / "people.orc"),
    "people.sqlite::people": lambda folder: _write_sqlite(folder / "people.sqlite"),
}
IN_MEMORY: dict[str, Callable[[], Any]] = {
    "record batch": lambda: TABLE.to_batches()[0],
    "dataset": lambda: pyarrow.dataset.dataset(TABLE),
    "lazy": lambda: pl.from_arrow(TABLE).lazy(),  # type: ignore[union-attr]
    "relation": lambda: duckdb.from_arrow(TABLE),
    "exported": lambda: Exported(TABLE),
}


class Exported:
    """An object that is known only by what it exports."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def _write_stream(path: Path) -> None:
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


def _write_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, other TEXT, class TEXT)")
        rows = [tuple(row.values()) for row in TABLE.to_pylist()]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
        connection.commit()


@pytest.fixture(params=[*FILES, *IN_MEMORY, "arrow", "pandas", "polars"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    match request.param:
        case str(kind) if kind in FILES:
            FILES[kind](tmp_path)
            return open_source(str(tmp_path / kind))
        case str(kind) if kind in IN_MEMORY:
            return open_source(IN_MEMORY[kind]())
        case "arrow":
            return open_source(TABLE)
        case kind:
            from narwhals import from_arrow

            return open_source(from_arrow(TABLE, backend=kind).to_native())


def test_the_header_and_the_rows(source: Source) -> None:
    assert source.name
    assert source.columns() == ("age", "other", "class")
    kinds = source.kinds()
    assert kinds is None or kinds.names == ["age", "other", "class"]


def test_rows_can_be_read_again_and_only_the_schemas_columns_are(source: Source) -> None:
    seen: list[tuple[int, int | None]] = []
    for _ in range(2):
        batches = list(source.batches(SCHEMA.columns, lambda done, total: seen.append((done, total))))
        rows = [dict(zip(batch.schema.names, values, strict=True)) for batch in batches for values in _rows(batch)]
        assert rows == [{"age": "1", "class": "no"}, {"age": "2", "class": "yes"}, {"age": "3", "class": "no"}]
    assert all(total is None or done <= total for done, total in seen)


def _rows(batch: pa.RecordBatch) -> list[tuple[str, ...]]:
    return list(zip(*map(read_texts, batch.columns), strict=True))
