"""Frames of other libraries, read and written: the same values in each, and no needless copy."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from scumble import release, to_frame
from scumble.demo.patients import patients, patients_schema
from scumble.errors import InputError
from scumble.flows.load import load_cells
from scumble.model.release import CellRelease, RecordRelease
from scumble.model.schema import Schema
from scumble.sources import open_source

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


def test_no_copy_is_made_of_what_arrow_can_share() -> None:
    """Numbers of every library and text of Arrow are not copied."""
    numbers = np.arange(10_000)
    arrow = pa.table({"n": numbers, "t": pa.array(["a", "b"] * 5_000)})
    source = open_source(arrow)
    assert addresses(source.table["n"]) == addresses(arrow["n"])  # type: ignore[attr-defined]
    assert addresses(source.table["t"]) == addresses(arrow["t"])  # type: ignore[attr-defined]
    polars = pl.DataFrame({"n": numbers})
    assert addresses(open_source(polars).table["n"]) == addresses(polars.to_arrow()["n"])  # type: ignore[attr-defined]
    pandas = pd.DataFrame({"n": numbers})
    shared = open_source(pandas).table["n"].chunk(0).to_numpy()  # type: ignore[attr-defined]
    assert np.shares_memory(shared, pandas["n"].to_numpy())
    assert to_frame_shares(arrow)


def to_frame_shares(arrow: pa.Table) -> bool:
    """polars uses the numbers of Arrow without a copy."""
    from narwhals import from_arrow

    return addresses(from_arrow(arrow.select(["n"]), backend="polars").to_native().to_arrow()["n"]) == addresses(
        arrow["n"]
    )
