"""A release as a frame of another library: the same rows in each of them."""

import numpy as np
import pytest
from fine_releases import made

from scumble.errors import InputError
from scumble.files.release_frames import to_frame


def shown(value: object) -> str:
    """Text of a value; pandas has NaN where Arrow has a missing number."""
    return "missing" if value is None or value != value else str(value)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("options", [{}, {"table": "table"}, {"counts": True}], ids=str)
def test_every_library_gets_the_same_rows(kind: str, options: dict[str, object]) -> None:
    release = made()
    arrow = to_frame(release, "pyarrow", **options)
    frame = to_frame(release, kind, **options)
    assert type(frame).__module__.split(".")[0] == kind
    assert list(frame.columns) == arrow.column_names
    for name in arrow.column_names:
        wanted, found = arrow[name].to_pylist(), list(frame[name])
        assert [shown(value) for value in found] == [shown(value) for value in wanted]


def test_rows_are_the_recommended_table_and_counts_are_the_cells() -> None:
    release = made()
    assert release.fine is not None
    assert to_frame(release).num_rows == release.fine.rows
    assert to_frame(release, table="table").num_rows == release.count.sum()
    cells = to_frame(release, counts=True)
    assert cells.column_names[-3:] == ["count", "measured", "variance"]
    assert np.array_equal(cells["count"].to_numpy(), release.count.ravel())


def test_unknown_libraries_and_tables_are_refused() -> None:
    with pytest.raises(InputError, match="'excel'"):
        to_frame(made(), "excel")
    with pytest.raises(InputError, match="finest"):
        to_frame(made(), table="finest")
