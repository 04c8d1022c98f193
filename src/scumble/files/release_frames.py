"""A release's tables as data frames of other libraries, by way of Arrow and narwhals."""

from typing import Any

from scumble.errors import InputError
from scumble.files.kinds import kind_of
from scumble.model.release import Release
from scumble.sources import to_native_frame

KINDS = ("pyarrow", "pandas", "polars", "pyspark")


def to_frame(release: Release, kind: str = "pyarrow", *, table: str | None = None, counts: bool = False) -> Any:
    """A release's table as a frame of a library: `pyarrow`, `pandas`, `polars` or `pyspark`.

    By default the rows of the recommended table; `table` names another one (`table` or `fine`). With `counts`, the
    cells of counts.csv with the columns `count`, `measured` and `variance`. Labels of cells are dictionary-encoded
    (categories); Spark, which has no such type, gets text. Raises `InputError` if the kind of frame or the table is
    unknown, and for perturbed records, which stay in their file.
    """
    if kind not in KINDS:
        raise InputError(f"Unknown kind of frame {kind!r}. Available: {', '.join(KINDS)}.")
    chosen = release.table_named(table)
    rows = kind_of(release).table(release, chosen, counts=counts)
    native = to_native_frame(rows, kind)
    if native is not None:
        return native
    from narwhals import from_arrow

    library: Any = kind  # narwhals uses the same names
    return from_arrow(rows, backend=library).to_native()
