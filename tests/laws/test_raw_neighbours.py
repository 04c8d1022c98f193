"""The neighbour law from raw input on: one record never changes how another record is read, nor whether it is.

Raw columns mix types, encodings and oddities. Each is read with and without one further record; the codes of all other
records must be the same, and nothing may raise. The second law: the same value has the same code through every source.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scumble.engines.coding import coder
from scumble.model.grid import Grid
from scumble.model.raw_value import canonical
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.model.values import code_of
from scumble.sources import open_source

LABELS = (
    *("a", "K\u00f6ln", "1", "0", "-1", "1.5", "0.5", "0.0000001", "10000000001", "1208925819614629174706176", "inf"),
    *(
        "true",
        "false",
        "2024-01-31",
        "2024-01-31T09:30:00",
        "2024-01-31T08:30:00Z",
        "2024-01-31T09:30:00.5",
        "09:30:00",
    ),
    *("?", "nan", "None", "1e+10", "[1]", "9007199254740993"),
)
CATEGORY = Attribute(name="x", domain=Tree.flat(LABELS), outside=Outside.CLAMP, missing="?")
DROPPED = Attribute(name="x", domain=Tree.flat(LABELS), outside=Outside.DROP, missing="?")
NUMBER = Attribute(
    name="x",
    domain=Grid.regular(low=Decimal(-2), high=Decimal(20), step=Decimal("0.5"), missing="-999"),
    outside=Outside.CLAMP,
    missing="-999",
)
TENTHS = Attribute(
    name="x",
    domain=Grid.regular(low=Decimal(-2), high=Decimal(2), step=Decimal("0.1")),
    outside=Outside.DROP,
)
ATTRIBUTES = (CATEGORY, DROPPED, NUMBER, TENTHS)
BERLIN = timezone(timedelta(hours=1))
MOMENT = datetime(2024, 1, 31, 9, 30)

TEXTS = st.sampled_from(
    [*LABELS, "", " ", "unknown", "TRUE", "1.50", "1e1", "-999", "\u0131nf", "\u0130NF", "\ud800", "a\x00", "e\u0301"]
)
WHOLE = st.sampled_from([0, 1, -1, -999, 10_000_000_001, 2**53 + 1, 2**63, 2**70, 2**80, -(10**400), 10**5000])
FLOATS = st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e-7, 10_000_000_001.0, 1e300, math.nan, math.inf, -math.inf, 5e-324])
DECIMAL_TEXTS = ["1.5", "1.500", "0", "-0", "1E+10", "NaN", "sNaN", "Infinity", "1E+999999", "1E-999999", "0E-999999"]
DECIMALS = st.sampled_from([Decimal(text) for text in DECIMAL_TEXTS])
MOMENTS = st.sampled_from(
    [
        *(MOMENT, MOMENT.replace(microsecond=500_000), MOMENT.replace(tzinfo=BERLIN), MOMENT.replace(tzinfo=UTC)),
        *(datetime.min, datetime.max, datetime.min.replace(tzinfo=BERLIN), pd.Timestamp("2024-01-31 09:30"), pd.NaT),
        *(np.datetime64("2024-01-31"), np.datetime64("NaT"), np.datetime64(2**62, "s"), np.timedelta64(1, "s")),
    ]
)
OTHERS = st.sampled_from([None, pd.NA, [], [1], {"a": 1}, {1}, 1j, np.float32(0.5), np.int8(1), np.True_, object()])
DAYS = st.sampled_from([date(2024, 1, 31), date.min, date.max, time(9, 30), time(9, 30, tzinfo=UTC), timedelta(1)])
VALUES = st.one_of(
    TEXTS,
    st.text(max_size=3),
    st.booleans(),
    WHOLE,
    st.integers(-(2**80), 2**80),
    FLOATS,
    st.floats(),
    DECIMALS,
    st.decimals(),
    st.sampled_from([b"a", b"", b"K\xf6ln", b"\xff", bytearray(b"1"), memoryview(b"1")]),
    MOMENTS,
    DAYS,
    OTHERS,
)


def codes(data: Any) -> list[tuple[int | None, ...]]:
    """For every record its code under each attribute, None where it would be dropped."""
    source = open_source(data)
    rows: list[tuple[int | None, ...]] = []
    for batch in source.batches(["x"]):
        coded = [coder(attribute)(batch.column("x")) for attribute in ATTRIBUTES]
        readings = [
            each.codes.tolist()
            if each.kept is None
            else [code if kept else None for code, kept in zip(each.codes.tolist(), each.kept, strict=True)]
            for each in coded
        ]
        rows += zip(*readings, strict=True)
    return rows


def check(make: Callable[[list[Any]], Any], values: Sequence[Any], extra: Any, place: int) -> None:
    """The law for one reader: `make` writes a column of values as the reader's input."""
    place = min(place, len(values))
    with_it = codes(make([*values[:place], extra, *values[place:]]))
    assert len(with_it) == len(values) + 1
    assert with_it[:place] + with_it[place + 1 :] == codes(make(list(values)))


def objects(values: list[Any]) -> pd.DataFrame:
    """A column of objects, which pandas changes in nothing."""
    column = np.empty(len(values), dtype=object)
    column[:] = [None] * len(values)
    for place, value in enumerate(values):
        column[place] = value
    return pd.DataFrame({"x": pd.Series(column, dtype=object)})


def inferred(values: list[Any]) -> pd.DataFrame:
    """A column whose type pandas chooses by its values, where it can choose one."""
    try:
        return pd.DataFrame({"x": pd.Series(values)})
    except (UnicodeEncodeError, OverflowError, ValueError, TypeError):
        return objects(values)


def after_missing_ones(values: list[Any]) -> pd.DataFrame:
    """A column of objects whose first hundred values are missing: a library that looks at those alone sees no type."""
    return objects([*([None] * 100), *values])


def categorical(values: list[Any]) -> pd.DataFrame:
    """A categorical column, whose categories pandas collects from the values."""
    column = pd.Series(objects(values)["x"].to_numpy(), dtype=object)
    return pd.DataFrame({"x": column.astype("category")})


def polars_objects(values: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({"x": pl.Series("x", values, dtype=pl.Object)})


@given(values=st.lists(VALUES, max_size=6), extra=VALUES, place=st.integers(0, 6))
@example(values=[True, False] * 3, extra="unknown", place=6)
@example(values=[0.5, 1.0, 1e-7], extra="unknown", place=0)
@example(values=[MOMENT, datetime.min], extra="unknown", place=0)
@example(values=[Decimal("1.5")], extra=Decimal("1.500"), place=0)
@example(values=[1, 2], extra=2**70, place=0)
@example(values=["a"], extra="\ud800", place=0)
@example(values=[Decimal("1.5")], extra=Decimal("Infinity"), place=0)
def test_columns_of_objects(values: list[Any], extra: Any, place: int) -> None:
    for make in (objects, polars_objects):
        check(make, values, extra, place)


@given(values=st.lists(VALUES, max_size=4), extra=VALUES)
@example(values=[MOMENT] * 3, extra=date(2023, 1, 1))
@example(values=[0.5], extra=np.float32(0.1))
@example(values=[1], extra=2**80)
@example(values=[1], extra=[1])
def test_columns_of_objects_after_missing_ones(values: list[Any], extra: Any) -> None:
    with_it, without = codes(after_missing_ones([extra, *values])), codes(after_missing_ones(values))
    assert with_it[:100] == without[:100] and with_it[101:] == without[100:]


HASHABLE = VALUES.filter(lambda value: not isinstance(value, list | dict | set | bytearray))


@given(values=st.lists(HASHABLE, max_size=5), extra=HASHABLE, place=st.integers(0, 5))
@example(values=[MOMENT] * 4, extra=date(2023, 1, 1), place=0)
@example(values=["a", None], extra=1, place=0)
def test_categorical_columns(values: list[Any], extra: Any, place: int) -> None:
    try:
        categorical([*values, extra])
        categorical(values)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return  # pandas itself makes no categories of such values
    check(categorical, values, extra, place)


COLUMNS = (TEXTS, st.booleans(), WHOLE, st.integers(-(2**60), 2**60), FLOATS, DECIMALS, MOMENTS, DAYS)


@given(st.data())
def test_columns_whose_type_pandas_chooses(data: st.DataObject) -> None:
    """Mostly of one type, so that one further record changes the type that pandas chooses for all."""
    values = data.draw(st.lists(data.draw(st.sampled_from(COLUMNS)), max_size=5))
    check(inferred, values, data.draw(VALUES), data.draw(st.integers(0, 5)))


@pytest.mark.parametrize("width", [np.float16, np.float32, np.longdouble])
@given(values=st.lists(st.integers(-20, 20), min_size=1, max_size=4), extra=VALUES)
@example(values=[1, 7], extra="unknown")
@example(values=[1, 7], extra=0.5)
def test_short_floats_of_pandas(width: Any, values: list[int], extra: Any) -> None:
    """Their column turns into one of doubles or objects as soon as one record is none of them."""
    check(inferred, [width(value / 10) for value in values], extra, 0)


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
    check(inferred, values, extra, 0)

    def parquet(cells: list[Any]) -> Any:
        try:
            inferred(cells).to_parquet(tmp_path / "people.parquet")
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return inferred(cells)
        return tmp_path / "people.parquet"

    check(parquet, values, extra, 0)


def of_bits(kind: pa.DataType, storage: pa.DataType) -> Callable[[list[Any]], pa.Array]:
    """Columns of a type from the whole numbers that it stores, whether or not Python has such a value."""
    return lambda values: pa.array(values, storage).view(kind)


def unchecked_text(values: list[bytes | None]) -> pa.Array:
    """Text that need not be UTF-8, as Arrow's readers return it."""
    raw = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(raw), raw.buffers(), raw.null_count)


CELLS = st.none() | st.binary(max_size=3) | st.sampled_from([b"a", b"1", b" 1.5 ", b"K\xf6ln", "K\u00f6ln".encode()])
SMALL, LARGE = st.none() | st.integers(-(2**31), 2**31 - 1), st.none() | st.integers(-(2**63), 2**63 - 1)
SECONDS = st.none() | st.sampled_from([1706693400, 0, -(2**62), 2**62, -62135596801]) | LARGE
TYPED: dict[str, tuple[Callable[[list[Any]], pa.Array], st.SearchStrategy[Any]]] = {
    "text": (unchecked_text, CELLS),
    "text in a dictionary": (lambda values: unchecked_text(values).dictionary_encode(), CELLS),
    "bytes": (lambda values: pa.array(values, pa.binary()), CELLS),
    "views": (lambda values: pa.array(values, pa.binary_view()), CELLS),
    "booleans": (lambda values: pa.array(values, pa.bool_()), st.none() | st.booleans()),
    "whole": (lambda values: pa.array(values, pa.int64()), LARGE | st.integers(-2, 2)),
    "unsigned": (lambda values: pa.array(values, pa.uint64()), st.none() | st.integers(0, 2**64 - 1)),
    "floats": (lambda values: pa.array(values, pa.float64()), st.none() | FLOATS | st.floats()),
    "single": (lambda values: pa.array(values, pa.float32()), st.none() | st.floats(width=32)),
    "half": (lambda values: pa.array(np.array(values, np.float16)), st.floats(width=16)),
    "decimals": (
        lambda values: pa.array(values, pa.decimal128(20, 3)),
        st.none() | st.decimals(-(10**9), 10**9, places=3),
    ),
    "small decimals": (
        lambda values: pa.array(values, pa.decimal32(9, 3)),
        st.none() | st.decimals(-(10**5), 10**5, places=3),
    ),
    "dates": (of_bits(pa.date32(), pa.int32()), SMALL | st.just(19753)),
    "long dates": (of_bits(pa.date64(), pa.int64()), LARGE),
    "moments": (of_bits(pa.timestamp("s"), pa.int64()), SECONDS),
    "moments of a zone": (of_bits(pa.timestamp("ns", "Europe/Berlin"), pa.int64()), SECONDS),
    "times": (of_bits(pa.time64("us"), pa.int64()), LARGE | st.just(34_200_000_000)),
    "durations": (of_bits(pa.duration("s"), pa.int64()), LARGE),
    "nothing": (lambda values: pa.nulls(len(values)), st.none()),
    "UUIDs": (lambda values: pa.array(values, pa.uuid()), st.none() | st.binary(min_size=16, max_size=16)),
    "lists": (lambda values: pa.array(values, pa.list_(pa.int8())), st.sampled_from([None, [], [1], [1, 2]])),
}


@pytest.mark.parametrize("kind", TYPED)
@settings(max_examples=40)
@given(data=st.data())
def test_columns_of_a_declared_type(kind: str, data: st.DataObject) -> None:
    column, cells = TYPED[kind]
    values = data.draw(st.lists(cells, max_size=5))
    check(lambda each: pa.table({"x": column(each)}), values, data.draw(cells), data.draw(st.integers(0, 5)))


@pytest.mark.parametrize("kind", ["text", "text in a dictionary", "moments of a zone", "dates", "floats"])
@settings(max_examples=25)
@given(data=st.data())
def test_parquet_files(kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    column, cells = TYPED[kind]
    path = tmp_path_factory.getbasetemp() / "people.parquet"

    def make(values: list[Any]) -> Path:
        pq.write_table(pa.table({"x": column(values)}), path)
        return path

    check(make, data.draw(st.lists(cells, max_size=5)), data.draw(cells), data.draw(st.integers(0, 5)))


def quoted(cell: bytes) -> bytes:
    return b'"' + cell.replace(b'"', b'""') + b'"'


def bare(cell: bytes) -> bytes:
    return bytes(byte for byte in cell if byte not in b'",\r\n')


@pytest.mark.parametrize("write", [quoted, bare])
@pytest.mark.parametrize("more", [b"", b",y"])
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

    def make(cells: list[bytes | None]) -> Path:
        path.write_bytes(b"".join(line + more + b"\n" for line in (b"x", *(write(cell or b"") for cell in cells))))
        return path

    check(make, values, extra, place)


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
