"""Frames of pandas, polars and Arrow whose columns, types and values a string of bytes decides."""

import datetime
import decimal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

NAMES = ("age", "job", "income", "born", "ill", "zip")


class Choices:
    """Decisions, one byte each; zero after the last byte."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def below(self, most: int) -> int:
        return next(self._bytes, 0) % most

    def of(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]


SCALARS: tuple[Any, ...] = (
    None,
    0,
    31,
    -1,
    2**53 + 1,
    2**63 - 1,
    2**80,
    1.5,
    float("nan"),
    float("inf"),
    -0.0,
    True,
    False,
    "",
    "31",
    "Engineer",
    "no",
    "yes",
    "01234",
    "?",
    "\ud800",
    "a\x00b",
    "x" * 300,
    b"bytes",
    b"\xff",
    decimal.Decimal("31.5"),
    decimal.Decimal("NaN"),
    decimal.Decimal("1e400"),
    datetime.date(2003, 2, 1),
    datetime.datetime(2003, 2, 1, 10, 30),
    datetime.datetime(2003, 2, 1, tzinfo=datetime.UTC),
    datetime.time(10, 30),
    datetime.timedelta(days=1),
    complex(1, 2),
    np.float32(1.1),
    np.int8(7),
    np.datetime64("NaT"),
    np.str_("Lawyer"),
    pd.NA,
    pd.NaT,
    [1, 2],
    {"a": 1},
    {1},
    (1, 2),
    range(3),
    object,
    ...,
)
PANDAS_TYPES = [
    "object",
    "str",
    "string",
    "boolean",
    "Int64",
    "UInt8",
    "Float32",
    "float16",
    "float64",
    "int8",
    "uint64",
    "bool",
    "category",
    "datetime64[ns]",
    "datetime64[us,UTC]",
    "datetime64[s]",
    "timedelta64[ns]",
    "period[M]",
    "interval",
    "Sparse[float64]",
    "complex128",
    "bytes",
    "U3",
    "int64[pyarrow]",
    "string[pyarrow]",
    "double[pyarrow]",
    "date32[pyarrow]",
]
POLARS_TYPES: tuple[Any, ...] = (
    None,
    pl.String,
    pl.Int64,
    pl.UInt8,
    pl.Int128,
    pl.Float32,
    pl.Boolean,
    pl.Binary,
    pl.Date,
    pl.Time,
    pl.Datetime("us", "UTC"),
    pl.Datetime("ms"),
    pl.Duration,
    pl.Decimal(38, 2),
    pl.Categorical,
    pl.Enum(["31", "Engineer", "no", "yes"]),
    pl.Object,
    pl.Null,
    pl.List(pl.Int64),
    pl.Array(pl.Int64, 2),
    pl.Struct({"a": pl.Int64}),
)
ARROW_TYPES: tuple[pa.DataType, ...] = (
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.uint64(),
    pa.float16(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.binary(2),
    pa.large_binary(),
    pa.binary_view(),
    pa.date32(),
    pa.date64(),
    pa.timestamp("ns", "Europe/Vienna"),
    pa.timestamp("s"),
    pa.time64("us"),
    pa.duration("s"),
    pa.month_day_nano_interval(),
    pa.decimal128(10, 2),
    pa.decimal256(70, 3),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.int64()),
    pa.run_end_encoded(pa.int32(), pa.string()),
    pa.list_(pa.int64()),
    pa.list_view(pa.int64()),
    pa.struct({"a": pa.int64()}),
    pa.map_(pa.string(), pa.int64()),
    pa.uuid(),
    pa.bool8(),
    pa.json_(),
)
ODD_NAMES: tuple[Any, ...] = ("", "age", 0, None, 1.5, ("a", "b"), "\ud800", "x" * 300, b"age")


def frame(data: bytes) -> Any:
    """The frame that a string of bytes stands for: equal bytes give equal frames."""
    choices = Choices(data)
    make: Callable[[Choices, int], Any] = choices.of((_pandas, _polars, _arrow, _dictionaries))
    return make(choices, choices.of((0, 1, 3, 3, 7)))


def _values(choices: Choices, rows: int) -> list[Any]:
    """Values of one kind, or of several, or any."""
    pool = [choices.of(SCALARS) for _ in range(choices.of((1, 2, 3)))]
    return [choices.of(pool) for _ in range(rows)]


def _names(choices: Choices) -> list[Any]:
    names: list[Any] = list(NAMES)
    if choices.below(4) == 0:
        names.append(choices.of(ODD_NAMES))
    if choices.below(16) == 1:
        names[0] = choices.of(ODD_NAMES)
    return names


def _dictionaries(choices: Choices, rows: int) -> list[dict[Any, Any]]:
    columns = [(name, _values(choices, rows)) for name in _names(choices)]
    return [{name: values[row] for name, values in columns if choices.below(9)} for row in range(rows)]


def _encodable(name: Any) -> str:
    return str(name).encode("utf-8", "replace").decode()


def _pandas(choices: Choices, rows: int) -> Any:
    columns = []
    for _ in (names := _names(choices)):
        series = pd.Series(_values(choices, rows), dtype=object)
        with suppress(Exception):  # pandas refuses the type: the values stay as they are
            series = series.astype(choices.of(PANDAS_TYPES))
        columns.append(series)
    made = pd.concat(columns, axis=1)
    made.columns = pd.Index(names, dtype=object)
    if choices.below(8) == 1:
        made.index = pd.Index([0] * rows)
    if choices.below(16) == 1:
        made.columns = pd.MultiIndex.from_tuples([(_encodable(name), "") for name in names])
    return made


def _polars(choices: Choices, rows: int) -> Any:
    columns = []
    for name in dict.fromkeys(_encodable(each) for each in _names(choices)):
        values = _values(choices, rows)
        kind = choices.of(POLARS_TYPES)
        try:
            columns.append(pl.Series(name, values, dtype=kind, strict=False))
        except BaseException:  # noqa: BLE001 - polars refuses the type, sometimes with a panic
            columns.append(pl.Series(name, [None] * rows, dtype=pl.Int64))
    made = pl.DataFrame(columns)
    return made.lazy() if choices.below(4) == 1 else made


def _arrow(choices: Choices, rows: int) -> Any:
    columns, names = [], []
    for name in _names(choices):
        kind = choices.of(ARROW_TYPES)
        values = _values(choices, rows)
        try:
            columns.append(pa.array(values, kind))
        except Exception:  # noqa: BLE001 - Arrow refuses these values for the type
            try:
                columns.append(pa.nulls(rows, kind))
            except Exception:  # noqa: BLE001 - or does not know how to leave them out
                columns.append(pa.nulls(rows))
        names.append(_encodable(name))
    made = pa.Table.from_arrays(columns, names)
    match choices.below(4):
        case 1 if rows:
            return pa.concat_tables([made, made.slice(1)])
        case 2:
            return pa.RecordBatchReader.from_batches(made.schema, made.to_batches())
    return made
