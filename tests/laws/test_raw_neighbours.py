"""The neighbour law from raw input on: one record never changes how another record is read, nor whether it is.

Raw columns mix types, encodings and oddities. Each is read with one record added, removed and replaced; the codes of
all other records must be the same, and nothing may raise. The second law: the same value has the same code through
every source. `make search` tries new and more examples, and prints how many.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import feather, orc
from raw_tables import (
    ATTRIBUTES,
    BERLIN,
    CELLS,
    DAYS,
    DECIMALS,
    FLOATS,
    LABELS,
    MOMENT,
    MOMENTS,
    TEXTS,
    TYPED,
    VALUES,
    WHOLE,
    categorical,
    check,
    codes,
    dictionaries,
    in_a_sheet,
    inferred,
    objects,
    polars_objects,
    tries,
)

from scumble.model.raw_value import canonical
from scumble.model.values import code_of
from scumble.sources import Dialect, Source, open_source


@tries(100)
@given(values=st.lists(VALUES, max_size=6), extra=VALUES, place=st.integers(0, 6))
@example(values=[True, False] * 3, extra="unknown", place=6)
@example(values=[0.5, 1.0, 1e-7], extra="unknown", place=0)
@example(values=[MOMENT, datetime.min], extra="unknown", place=0)
@example(values=[Decimal("1.5")], extra=Decimal("1.500"), place=0)
@example(values=[1, 2], extra=2**70, place=0)
@example(values=["a"], extra="\ud800", place=0)
@example(values=[Decimal("1.5")], extra=Decimal("Infinity"), place=0)
def test_columns_of_objects(values: list[Any], extra: Any, place: int) -> None:
    check("pandas, objects", objects, values, extra, place)
    check("polars, objects", polars_objects, values, extra, place)


@tries(25)
@given(values=st.lists(VALUES, max_size=4), extra=VALUES)
@example(values=[MOMENT] * 3, extra=date(2023, 1, 1))
@example(values=[0.5], extra=np.float32(0.1))
@example(values=[1], extra=2**80)
@example(values=[1], extra=[1])
def test_columns_of_objects_after_missing_ones(values: list[Any], extra: Any) -> None:
    """A library that looks at the first hundred values alone sees no type."""
    check("pandas, objects", objects, [*([None] * 100), *values], extra, 100)


HASHABLE = VALUES.filter(lambda value: not isinstance(value, list | dict | set | bytearray))


@tries(100)
@given(values=st.lists(HASHABLE, max_size=5), extra=HASHABLE, place=st.integers(0, 5))
@example(values=[MOMENT] * 4, extra=date(2023, 1, 1), place=0)
@example(values=["a", None], extra=1, place=0)
def test_categorical_columns(values: list[Any], extra: Any, place: int) -> None:
    tables = (values, [*values[:place], extra, *values[place:]], [*values[:place], extra, *values[place + 1 :]])
    first: dict[Any, Any] = {}
    try:
        if any(canonical(first.setdefault(value, value)) != canonical(value) for value in tables[1]):
            return  # pandas merges equal categories: False and 0
        for table in tables:
            categorical(table)
    except (TypeError, ValueError, OverflowError, ArithmeticError, NotImplementedError, RuntimeWarning):
        return  # pandas itself makes no categories of such values
    check("pandas, categories", categorical, values, extra, place)


COLUMNS = (TEXTS, st.booleans(), WHOLE, st.integers(-(2**60), 2**60), FLOATS, DECIMALS, MOMENTS, DAYS)


@tries(100)
@given(st.data())
def test_columns_whose_type_pandas_chooses(data: st.DataObject) -> None:
    """Mostly of one type, so that one further record changes the type that pandas chooses for all."""
    values = data.draw(st.lists(data.draw(st.sampled_from(COLUMNS)), max_size=5))
    check("pandas", inferred, values, data.draw(VALUES), data.draw(st.integers(0, 5)))


@pytest.mark.parametrize("width", [np.float16, np.float32, np.longdouble])
@tries(25)
@given(values=st.lists(st.integers(-20, 20), min_size=1, max_size=4), extra=VALUES)
@example(values=[1, 7], extra="unknown")
@example(values=[1, 7], extra=0.5)
def test_short_floats_of_pandas(width: Any, values: list[int], extra: Any) -> None:
    """Their column turns into one of doubles or objects as soon as one record is none of them."""
    check("pandas", inferred, [width(value / 10) for value in values], extra, 0)


@pytest.mark.parametrize(
    ("values", "extra"),
    [
        ([10_000_000_001, 1], None),
        ([2**53 + 1, 1], None),
        ([True, False], None),
        ([True, False], "unknown"),
        ([1, 0], 0.5),
        ([1.5, 0.5], "unknown"),
        ([MOMENT, MOMENT], None),
        ([1, 2], 2**63),
        (["a"], 1),
    ],
)
def test_known_columns_of_pandas(tmp_path: Path, values: list[Any], extra: Any) -> None:
    """As a frame and, where pandas can write it, as a Parquet file."""
    check("pandas", inferred, values, extra, 0)

    def parquet(cells: list[Any]) -> Any:
        try:
            inferred(cells).to_parquet(tmp_path / "people.parquet")
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return inferred(cells)
        return tmp_path / "people.parquet"

    check("Parquet", parquet, values, extra, 0)


@pytest.mark.parametrize("kind", TYPED)
@tries(25)
@given(data=st.data())
def test_columns_of_a_declared_type(kind: str, data: st.DataObject) -> None:
    column, cells = TYPED[kind]
    values = data.draw(st.lists(cells, max_size=5))
    extra, place = data.draw(cells), data.draw(st.integers(0, 5))
    check("Arrow", lambda each: pa.table({"x": column(each)}), values, extra, place)


STORED_IN_PARQUET = [kind for kind in TYPED if kind not in {"views", "small decimals", "durations", "half", "moments"}]


@pytest.mark.parametrize("kind", STORED_IN_PARQUET)
@tries(10)
@given(data=st.data())
def test_parquet_files(kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    column, cells = TYPED[kind]
    path = tmp_path_factory.getbasetemp() / "people.parquet"

    def make(values: list[Any]) -> Path:
        pq.write_table(pa.table({"x": column(values)}), path)
        return path

    extra, place = data.draw(cells), data.draw(st.integers(0, 5))
    check("Parquet", make, data.draw(st.lists(cells, max_size=5)), extra, place)


def quoted(cell: bytes) -> bytes:
    return b'"' + cell.replace(b'"', b'""').replace(b"\n", b" ") + b'"'


def quoted_lines(cell: bytes) -> bytes:
    return b'"' + cell.replace(b'"', b'""') + b'"'


def bare(cell: bytes) -> bytes:
    return bytes(byte for byte in cell if byte not in b'",\r\n')


@pytest.mark.parametrize("write", [quoted, quoted_lines, bare])
@pytest.mark.parametrize("more", [b"", b",y"])
@tries(50)
@given(values=st.lists(CELLS, max_size=5), extra=CELLS, place=st.integers(0, 5))
@example(values=[b"a", b"b"], extra=b"K\xf6ln", place=2)
@example(values=[b"a", b"b"], extra=b"", place=1)
def test_csv_files(
    write: Callable[[bytes], bytes],
    more: bytes,
    tmp_path_factory: pytest.TempPathFactory,
    values: list[bytes | None],
    extra: bytes | None,
    place: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "people.csv"

    def make(cells: list[bytes | None]) -> Source:
        path.write_bytes(b"".join(line + more + b"\n" for line in (b"x", *(write(cell or b"") for cell in cells))))
        return open_source(path, dialect=Dialect(delimiter=",", multiline=write is quoted_lines))

    check("CSV", make, values, extra, place)


ODD_BYTES = [
    b'"',
    b'""',
    b'",',
    b',"',
    b",",
    b";",
    b"\r",
    b"\x00",
    b"\xff",
    b"K\xf6ln",
    b"\xef\xbb\xbf",
    b"1",
    b"a",
    b" ",
]
LINES = st.lists(st.sampled_from(ODD_BYTES) | st.binary(max_size=2), min_size=1, max_size=8).map(
    lambda parts: b"." + b"".join(parts).replace(b"\n", b"")
)


@pytest.mark.parametrize("header", [b"x", b"x,y", b"z,x,y"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@tries(25)
@given(values=st.lists(LINES, max_size=6), extra=LINES, place=st.integers(0, 6))
@example(values=[b"1,2", b"3,4"], extra=b'"', place=1)
@example(values=[b"1,2", b"3,4"], extra=b"1,2,3,4", place=1)
def test_lines_of_csv_files(
    header: bytes,
    ending: bytes,
    tmp_path_factory: pytest.TempPathFactory,
    values: list[bytes],
    extra: bytes,
    place: int,
) -> None:
    """A record is a line of any bytes: quotes that are not closed, too many fields, too few, no text at all."""
    path = tmp_path_factory.getbasetemp() / "lines.csv"

    def make(lines: list[bytes]) -> Path:
        path.write_bytes(b"".join(line + ending for line in (header, *lines)))
        return path

    check("CSV, any lines", make, values, extra, place)


IN_DUCKDB: dict[str, tuple[str, pa.DataType, st.SearchStrategy[Any]]] = {
    "text": ("VARCHAR", pa.string(), st.sampled_from([*LABELS, "unknown", "", " 1.5", "a\x00"]) | st.text(max_size=3)),
    "bytes": ("BLOB", pa.binary(), CELLS),
    "booleans": ("BOOLEAN", pa.bool_(), st.booleans()),
    "whole": ("BIGINT", pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)),
    "huge": ("HUGEINT", pa.decimal128(38, 0), st.integers(-(10**37), 10**37).map(Decimal)),
    "floats": ("DOUBLE", pa.float64(), FLOATS | st.floats()),
    "single": ("REAL", pa.float32(), st.floats(width=32)),
    "decimals": ("DECIMAL(20, 3)", pa.decimal128(20, 3), st.decimals(-(10**9), 10**9, places=3)),
    "dates": ("DATE", pa.date32(), st.dates() | st.just(date(2024, 1, 31))),
    "moments": ("TIMESTAMP", pa.timestamp("us"), st.datetimes() | st.just(MOMENT)),
    "moments of a zone": ("TIMESTAMPTZ", pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
}


@pytest.mark.parametrize("kind", IN_DUCKDB)
@tries(4)
@given(data=st.data())
def test_tables_of_duckdb(kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    name, arrow, cells = IN_DUCKDB[kind]
    path = tmp_path_factory.getbasetemp() / "neighbours.duckdb"

    def make(values: list[Any]) -> str:
        return in_duckdb(path, name, pa.table({"x": pa.array(values, arrow)}))

    values, extra = data.draw(st.lists(st.none() | cells, max_size=5)), data.draw(st.none() | cells)
    check("DuckDB", make, values, extra, data.draw(st.integers(0, 5)))


# The same value through every source ----------------------------------------------------------------------------------

THOUSANDTHS = st.decimals(-(10**9), 10**9, places=3) | st.just(Decimal("1.5"))
PORTABLE: dict[str, tuple[str, pa.DataType, st.SearchStrategy[Any]]] = {
    "text": ("VARCHAR", pa.string(), st.sampled_from([*LABELS, "unknown", " 1.5", ""])),
    "booleans": ("BOOLEAN", pa.bool_(), st.booleans()),
    "whole": (
        "BIGINT",
        pa.int64(),
        st.sampled_from([0, 1, -1, 10_000_000_001, -999]) | st.integers(1 - 2**53, 2**53 - 1),
    ),
    "floats": ("DOUBLE", pa.float64(), FLOATS | st.floats(1 - 2.0**53, 2.0**53 - 1)),
    "decimals": (
        "DECIMAL(15, 3)",
        pa.decimal128(15, 3),
        THOUSANDTHS,
    ),
    "dates": ("DATE", pa.date32(), st.dates() | st.just(date(2024, 1, 31))),
    "moments": ("TIMESTAMP", pa.timestamp("us"), st.datetimes() | st.just(MOMENT)),
    "moments of a zone": (
        "TIMESTAMPTZ",
        pa.timestamp("us", "UTC"),
        st.datetimes(timezones=st.just(UTC)) | st.just(MOMENT.replace(tzinfo=BERLIN)),
    ),
}


@pytest.mark.parametrize("kind", PORTABLE)
@settings(max_examples=25)
@given(data=st.data())
def test_the_same_value_has_the_same_code_through_every_source(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name, arrow, cells = PORTABLE[kind]
    values = data.draw(st.lists(st.none() | cells, min_size=1, max_size=4))
    expected = [tuple(code_of(attribute, value) for attribute in ATTRIBUTES) for value in values]
    folder = tmp_path_factory.getbasetemp()
    table = pa.table({"x": pa.array(values, arrow)})
    pq.write_table(table, folder / "same.parquet")
    texts = [canonical(value)[1] for value in values]
    (folder / "same.csv").write_text("x\n" + "".join(f'"{text}"\n' for text in texts), encoding="utf-8")
    for frame in (table, folder / "same.parquet", folder / "same.csv", objects(values), polars_objects(values)):
        assert codes(frame) == expected, frame
    assert codes(pl.from_arrow(table)) == expected
    assert codes(inferred(values)) == expected
    assert codes(in_duckdb(folder / "same.duckdb", name, table)) == expected
    feather.write_feather(table, folder / "same.feather")
    lazy = pl.DataFrame({"x": table["x"].combine_chunks()}).lazy()
    streamed = (lazy, duckdb.from_arrow(table), table.to_reader(), dictionaries(values), iter(dictionaries(values)))
    for source in (folder / "same.feather", *streamed):
        assert codes(source) == expected, source
    if not kind.startswith("moments"):  # which are refused in ORC
        orc.write_table(table, folder / "same.orc")
        assert codes(folder / "same.orc") == expected
    if kind in {"text", "whole", "floats"}:  # the types of SQLite
        assert codes(in_sqlite(folder / "same.sqlite", values)) == expected
    if kind in {"text", "booleans", "whole", "decimals"}:
        assert codes(in_a_sheet(folder / "same.xlsx", values)) == expected
    if kind in {"text", "whole", "decimals"}:
        column = pd.Series([None if value is None else str(value) for value in values], dtype=object)
        frame = pd.DataFrame({"x": column if kind == "text" else column.astype(np.float64), "y": 1.0})
        pyreadstat.write_dta(frame, folder / "same.dta")
        pyreadstat.write_sav(frame, folder / "same.sav")
        assert codes(folder / "same.dta") == codes(folder / "same.sav") == expected


def in_sqlite(path: Path, values: list[Any]) -> str:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (x)")
        connection.executemany("INSERT INTO people VALUES (?)", [(value,) for value in values])
        connection.commit()
    return f"{path}::people"


SHORT_FLOATS = st.integers(-20, 20).map(lambda each: each / 10) | st.floats(width=32)


@settings(max_examples=25)
@given(values=st.lists(st.none() | SHORT_FLOATS, min_size=1, max_size=4))
def test_short_floats_of_a_declared_type_are_read_by_their_shortest_decimal(
    tmp_path_factory: pytest.TempPathFactory, values: list[float | None]
) -> None:
    cells = [None if value is None else np.float32(value) for value in values]
    expected = [tuple(code_of(attribute, cell) for attribute in ATTRIBUTES) for cell in cells]
    folder = tmp_path_factory.getbasetemp()
    table = pa.table({"x": pa.array(cells, pa.float32())})
    pq.write_table(table, folder / "short.parquet")
    (folder / "short.csv").write_text("x\n" + "".join(f'"{canonical(cell)[1]}"\n' for cell in cells), encoding="utf-8")
    for data in (table, folder / "short.parquet", folder / "short.csv", pl.from_arrow(table)):
        assert codes(data) == expected, data
    assert codes(in_duckdb(folder / "short.duckdb", "FLOAT", table)) == expected


def in_duckdb(path: Path, name: str, table: pa.Table) -> str:
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people (x {name})")
        connection.register("given", table)
        connection.execute("INSERT INTO people SELECT * FROM given")
    return f"{path}::people"
