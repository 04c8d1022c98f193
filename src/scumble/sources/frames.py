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
    Text alone is read quicker as text, and means the same.
    """
    import narwhals as nw

    if series.dtype == nw.Object:
        values = series.to_numpy()  # of objects, as they are
        try:
            return pa.array(values, pa.large_string(), from_pandas=True)
        except (pa.ArrowException, ValueError):
            return object_column(values)
    try:
        return series.to_arrow()
    except (pa.ArrowException, ValueError):
        return object_column(series.to_list())
