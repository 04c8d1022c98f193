"""One odd record does not decide whether a release appears: whole runs, on the engines of one machine."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scumble import release
from scumble.files.schema_file import parse_schema

SCHEMA = parse_schema(
    """
scumble: schema/1
target: sick
attributes:
  town: {taxonomy: {Any: {Ulm: , Bonn: }}}
  sick: {classes: ["true", "false"]}
"""
)
ONE_COLUMN = parse_schema(
    """
scumble: schema/1
unit: replace
rows: 4
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}}
"""
)
ENGINES = ["memory", "duckdb"]


def appears(folder: Path, data: Any, engine: str, schema: Any = SCHEMA, method: str = "histograms") -> bool:
    release(
        data, schema=schema, out=folder / "out", ledger=folder / "ledger.db", method=method, epsilon="1", engine=engine
    )
    return (folder / "out" / "release.json").is_file()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_latin_1_byte_in_one_field(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"town,sick\n" + b"Ulm,true\nBonn,false\n" * 50 + b"K\xf6ln,true\n")
    assert appears(tmp_path, path, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_parquet_cell_that_is_not_utf_8(tmp_path: Path, engine: str) -> None:
    raw = pa.array([b"Ulm", b"K\xf6ln", b"Bonn"])
    towns = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    pq.write_table(pa.table({"town": towns, "sick": ["true", "false", "true"]}), tmp_path / "people.parquet")
    assert appears(tmp_path, tmp_path / "people.parquet", engine)


@pytest.mark.parametrize("odd", [2**80, float("inf"), "\ud800", [1], b"\xff", None])
def test_an_odd_object_in_a_frame(tmp_path: Path, odd: Any) -> None:
    frame = pd.DataFrame({"town": pd.Series(["Ulm", odd, "Bonn"], dtype=object), "sick": [True, False, True]})
    assert appears(tmp_path, frame, "memory")


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_cell_in_a_file_of_one_column(tmp_path: Path, engine: str) -> None:
    """Under `replace` the number of rows is public, and an empty cell is one of them."""
    path = tmp_path / "people.csv"
    path.write_text("age\n7\n\n50\n99\n", encoding="utf-8")
    assert appears(tmp_path, path, engine, ONE_COLUMN, "microaggregate")
