"""The neighbour law for whole runs: neighbouring raw tables end their runs in the same way, with a release.

One record of the table is added, removed or replaced in the file or frame, and both tables are released: the charge,
the rows, the noise and the folder are those of `scumble.release`. No error may be raised, and both folders must verify.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_tables import CELLS, LABELS, TRIED, VALUES, objects, tries, unchecked_text

from scumble import release, verify
from scumble.files.schema_file import parse_schema
from scumble.model.schema import Schema

CLASSES = parse_schema(
    """
scumble: schema/1
target: sick
attributes:
  x: {taxonomy: {Any: {Ulm: , Bonn: , "true": , "1": }}, outside: drop}
  sick: {classes: ["true", "false"], outside: drop}
"""
)


def numbers(rows: int) -> Schema:
    return parse_schema(
        f"""
scumble: schema/1
unit: replace
rows: {rows}
attributes:
  x: {{numeric: {{low: -2, high: 20, step: 0.5}}}}
"""
    )


def ends(data: Any, schema: Schema, engine: str, **method: Any) -> str:
    """How the run of a table ends."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        release(data, schema=schema, out=folder / "out", ledger=folder / "ledger.db", engine=engine, **method)
        return "released" if verify(folder / "out") else "not verified"


Write = Callable[[Path, list[Any], list[Any]], Any]


def frame(folder: Path, values: list[Any], classes: list[Any]) -> pd.DataFrame:
    del folder
    return objects(values).assign(sick=objects(classes)["x"])


def parquet(folder: Path, values: list[bytes | None], classes: list[bytes | None]) -> Path:
    path = folder / "people.parquet"
    pq.write_table(pa.table({"x": unchecked_text(values), "sick": unchecked_text(classes)}), path)
    return path


def csv(folder: Path, values: list[bytes | None], classes: list[bytes | None]) -> Path:
    path = folder / "people.csv"
    cells = [[b'"' + (cell or b"").replace(b'"', b'""') + b'"' for cell in column] for column in (values, classes)]
    path.write_bytes(b"x,sick\n" + b"".join(b",".join(line) + b"\n" for line in zip(*cells, strict=True)))
    return path


BYTES = CELLS | st.sampled_from([label.encode() for label in LABELS]) | st.sampled_from([b"Ulm", b"true", b"\xff\xfe"])
READERS: dict[str, tuple[Write, st.SearchStrategy[Any]]] = {
    "pandas, objects": (frame, VALUES),
    "Parquet": (parquet, BYTES),
    "CSV": (csv, BYTES),
}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("reader", READERS)
@tries(5)
@given(data=st.data())
def test_runs_of_neighbours_end_in_the_same_way(
    reader: str, engine: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    write, cells = READERS[reader]
    folder = tmp_path_factory.getbasetemp()
    rows = data.draw(st.lists(st.tuples(cells, cells), max_size=5))
    place, extra = data.draw(st.integers(0, len(rows))), data.draw(st.tuples(cells, cells))
    TRIED[f"{reader}, whole runs"] += 1
    for table in (rows, [*rows[:place], extra, *rows[place:]]):
        columns = [list(column) for column in zip(*table, strict=True)] or [[], []]
        assert ends(write(folder, *columns), CLASSES, engine, method="histograms", epsilon="1") == "released"


@pytest.mark.parametrize("method", ["microaggregate", "plain"])
@tries(10)
@given(rows=st.lists(VALUES, min_size=1, max_size=5), extra=VALUES, place=st.integers(0, 4))
def test_runs_of_a_public_number_of_rows(method: str, rows: list[Any], extra: Any, place: int) -> None:
    TRIED["pandas, objects, whole runs"] += 1
    place = min(place, len(rows) - 1)
    for table in (rows, [*rows[:place], extra, *rows[place + 1 :]]):
        assert ends(objects(table), numbers(len(rows)), "memory", method=method, epsilon=1) == "released"


@tries(10)
@given(rows=st.lists(st.floats() | st.none(), min_size=1, max_size=5))
def test_a_frame_of_floats_is_released_whatever_they_are(rows: list[float | None]) -> None:
    TRIED["pandas, whole runs"] += 1
    data = pd.DataFrame({"x": np.array(rows, dtype=np.float64)})
    assert ends(data, numbers(len(rows)), "memory", method="microaggregate", epsilon=1) == "released"
