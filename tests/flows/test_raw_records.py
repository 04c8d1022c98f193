"""One odd record does not decide whether a release appears: whole runs, on the engines of one machine."""

import shutil
from datetime import datetime
from decimal import Decimal
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


@pytest.mark.parametrize("odd", [2**80, float("inf"), Decimal("Infinity"), "\ud800", [1], b"\xff", None])
def test_an_odd_object_in_a_frame(tmp_path: Path, odd: Any) -> None:
    frame = pd.DataFrame({"town": pd.Series(["Ulm", odd, "Bonn"], dtype=object), "sick": [True, False, True]})
    assert appears(tmp_path, frame, "memory")


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_cell_in_a_file_of_one_column(tmp_path: Path, engine: str) -> None:
    """Under `replace` the number of rows is public, and an empty cell is one of them."""
    path = tmp_path / "people.csv"
    path.write_text("age\n7\n\n50\n99\n", encoding="utf-8")
    assert appears(tmp_path, path, engine, ONE_COLUMN, "microaggregate")


BOOLEANS = parse_schema(
    """
scumble: schema/1
target: sick
attributes:
  town: {taxonomy: {Any: {"True": , "False": }}, outside: drop}
  sick: {classes: ["True", "False"], outside: drop}
"""
)


def counted(folder: Path, data: Any, schema: Any = BOOLEANS) -> int:
    """The number of records that a release with hardly any noise counts."""
    made = release(
        data,
        schema=schema,
        out=folder / "out",
        ledger=folder / "ledger.db",
        witness=folder / "witness.db",
        leaves=True,
        epsilon=1000,
        dataset="people",
    )
    shutil.rmtree(folder / "out")
    for path in folder.glob("*.db*"):
        path.unlink()
    assert made.release.counted_records is not None
    return round(made.release.counted_records[0])


@pytest.mark.parametrize(
    ("values", "leaves", "odd"),
    [
        ([True, False], ["True", "False"], "unknown"),
        ([10_000_000_001, 10_000_000_002], ["10000000001", "10000000002"], None),
        ([Decimal("1.5"), Decimal("2.5")], ["1.5", "2.5"], Decimal("1.500")),
        ([0.5, 1e-7], ["0.5", "0.0000001"], "unknown"),
        ([datetime(2024, 1, 31), datetime(2024, 2, 1)], ["2024-01-31T00:00:00", "2024-02-01T00:00:00"], "unknown"),
    ],
    ids=["booleans", "long codes", "Decimals", "floats", "moments"],
)
@pytest.mark.parametrize("typed", [True, False])
def test_one_record_moves_no_other_off_the_domain(
    tmp_path: Path, values: list[Any], leaves: list[str], odd: Any, typed: bool
) -> None:
    """As objects, and as the type that pandas chooses, which the odd record changes."""
    listed = ", ".join(f'"{leaf}": ' for leaf in leaves)
    schema = parse_schema(
        "scumble: schema/1\ntarget: sick\nattributes:\n"
        f"  town: {{taxonomy: {{Any: {{{listed}}}}}, outside: drop}}\n  sick: {{classes: [y, n]}}\n"
    )
    counts = []
    for column in (values * 50, [*values * 50, odd]):
        towns = pd.Series(column) if typed else pd.Series(column, dtype=object)
        counts.append(counted(tmp_path, pd.DataFrame({"town": towns, "sick": "y"}), schema))
    assert counts[0] == 100 and counts[1] in (100, 101)


def test_a_table_is_the_same_from_csv_from_a_frame_and_from_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"town": [True, False] * 50, "sick": [True] * 100})
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    tables = (tmp_path / "people.csv", frame, tmp_path / "people.parquet")
    assert [counted(tmp_path, table) for table in tables] == [100, 100, 100]
