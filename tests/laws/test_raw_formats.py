"""The neighbour law from raw input on, for the readers of more formats: see `test_raw_neighbours.py`."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import feather, orc
from raw_tables import CELLS, LARGE, TEXTS, TYPED, VALUES, check, dictionaries, polars_objects, tries


@tries(50)
@given(values=st.lists(VALUES, max_size=6), extra=VALUES, place=st.integers(0, 6))
@example(values=[True, False] * 3, extra="unknown", place=6)
@example(values=[1, 2], extra=2**70, place=0)
@example(values=["a"], extra="\ud800", place=0)
def test_dictionaries_and_lazy_frames(values: list[Any], extra: Any, place: int) -> None:
    check("dictionaries", dictionaries, values, extra, place)
    check("polars, lazy", lambda cells: polars_objects(cells).lazy(), values, extra, place)


@tries(50)
@given(values=st.lists(VALUES.map(lambda value: {"x": value}) | VALUES, max_size=6), extra=VALUES)
@example(values=[{"x": "a"}, {}], extra=7)
def test_records_that_are_not_dictionaries(values: list[Any], extra: Any) -> None:
    check("dictionaries", list, values, extra, 0)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "people.feather": feather.write_feather,
    "people.orc": orc.write_table,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", ["text", "bytes", "booleans", "whole", "floats", "single", "decimals", "dates"])
@tries(10)
@given(data=st.data())
def test_arrow_and_orc_files(
    name: str, kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    column, cells = TYPED[kind]
    path = tmp_path_factory.getbasetemp() / name

    def make(values: list[Any]) -> Path:
        WRITERS[name](pa.table({"x": column(values)}), path)
        return path

    extra, place = data.draw(cells), data.draw(st.integers(0, 5))
    check(path.suffix, make, data.draw(st.lists(cells, max_size=5)), extra, place)


STORED = st.none() | LARGE | st.floats() | CELLS | TEXTS.filter(lambda text: "\ud800" not in text)


@tries(25)
@given(values=st.lists(STORED, max_size=5), extra=STORED, place=st.integers(0, 5))
@example(values=["1", 1], extra=b"K\xf6ln", place=0)
def test_tables_of_sqlite(tmp_path_factory: pytest.TempPathFactory, values: list[Any], extra: Any, place: int) -> None:
    path = tmp_path_factory.getbasetemp() / "neighbours.sqlite"

    def make(cells: list[Any]) -> str:
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE people (x)")
            connection.executemany("INSERT INTO people VALUES (?)", [(cell,) for cell in cells])
            connection.commit()
        return f"{path}::people"

    check("SQLite", make, values, extra, place)
