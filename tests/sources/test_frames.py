"""Frames of other libraries, read and written: the same values in each, and no needless copy."""

from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from scumble import release, to_frame
from scumble.demo.patients import patients, patients_schema
from scumble.engines.arrow_values import python_values
from scumble.errors import InputError
from scumble.flows.load import load_cells
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.release import CellRelease, RecordRelease
from scumble.model.schema import Schema
from scumble.sources import check_columns, frames, open_source

SCHEMA = patients_schema()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    release(patients(3_000, 1), schema=SCHEMA, out=folder / "out", ledger=folder / "ledger.db", epsilon="1", rounds=2)
    return folder / "out"


@pytest.fixture(scope="module")
def made(folder: Path) -> CellRelease:
    return load_cells(folder)


def as_text(frame: pa.Table | pd.DataFrame | pl.DataFrame) -> dict[str, list[str]]:
    """Every cell as text, whatever the library."""
    if isinstance(frame, pa.Table):
        return {name: [str(value) for value in frame.column(name).to_pylist()] for name in frame.column_names}
    return {str(name): [str(value) for value in frame[name].to_list()] for name in frame.columns}


@pytest.mark.parametrize(("kind", "type_"), [("pyarrow", pa.Table), ("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_the_table_is_that_of_the_file(made: CellRelease, folder: Path, kind: str, type_: type) -> None:
    options = pacsv.ConvertOptions(strings_can_be_null=False)
    rows, cells = pacsv.read_csv(folder / "table.csv", convert_options=options), pacsv.read_csv(folder / "counts.csv")
    frame = to_frame(made, kind)
    assert isinstance(frame, type_)
    assert as_text(frame) == as_text(rows)
    counts = to_frame(made, kind, counts=True)
    assert list(as_text(counts))[-3:] == ["count", "measured", "variance"]
    assert as_text(counts) == as_text(cells)


def test_records_are_handed_out_as_they_are() -> None:
    columns = {"age": np.array([1.5, float("nan")]), "sex": np.array(["f", "m"])}
    schema = Schema(attributes=tuple(SCHEMA[name] for name in ("age", "sex")))
    records = RecordRelease(method="x", parameters={}, plan=None, schema=schema, columns=columns)  # type: ignore[arg-type]
    assert to_frame(records).to_pydict() == {"age": [1.5, None], "sex": ["f", "m"]}
    with pytest.raises(InputError, match="no such table"):
        to_frame(records, counts=True)


def test_an_unknown_kind_is_refused(made: CellRelease) -> None:
    with pytest.raises(InputError, match="Available: pyarrow, pandas, polars, pyspark"):
        to_frame(made, "excel")


def addresses(column: pa.ChunkedArray) -> set[int]:
    return {buffer.address for chunk in column.chunks for buffer in chunk.buffers() if buffer is not None}


def column(frame: Any, name: str) -> pa.ChunkedArray:
    return pa.Table.from_batches(open_source(frame).batches([name]))[name]


def test_no_copy_is_made_of_what_arrow_can_share() -> None:
    """Numbers of every library and text of Arrow are not copied."""
    numbers = np.arange(10_000)
    arrow = pa.table({"n": numbers, "t": pa.array(["a", "b"] * 5_000)})
    assert addresses(column(arrow, "n")) == addresses(arrow["n"])
    assert addresses(column(arrow, "t")) == addresses(arrow["t"])
    polars = pl.DataFrame({"n": numbers})
    assert addresses(column(polars, "n")) == addresses(polars.to_arrow()["n"])
    pandas = pd.DataFrame({"n": numbers})
    shared = column(pandas, "n").chunk(0).to_numpy()
    assert np.shares_memory(shared, pandas["n"].to_numpy())
    assert to_frame_shares(arrow)


def to_frame_shares(arrow: pa.Table) -> bool:
    """polars uses the numbers of Arrow without a copy."""
    from narwhals import from_arrow

    return addresses(from_arrow(arrow.select(["n"]), backend="polars").to_native().to_arrow()["n"]) == addresses(
        arrow["n"]
    )


def test_only_wanted_columns_are_converted_and_only_when_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"wanted": ["a", "b"], "odd": [object(), 1j]})
    converted: list[str] = []
    convert = frames.pandas_column
    monkeypatch.setattr(
        frames,
        "pandas_column",
        lambda series: converted.append(series.name) or convert(series),  # type: ignore[func-returns-value]
    )
    source = open_source(frame)
    check_columns(source, ["wanted"])
    assert source.columns() == ("wanted", "odd") and converted == []
    assert [batch.to_pydict() for batch in source.batches(["wanted"])] == [{"wanted": ["a", "b"]}]
    assert converted == ["wanted"]


def test_odd_columns_that_nobody_wants() -> None:
    """A strange column beside the wanted one neither raises nor is refused."""
    strange = {
        "complex": [1j, 2],
        "interval": pd.arrays.IntervalArray.from_breaks([0, 1, 2]),
        "period": pd.period_range("2024", periods=2, freq="Y"),
        "lists": [[1], "x"],
        "surrogate": pd.Series(["\ud800", "a"], dtype=object),
        "huge": [10**400, -1],
    }
    frame = pd.DataFrame({"wanted": [1, 2], **strange})
    check_columns(open_source(frame), ["wanted"])
    assert column(frame, "wanted").to_pylist() == [1, 2]
    polars = pl.DataFrame({"wanted": [1, 2], "odd": pl.Series([object(), None], dtype=pl.Object), "list": [[1], []]})
    check_columns(open_source(polars), ["wanted"])
    assert column(polars, "wanted").to_pylist() == [1, 2]
    with pytest.raises(InputError, match="'list' contains lists"):
        check_columns(open_source(polars), ["list"])


def readings(frame: Any) -> list[tuple[ValueKind, str]]:
    return [
        canonical(value)
        for batch in open_source(frame).batches(["x"])
        for value in python_values(batch.column("x").dictionary_decode() if is_dictionary(batch) else batch.column("x"))
    ]


def is_dictionary(batch: pa.RecordBatch) -> bool:
    return bool(pa.types.is_dictionary(batch.column("x").type))


PANDAS: dict[str, pd.Series] = {
    "sparse": pd.Series(pd.arrays.SparseArray([1.0, np.nan, 2.5])),
    "sparse whole": pd.Series(pd.arrays.SparseArray([0, 0, 3])),
    "nullable whole": pd.Series([1, None, 2**53 + 1], dtype="Int64"),
    "nullable single": pd.Series([0.1, None, 0.7], dtype="Float32"),
    "nullable booleans": pd.Series([True, None, False], dtype="boolean"),
    "text": pd.Series(["a", None, "\u00e4"], dtype="string"),
    "text of Python": pd.Series(["a", None, "\u00e4"], dtype=pd.StringDtype("python")),
    "periods": pd.Series(pd.period_range("2024", periods=2, freq="Y")),
    "intervals": pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2])),
    "cut": pd.cut(pd.Series([1, 2, 9]), bins=[0, 1, 3]),
    "durations": pd.Series(pd.to_timedelta([1, None], unit="s")),
    "moments": pd.Series(pd.to_datetime(["2024-01-31 09:30", None])),
    "moments of a zone": pd.Series(pd.to_datetime(["2024-01-31 09:30", None])).dt.tz_localize("Europe/Berlin"),
    "seconds": pd.Series(np.array([1706693400, 2**60], "datetime64[s]")),
    "single": pd.Series(np.array([0.1, np.nan, 0.7], np.float32)),
    "half": pd.Series(np.array([0.1, np.nan, 0.7], np.float16)),
    "long": pd.Series(np.array([0.5, np.nan, 0.25], np.longdouble)),
    "complex": pd.Series([1j, 2]),
    "categories of numbers": pd.Series([1.5, 2, None]).astype("category"),
    "categories of single floats": pd.Series(np.array([0.1, 0.7], np.float32)).astype("category"),
    "mixed categories": pd.Series([1, "a", True, None], dtype=object).astype("category"),
    "categories of moments": pd.Series(pd.to_datetime(["2024-01-31", None])).astype("category"),
    "Arrow decimals": pd.Series([Decimal("1.50"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    "Arrow single": pd.Series([0.1, None], dtype=pd.ArrowDtype(pa.float32())),
    "Arrow dictionary": pd.Series(["a", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "Arrow lists": pd.Series([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
    "Arrow times": pd.Series([time(9, 30), None], dtype=pd.ArrowDtype(pa.time64("us"))),
}


@pytest.mark.parametrize("kind", PANDAS)
def test_every_dtype_of_pandas_reads_as_its_values_do_as_objects(kind: str) -> None:
    """One further record can turn any column into one of objects, so both must have the same reading."""
    series = PANDAS[kind]
    assert readings(pd.DataFrame({"x": series})) == readings(pd.DataFrame({"x": series.astype(object)}))


def test_a_released_view_is_off_the_domain() -> None:
    view = memoryview(b"a")
    view.release()
    assert canonical(view)[0] is ValueKind.OFF
    frame = pd.DataFrame({"x": pd.Series([view, "a"], dtype=object)})
    assert readings(frame) == [(ValueKind.OFF, ""), (ValueKind.TEXT, "a")]


@pytest.mark.parametrize(
    "kind", [pl.Int128, pl.UInt128, pl.Float32, pl.Float16, pl.Decimal(10, 2), pl.Duration, pl.Null]
)
def test_types_of_polars_are_declared_and_read(kind: Any) -> None:
    values = [None] if kind == pl.Null else [None, timedelta(1)] if kind == pl.Duration else [None, 1]
    frame = pl.DataFrame({"x": pl.Series(values, dtype=kind)})
    source = open_source(frame)
    kinds = source.kinds()
    assert kinds is not None and kinds.field("x").type == next(iter(source.batches(["x"]))).column("x").type
    expected = [(ValueKind.MISSING, ""), (ValueKind.OFF, "") if kind == pl.Duration else (ValueKind.NUMBER, "1")]
    assert readings(frame) == expected[: len(values)]


def test_a_name_that_occurs_twice_among_columns_that_nobody_wants() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["x", "y", "y"])
    with pytest.raises(InputError, match="a column occurs twice"):
        check_columns(open_source(frame), ["x"])
