"""A release's tables as data frames of other libraries, by way of Arrow and narwhals."""

from typing import Any

import numpy as np
import pyarrow as pa

from scumble.errors import InputError
from scumble.files.tables import column_names, entry_dictionaries
from scumble.model.release import CellRelease, FineRows, RecordRelease, Release
from scumble.sources import hand_out

KINDS = ("pyarrow", "pandas", "polars", "pyspark")


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
