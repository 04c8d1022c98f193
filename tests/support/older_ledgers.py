"""Ledgers of format 1, which contained their key, as earlier versions wrote them.

`ledger_of_format_1.sql` was made by commit 0fa541d, the last one of format 1: a charge of 1 to `adult` with rows and
settlement, a grant of 3 and of a delta, a charge of 1/3, and a joint charge of 1/2 to `north`, through the public
methods of `Ledger`; then `PRAGMA application_id`, `PRAGMA user_version` and `sqlite3.Connection.iterdump`.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

FORMAT_1 = Path(__file__).parents[1] / "privacy" / "ledger_of_format_1.sql"
ENTRIES = 8
KEY = bytes.fromhex("7ad023947ec21d6953c9cc8aaa6d1b2a709d04d25a1e876008d6c38eb5e1ab05")


def write_ledger_of_format_1(path: Path) -> None:
    """The ledger as a file that only its owner can read, with write-ahead logging, as format 1 had it."""
    _run(path, FORMAT_1.read_text("utf-8"))


def write_ledger_with(path: Path, key: bytes, entries: Sequence[Sequence[object]]) -> None:
    """A ledger of format 1 with other entries."""
    lines = FORMAT_1.read_text("utf-8").splitlines(keepends=True)
    _run(path, "".join(line for line in lines if "INSERT INTO" not in line))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO meta VALUES ('key', ?)", (key,))
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", entries)


def _run(path: Path, script: str) -> None:
    path.touch(0o600)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(script)
        connection.execute("PRAGMA journal_mode = WAL")
