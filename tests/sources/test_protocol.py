"""Every kind of source follows the protocol: the header without rows, the rows as often as asked for."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

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


@pytest.fixture(params=["csv", "pattern", "parquet", "arrow", "pandas", "polars"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    match request.param:
        case "csv" | "pattern":
            pyarrow.csv.write_csv(TABLE, tmp_path / "people.csv")
            return open_source(tmp_path / ("people.csv" if request.param == "csv" else "peop*.csv"))
        case "parquet":
            pq.write_table(TABLE, tmp_path / "people.parquet")
            return open_source(tmp_path / "people.parquet")
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
    return list(zip(*([str(value) for value in column.to_pylist()] for column in batch.columns), strict=True))
