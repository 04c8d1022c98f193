"""Data frames as a source of rows, converted by narwhals to Arrow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scumble.errors import InputError
from scumble.sources.object_column import object_column
from scumble.sources.source import RowProgress

if TYPE_CHECKING:
    from narwhals import Series

BATCH_ROWS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class FrameSource:
    """A table in memory."""

    table: pa.Table
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    def kinds(self) -> pa.Schema:
        """The types of the columns."""
        return self.table.schema

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        table = self.table.select(list(columns))
        yield from table.to_batches(max_chunksize=BATCH_ROWS)


def frame_source(frame: Any) -> FrameSource:
    """The source for a frame of any library that narwhals supports."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InputError(
            f"A {type(frame).__name__} is not a table. Give a path, or a pandas, polars, Arrow or Spark frame."
        ) from error
    except DuplicateError:
        raise InputError("frame: a column name occurs twice. Rename one of the columns.") from None
    if eager.implementation.is_pyarrow():
        return FrameSource(table=eager.to_arrow())  # unchanged: column by column, narwhals would copy it
    names = [str(name) for name in eager.columns]
    return FrameSource(table=pa.Table.from_arrays([_arrow(series) for series in eager.iter_columns()], names=names))


def _arrow(series: "Series[Any]") -> pa.Array | pa.ChunkedArray:
    """A column in Arrow's types where the library declares its type; else each value is read on its own.

    A column of objects is never given a type by what it holds: one record would then change how all others are read.
    So what decides is the library's own type, not the one that narwhals infers from the first values.
    """
    import narwhals as nw

    if series.implementation.is_pandas_like():
        native: Any = series.to_native()
        if native.dtype == object:
            return _objects(native.to_numpy())
        categories = getattr(native.dtype, "categories", None)
        if categories is not None and categories.dtype == object:
            return _categories(native.cat.codes.to_numpy(), _objects(categories.to_numpy()))
    elif series.dtype == nw.Object:
        return _objects(series.to_numpy())
    try:
        return series.to_arrow()
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return object_column(series.to_list())


def _objects(values: Any) -> pa.Array:
    """A column of objects. Text alone is read quicker as text, and means the same."""
    try:
        return pa.array(values, pa.large_string(), from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return object_column(values)


def _categories(codes: Any, categories: pa.Array) -> pa.Array:
    """A categorical column by its categories, each read on its own; a negative code is a missing value."""
    places = pa.array(codes.astype("int32"), mask=codes < 0)
    if isinstance(categories, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(categories.type, categories.storage.take(places))
    return pa.DictionaryArray.from_arrays(places, categories)
