"""The neighbour law from raw input on, for the readers of more formats: see `test_raw_neighbours.py`."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import feather, orc
from raw_tables import CELLS, LARGE, TEXTS, TYPED, VALUES, check, dictionaries, in_a_sheet, polars_objects, tries


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


IN_A_CELL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["a", "K\u00f6ln", "1.50", " 1.5 ", "unknown", "true", "#N/A", "2024-01-31", "nan"]),
    st.dates(min_value=date(1900, 3, 1)),
    st.datetimes(min_value=datetime(1900, 3, 1)),
    st.times(),
    st.just(timedelta(days=2)),
)


@tries(25)
@given(values=st.lists(IN_A_CELL, max_size=5), extra=IN_A_CELL, place=st.integers(0, 5))
@example(values=[True, False], extra="unknown", place=0)
@example(values=[1, None], extra=date(2024, 1, 31), place=0)
def test_sheets_of_excel(tmp_path_factory: pytest.TempPathFactory, values: list[Any], extra: Any, place: int) -> None:
    path = tmp_path_factory.getbasetemp() / "neighbours.xlsx"
    check("Excel", lambda cells: in_a_sheet(path, cells), values, extra, place)


STATISTICS: dict[str, Callable[..., None]] = {
    "people.dta": pyreadstat.write_dta,
    "people.sav": pyreadstat.write_sav,
    "people.xpt": pyreadstat.write_xport,
}
IN_COLUMNS = {
    "numbers": st.just(np.nan) | st.integers(-1000, 1000).map(float) | st.floats(-1e70, 1e70),
    "labels": st.sampled_from([0.0, 1.0, 2.0, 1.5, -1.0, np.nan]),
    "dates": st.sampled_from([23406.0, 0.5, -1e9, 1e9, 1e70, np.nan]),
    "text": st.sampled_from(["a", "K\u00f6ln", "", "1.5", "unknown"]),
}
OPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("people.dta", "labels"): {"variable_value_labels": {"x": {1: "a", 2: "K\u00f6ln"}}},
    ("people.sav", "labels"): {"variable_value_labels": {"x": {1: "a", 2: "K\u00f6ln"}}, "missing_ranges": {"x": [-1]}},
    ("people.dta", "dates"): {"variable_format": {"x": "%td"}},
    ("people.sav", "dates"): {"variable_format": {"x": "DATE11"}},
    ("people.xpt", "dates"): {"variable_format": {"x": "DATE9."}},
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("kind", IN_COLUMNS)
@tries(10)
@given(data=st.data())
def test_files_of_statistics_programs(
    name: str, kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path, cells = tmp_path_factory.getbasetemp() / name, IN_COLUMNS[kind]

    def make(values: list[Any]) -> Path:
        frame = pd.DataFrame({"x": pd.Series(values, dtype=object if kind == "text" else np.float64), "y": 1.0})
        STATISTICS[name](frame, path, **OPTIONS.get((name, kind), {}))
        return path

    values, extra = data.draw(st.lists(cells, min_size=1, max_size=4)), data.draw(cells)
    check(path.suffix, make, values, extra, data.draw(st.integers(0, 4)))
