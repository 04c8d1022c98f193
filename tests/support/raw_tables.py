"""Raw tables for the neighbour law: odd values, columns of every type, and the law for one reader.

A raw table is a column `x` of values as a library or a file holds them. `check` reads a table, and its neighbours with
one record added, removed and replaced, and compares the codes of all other records.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from openpyxl import Workbook

from scumble.engines.coding import coder
from scumble.files.schema_file import parse_schema
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.sources import CSVSource, open_source

TIMES = 12 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 1
"""`make search` tries so many times as many examples."""
TRIED: Counter[str] = Counter()
"""How many examples of the law were checked for each reader, for the line at the end of a test run."""


def tries(examples: int) -> settings:
    """So many examples, and more in a search."""
    return settings(max_examples=examples * TIMES)


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
KINDS = (
    "boolean: {false: ['0', no], true: ['1', a]}, missing: '?'",
    "ordered: [a, Köln, '1', true, '2024-01-31'], missing: '?', outside: clamp",
    "date: {from: 2000-01-01, to: 2030-01-01, step: month, format: '%d.%m.%Y'}, missing: '?'",
    "date: {from: 1900-01-01, to: 2100-01-01, step: year}, outside: drop",
    "prefix: {levels: [1, 2], codes: [1.5, 20, Kö, tr, 10], ignore: .}",
    "numeric: {tree: {'[-2,20)': {'[-2,0.5)': , '[0.5,20)': {'[0.5,1)': , '[1,20)': }}}}, missing: '-999'",
)
NOTATED = tuple(parse_schema(f"scumble: schema/1\nattributes:\n  x: {{{kind}}}\n")["x"] for kind in KINDS)
ATTRIBUTES = (CATEGORY, DROPPED, NUMBER, TENTHS, *NOTATED)
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
        *(
            np.datetime64("2024-01-31"),
            np.datetime64("-0044-03-15"),
            np.datetime64("2024-01"),
            np.datetime64("2024-01-31T09"),
            np.datetime64("NaT"),
            np.datetime64(2**62, "s"),
            np.timedelta64(1, "s"),
        ),
    ]
)
OTHERS = st.sampled_from(
    [
        *(None, pd.NA, [], [1], [[1], {"a": []}], {"a": 1}, {1}, (), 1j, object(), int, Ellipsis, UUID(int=1)),
        *(np.float32(0.5), np.float16(0.5), np.int8(1), np.uint64(2**64 - 1), np.True_, np.str_("a"), np.bytes_(b"a")),
        *(np.longdouble("1e4000"), np.complex64(1), pd.Interval(0, 1), pd.Period("2024-01"), pd.Timedelta(1)),
    ]
)
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
    source = data if isinstance(data, CSVSource) else open_source(data)
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


def check(reader: str, make: Callable[[list[Any]], Any], values: Sequence[Any], extra: Any, place: int) -> None:
    """The law for one reader and one table: `make` writes a column of values as the reader's input.

    One record is added, which read backwards is one removed, and one is replaced. No other record may be read in
    another way, and nothing may raise.
    """
    TRIED[reader] += 1
    place = min(place, len(values))
    before = codes(make(list(values)))
    added = codes(make([*values[:place], extra, *values[place:]]))
    assert (len(before), len(added)) == (len(values), len(values) + 1)
    assert added[:place] + added[place + 1 :] == before
    if place < len(values):
        replaced = codes(make([*values[:place], extra, *values[place + 1 :]]))
        assert replaced == [*before[:place], added[place], *before[place + 1 :]]


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


def categorical(values: list[Any]) -> pd.DataFrame:
    """A categorical column, whose categories pandas collects from the values."""
    column = pd.Series(objects(values)["x"].to_numpy(), dtype=object)
    return pd.DataFrame({"x": column.astype("category")})


def polars_objects(values: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({"x": pl.Series("x", values, dtype=pl.Object)})


def dictionaries(values: list[Any]) -> list[dict[str, Any]]:
    return [{"x": value, "y": 1} for value in values]


def in_a_sheet(path: Path, values: list[Any]) -> Path:
    """A spreadsheet. A second column keeps rows whose value is missing."""
    book = Workbook()
    book.active.append(["x", "y"])
    for value in values:
        book.active.append([value, 1])
    book.save(path)
    return path


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
