"""What the pages of a release show: its verified contents, and its answers to questions.

Reading a large release takes longer than a page may take, so both are computed in a thread, once for each release.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.errors import InputError
from scumble.files.kinds import kind_of
from scumble.files.release_folder import file_hash
from scumble.flows.load import load_release
from scumble.flows.query import query
from scumble.flows.release import verify
from scumble.model.release import AnyRelease, Release
from scumble.querying.answers import QueryAnswer
from scumble.studio.computed import Key, all_when_ready, when_ready
from scumble.studio.table_margins import table_margins

COUNTS = "counts.csv"
MOST_LOADED = 2
"""Releases that stay in memory for the next question."""
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
    release = _loaded(_key(folder, "release"))
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


def _key(folder: Path, wanted: str) -> Key:
    """A release folder is never changed: release.json has the hashes of all other files."""
    return folder, f"{file_hash(folder / 'release.json')} {wanted}"


@lru_cache(maxsize=MOST_LOADED)
def _loaded(key: Key) -> AnyRelease:
    return load_release(key[0])


def release_views(folders: Sequence[Path]) -> list[ShownRelease | None]:
    """The views of releases; None for one that is not ready yet."""
    keys = {folder: _key(folder, "view") for folder in folders}
    found = all_when_ready({key: partial(_compute, folder) for folder, key in keys.items()})
    return [found[keys[folder]] for folder in folders]


def release_view(folder: Path) -> ShownRelease | None:
    """The view of a release; None if it is not ready yet."""
    return release_views([folder])[0]


def release_answer(folder: Path, where: str, by: Sequence[str]) -> QueryAnswer | None:
    """The answer of a release to a question; None if it is not ready yet. Raises `InputError` as `query` does."""
    return when_ready(_key(folder, json.dumps([where, *by])), lambda: _answer(folder, where, by))


def _answer(folder: Path, where: str, by: Sequence[str]) -> QueryAnswer:
    release = _loaded(_key(folder, "release"))
    in_memory = kind_of(release).noise_model(release) is None  # perturbed records stay in their file
    return query(release if in_memory else folder, where, by=by)
