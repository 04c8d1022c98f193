"""Queries run when rows are read, compute only the wanted columns, and fail without showing rows."""

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from scumble.engines.arrow_values import read_texts
from scumble.errors import InputError
from scumble.sources import check_columns, lazy_frames, open_source


def texts(data: Any, name: str = "x") -> list[str]:
    return [text for batch in open_source(data).batches([name]) for text in read_texts(batch.column(name))]


def test_a_lazy_frame_computes_only_the_wanted_columns() -> None:
    computed: list[str] = []

    def spy(name: str) -> pl.Expr:
        return pl.col(name).map_batches(lambda series: computed.append(name) or series, return_dtype=pl.Int64)  # type: ignore[func-returns-value]

    frame = pl.LazyFrame({"x": [1, 2], "y": [3, 4]}).with_columns(spy("x"), spy("y"))
    source = open_source(frame)
    check_columns(source, ["x"])
    assert source.columns() == ("x", "y") and source.kinds() == pa.schema([("x", pa.int64()), ("y", pa.int64())])
    assert computed == []
    assert texts(frame) == ["1", "2"]
    assert set(computed) == {"x"}


def test_a_lazy_frame_in_batches_and_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_frames, "BATCH_ROWS", 3)
    frame = pl.LazyFrame({"x": range(8), "^x$": range(8)})
    assert texts(frame) == [str(number) for number in range(8)]
    assert texts(frame, "^x$") == [str(number) for number in range(8)]
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    assert texts(frame) == [str(number) for number in range(8)]


def test_objects_and_nested_values_of_a_lazy_frame() -> None:
    frame = pl.LazyFrame({"x": pl.Series([1, "a", None], dtype=pl.Object), "list": [[1], [2], [3]]})
    assert texts(frame) == ["1", "a", ""]
    with pytest.raises(InputError, match="'list' contains lists"):
        check_columns(open_source(frame), ["list"])


def test_a_query_that_fails_is_reported_without_its_rows(tmp_path: Path) -> None:
    failing = pl.LazyFrame({"x": ["1", "Zaphod"]}).select(pl.col("x").cast(pl.Int64))
    with pytest.raises(InputError, match="polars could not run the query: InvalidOperationError") as caught:
        texts(failing)
    assert "Zaphod" not in str(caught.value) and caught.value.__cause__ is None
    with pytest.raises(InputError, match="polars could not run the query"):
        open_source(pl.LazyFrame({"x": [1]}).select("absent")).columns()
    relation = duckdb.sql("SELECT CAST(x AS INT) AS x FROM (VALUES ('1'), ('Zaphod')) AS t(x)")
    with pytest.raises(InputError, match="DuckDB could not run the query: ConversionException") as caught:
        texts(relation)
    assert "Zaphod" not in str(caught.value)
    pq.write_table(pa.table({"x": ["a"]}), tmp_path / "a.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(InputError, match="Arrow could not run the query"):
        texts(dataset)


def test_a_relation_of_duckdb_has_the_types_of_its_tables() -> None:
    relation = duckdb.sql("""SELECT 1.50::DECIMAL(5, 2) AS x, 7::UHUGEINT AS "a b", [1] AS list, 'b' AS "c""d" """)
    assert texts(relation) == ["1.5"]
    assert texts(relation, "a b") == ["7"]
    assert texts(relation, 'c"d') == ["b"]
    with pytest.raises(InputError, match="'list' contains lists"):
        check_columns(open_source(relation), ["list"])


def test_a_dataset_reads_names_as_they_are(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a.b": ["x"], "a": [{"b": "wrong"}]}), tmp_path / "a.parquet")
    assert texts(pyarrow.dataset.dataset(tmp_path / "a.parquet"), "a.b") == ["x"]
