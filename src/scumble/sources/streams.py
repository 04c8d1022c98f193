"""Rows that arrive one after the other: Arrow streams, and iterables of dictionaries.

A stream can be read once. Reading it again would find no rows and charge for them, so it is refused: when the stream is
opened again, before anything is charged, or when its source is read again.
"""

import inspect
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import IOBase
from itertools import islice
from typing import Any
from weakref import WeakSet

import pyarrow as pa

from scumble.errors import InputError
from scumble.sources.arrow_files import sliced
from scumble.sources.object_column import OFF_DOMAIN, object_batch
from scumble.sources.source import RowProgress, Source

BATCH_ROWS = 1 << 14
_READ: WeakSet[Any] = WeakSet()
_READ_LAST: deque[Any] = deque(maxlen=64)
"""The streams that were read; the last ones where Python cannot remember an object without keeping it."""
_NOT_ROWS = (str, bytes, bytearray, memoryview, Mapping, IOBase)
"""Iterables that contain something else than records; arrays, which contain single values, are known by a method."""


def stream_source(data: Any) -> Source | None:
    """The source for an Arrow stream or an iterable of dictionaries; None for other objects."""
    if isinstance(data, pa.RecordBatchReader) or hasattr(data, "__arrow_c_stream__"):
        return ArrowStream(data)
    holds_values = isinstance(data, _NOT_ROWS) or hasattr(data, "__array__") or hasattr(data, "__arrow_c_array__")
    return DictRows(data) if isinstance(data, Iterable) and not holds_values else None


class ArrowStream:
    """A RecordBatchReader, or any object that exports an Arrow stream."""

    name = "frame"

    def __init__(self, data: Any) -> None:
        self._data = data
        self._once = isinstance(data, pa.RecordBatchReader)
        self._was_read = False
        if self._once:
            _refuse_read(data)
        self._reader = data if self._once else _exported(data)
        self._kinds = self._reader.schema

    def columns(self) -> tuple[str, ...]:
        return tuple(self._kinds.names)

    def kinds(self) -> pa.Schema:
        return self._kinds

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        if self._once:
            _mark_read(self._data)
        elif self._was_read:
            self._reader = _exported(self._data)
        self._was_read = True
        try:
            for batch in self._reader:
                yield from sliced(batch.select(list(columns)))
        except (pa.ArrowException, OSError):
            raise InputError("The Arrow stream ended with an error. Write its rows to a Parquet file first.") from None


def _exported(data: Any) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            f"A {type(data).__name__} is not a table. Give a path, or a pandas, polars, Arrow or Spark frame."
        ) from None


class DictRows:
    """An iterable of dictionaries, one for each record.

    The columns are those that the schema names, for the keys of a record are not public. A key that a record does not
    have is a missing value. A record that is not a dictionary is off the domain in every column.
    """

    name = "frame"

    def __init__(self, rows: Iterable[Any]) -> None:
        self._rows = rows
        self._once = isinstance(rows, Iterator)
        if self._once:
            _refuse_read(rows)

    def columns(self) -> tuple[str, ...]:
        """None is known: `check_columns` accepts every name."""
        return ()

    def kinds(self) -> None:
        return None

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        if self._once:
            _mark_read(self._rows)
        rows = iter(self._rows)
        while part := list(islice(rows, BATCH_ROWS)):
            yield object_batch(columns, ([_field(row, name) for row in part] for name in columns))


def _field(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, Mapping) else OFF_DOMAIN


AGAIN = "This reader was already read, and it can be read only once. Open it again, or give a list, a frame or a file."


def _refuse_read(stream: Any) -> None:
    closed = inspect.isgenerator(stream) and inspect.getgeneratorstate(stream) == inspect.GEN_CLOSED
    if closed or any(stream is each for each in (*_READ, *_READ_LAST)):
        raise InputError(AGAIN)


def _mark_read(stream: Any) -> None:
    _refuse_read(stream)
    try:
        _READ.add(stream)
    except TypeError:  # it cannot be referred to weakly, or has no hash
        _READ_LAST.append(stream)
