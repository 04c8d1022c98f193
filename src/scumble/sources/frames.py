"""Data frames in memory as a source of rows. Only wanted columns are converted to Arrow, and only when rows are read.

Arrow and polars declare the types of their columns, so these are public. pandas chooses the dtype of a column by its
values: there it says how a column is stored, never how a value is read, and no dtype is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.sources.object_column import INFERRED_TYPES, ObjectType, object_column
from scumble.sources.source import RowProgress, Source

BATCH_ROWS = 1 << 16
_NOT_CONVERTED = (pa.ArrowException, ValueError, TypeError, OverflowError, NotImplementedError)
"""What Arrow and the frame libraries raise for values that do not fit the Arrow type. Each is then read on its own."""

_PLAIN_NUMBERS = {int, float, type(None)}
"""Types of which Arrow makes doubles with the same reading. It would also make them of booleans, which are none."""


@dataclass(frozen=True, kw_only=True)
class ArrowSource:
    """An Arrow table, which is read without a copy."""

    table: pa.Table
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    def kinds(self) -> pa.Schema:
        return self.table.schema

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        yield from self.table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)


@dataclass(frozen=True, kw_only=True)
class PolarsSource:
    """A polars DataFrame. Columns of objects, and of types that Arrow does not have, are read value by value."""

    frame: Any
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def kinds(self) -> pa.Schema:
        empty = self.frame.clear()
        return pa.schema([(name, _polars_column(empty[name]).type) for name in empty.columns])

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        yield from _in_batches(columns, [_polars_column(self.frame[name]) for name in columns])


@dataclass(frozen=True, kw_only=True)
class PandasSource:
    """A pandas DataFrame, or one of a library with the same interface."""

    frame: Any
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.frame.columns)

    def kinds(self) -> None:
        return None

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        wanted = _pandas_frame(self.frame.iloc[:, [self.columns().index(name) for name in columns]])
        series = [wanted.iloc[:, place] for place in range(len(columns))]
        # Objects are converted batch by batch, so that a value of an odd type slows down one batch and not all of them.
        whole = {
            name: pandas_column(each)
            for name, each in zip(columns, series, strict=True)
            if each.dtype != np.dtype(object)
        }
        for start in range(0, len(wanted), BATCH_ROWS):
            rows = slice(start, start + BATCH_ROWS)
            yield from _in_batches(
                columns,
                [
                    whole[name][rows] if name in whole else _objects(each.to_numpy()[rows])
                    for name, each in zip(columns, series, strict=True)
                ],
                {INFERRED_TYPES: b""},
            )


def frame_source(frame: Any) -> Source | None:
    """The source for a frame of pandas, of a library with the same interface, of polars or of Arrow; else None."""
    from narwhals.dependencies import (
        is_cudf_dataframe,
        is_modin_dataframe,
        is_pandas_dataframe,
        is_polars_dataframe,
        is_pyarrow_table,
    )

    if isinstance(frame, pa.RecordBatch):
        return ArrowSource(table=pa.Table.from_batches([frame]))
    if is_pyarrow_table(frame):
        return ArrowSource(table=frame)
    if is_polars_dataframe(frame):
        return PolarsSource(frame=frame)
    if is_pandas_dataframe(frame) or is_modin_dataframe(frame) or is_cudf_dataframe(frame):
        return PandasSource(frame=frame)
    return None


def _in_batches(
    names: Sequence[str], columns: Sequence[pa.Array | pa.ChunkedArray], metadata: dict[bytes, bytes] | None = None
) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_arrays(columns, names=list(names), metadata=metadata)
    yield from table.to_batches(max_chunksize=BATCH_ROWS)


def _pandas_frame(frame: Any) -> Any:
    import narwhals
    from narwhals.dependencies import is_pandas_dataframe

    return frame if is_pandas_dataframe(frame) else narwhals.from_native(frame, eager_only=True).to_pandas()


def _polars_column(series: Any) -> pa.Array:
    import polars

    if series.dtype != polars.Object:
        try:
            return series.to_arrow()
        except pa.ArrowInvalid:  # a type that Arrow does not have, such as Int128: decided by the type, not by a value
            pass
    return object_column(series.to_list())


def pandas_column(series: Any) -> pa.Array | pa.ChunkedArray:
    """A column as Arrow stores it, in which every value has the reading that it would have under any other dtype.

    Columns of objects are never given a type by what they contain: one record would then change how all others are
    read. Short floats are widened, for one record can turn their column into one of doubles or objects. What Arrow
    cannot hold is read value by value.
    """
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return _categories(series.cat.codes.to_numpy(), pandas_column(dtype.categories.to_series()))
    if hasattr(dtype, "fill_value"):  # sparse
        series = series.sparse.to_dense()
        dtype = series.dtype
    if dtype == np.dtype(object):
        return _objects(series.to_numpy())
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return pa.array(series.to_numpy().astype(np.float64, copy=False), from_pandas=True)
    try:
        column = pa.array(series, from_pandas=True)
    except _NOT_CONVERTED:
        return object_column(series)
    return column if _keeps_readings(column.type) else object_column(series)


def _keeps_readings(kind: pa.DataType) -> bool:
    """Whether the values of such an Arrow column have the readings that they have as Python objects."""
    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    number = types.is_integer(kind) or types.is_float64(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    return text or number or types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind)


def _objects(values: npt.NDArray[np.object_]) -> pa.Array:
    """A column of objects. Arrow converts text alone, or plain numbers alone, faster, and each value has the same
    reading as on its own."""
    try:
        return pa.array(values, pa.large_string(), from_pandas=True)
    except _NOT_CONVERTED:
        pass
    if set(map(type, values)) <= _PLAIN_NUMBERS:
        try:
            return pa.array(values, pa.float64(), from_pandas=True)
        except _NOT_CONVERTED:  # a whole number beyond 2^53
            pass
    return object_column(values)


def _categories(codes: Any, categories: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A categorical column by its categories, each read on its own; a negative code is a missing value."""
    places = pa.array(codes.astype(np.int32), mask=codes < 0)
    if isinstance(categories, pa.ChunkedArray):
        categories = categories.combine_chunks()
    if isinstance(categories.type, ObjectType):
        return pa.ExtensionArray.from_storage(categories.type, categories.storage.take(places))
    return pa.DictionaryArray.from_arrays(places, categories)
