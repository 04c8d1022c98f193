"""Frames of other libraries, in as a source of rows and out as a release's table, by way of narwhals and Arrow."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scumble.engines.scanning import hand_out
from scumble.engines.source import Progress
from scumble.errors import InputError
from scumble.files.tables import column_names, entry_dictionaries
from scumble.model.release import CellRelease, FineRows, RecordRelease, Release
from scumble.model.schema import Schema

if TYPE_CHECKING:
    from narwhals import Series

BATCH_ROWS = 1 << 16
KINDS = ("pyarrow", "pandas", "polars", "pyspark")


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

    def batches(self, schema: Schema, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        table = self.table.select([attribute.name for attribute in schema.attributes])
        yield from table.to_batches(max_chunksize=BATCH_ROWS)


def frame_source(frame: Any) -> FrameSource:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InputError(
            f"A {type(frame).__name__} is no table. Give a path, or a pandas, polars, Arrow or Spark frame."
        ) from error
    except DuplicateError:
        raise InputError("frame: a column stands twice in it. Rename one of them.") from None
    if eager.implementation.is_pyarrow():
        return FrameSource(table=eager.to_arrow())  # as it lies: column by column narwhals would copy it
    names = [str(name) for name in eager.columns]
    return FrameSource(table=pa.Table.from_arrays([_arrow(series) for series in eager.iter_columns()], names=names))


def _arrow(series: "Series[Any]") -> pa.Array | pa.ChunkedArray:
    """A column in Arrow's types. One of pandas' that mixes types becomes text: no value may stop a run."""
    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
        return pa.array([None if empty else str(value) for value, empty in cells], pa.string())


def to_frame(release: Release, kind: str = "pyarrow", *, table: str | None = None, counts: bool = False) -> Any:
    """A release's table as a frame of a library: `pyarrow`, `pandas`, `polars` or `pyspark`.

    The rows of the recommended table, of the one that is named (`table`, `fine`) or, with `counts`, the cells of
    counts.csv with `count`. Labels of cells are dictionaries (categories), which frames take over as they are; Spark,
    which has none, gets text.
    """
    if kind not in KINDS:
        raise InputError(f"There is no kind of frame {kind!r}. There is: {', '.join(KINDS)}.")
    chosen = release.recommended if table is None else table
    if chosen not in release.tables:
        raise InputError(f"The release has no {chosen}.csv. It has: {', '.join(release.tables)}.")
    rows = _release_table(release, chosen, counts=counts)
    handed = hand_out(rows, kind)
    if handed is not None:
        return handed
    from narwhals import from_arrow

    library: Any = kind  # narwhals knows it by the same name
    return from_arrow(rows, backend=library).to_native()


def _release_table(release: Release, table: str, *, counts: bool) -> pa.Table:
    drawn = release.fine if isinstance(release, CellRelease) and table == "fine" else release
    if isinstance(drawn, RecordRelease | FineRows) and not counts:
        return pa.table({name: pa.array(column, from_pandas=True) for name, column in drawn.columns.items()})
    if not isinstance(release, CellRelease):
        raise InputError(f"A release of {release.method} has no such table in memory. Read the files in its folder.")
    count = release.count.ravel()
    entries = np.arange(len(count))
    columns = entry_dictionaries(release.schema, entries if counts else np.repeat(entries, count))
    names = column_names(release.schema)
    return pa.table([*columns, count], names=[*names, "count"]) if counts else pa.table(columns, names=names)
