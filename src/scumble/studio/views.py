"""What the pages of a release show, computed once: reading a large release takes longer than a page may take.

A view is computed in a thread when it is first asked for. Until it is ready, the page says so and asks again.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from scumble.errors import InputError
from scumble.files.kinds import kind_of
from scumble.files.release_folder import file_hash
from scumble.flows.load import load_release
from scumble.flows.release import verify
from scumble.model.release import Release
from scumble.studio.table_margins import table_margins

COUNTS = "counts.csv"
Computed = TypeVar("Computed")
PATIENCE_SECONDS = 0.1
"""How long a page waits for a view that is being computed."""
MOST_ROWS = 5000
"""Rows of a table that can be sorted in the browser's page; counts.csv has the others."""


@dataclass(frozen=True, kw_only=True)
class ShownRelease:
    """The contents of a release, ready to be shown."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    all_rows: int
    file: str
    """The file that has all rows."""
    marginals: list[Any]
    checks: list[str]
    """The checks of `scumble verify` that passed."""
    problem: str
    """Why `scumble verify` failed; empty if it passed."""


def _compute(folder: Path) -> ShownRelease:
    problem, checks = "", list[str]()
    try:
        checks = verify(folder)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - a page about a damaged folder says what is wrong with it
        problem = str(error)
    release = load_release(folder)
    kind = kind_of(release)
    table, file = _table(release)
    measured = kind.report_context(release).get("marginals", [])
    shown = table.slice(0, MOST_ROWS)
    return ShownRelease(
        columns=tuple(shown.column_names),
        rows=list(zip(*(column.to_pylist() for column in shown.columns), strict=True)),
        all_rows=table.num_rows,
        file=file,
        marginals=measured or table_margins(table, release.schema, counts=file == COUNTS),
        checks=checks,
        problem=problem,
    )


def _table(release: Release) -> tuple[pa.Table, str]:
    """The counts of a release, or its recommended rows; an empty table if its rows stay in their file."""
    kind, recommended = kind_of(release), f"{release.recommended}.csv"
    for name, file, counts in (("", COUNTS, True), (release.recommended, recommended, False)):
        with suppress(InputError):
            return kind.table(release, name, counts=counts), file
    return pa.table({}), recommended


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="views")


_views: dict[tuple[Path, str], Future[Any]] = {}


def when_ready(key: tuple[Path, str], compute: Callable[[], Computed]) -> Computed | None:
    """What `compute` returns, computed once for a key, in the thread; None if it is not ready yet."""
    if key not in _views:
        _views[key] = _pool().submit(compute)
    try:
        found: Computed = _views[key].result(timeout=PATIENCE_SECONDS)
    except NotYet:
        return None
    return found


def release_view(folder: Path) -> ShownRelease | None:
    """The view of a release; None if it is not ready yet."""
    return when_ready((folder, file_hash(folder / "release.json")), lambda: _compute(folder))
