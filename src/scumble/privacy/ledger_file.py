"""The ledger's SQLite file: where it is, how it is created, and readable messages for its failures."""

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scumble.errors import InputError, ScumbleError

APPLICATION = int.from_bytes(b"scum", "big")
FORMAT = 1

# A REPLACE deletes without firing a delete trigger, hence the guard on inserts. AUTOINCREMENT remembers the last number
# given out, which is how entries missing at the end of the chain are noticed.
_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
    """CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        time TEXT NOT NULL,
        kind TEXT NOT NULL,
        dataset TEXT NOT NULL,
        body TEXT NOT NULL,
        previous TEXT NOT NULL,
        hash TEXT NOT NULL
    )""",
    """CREATE TRIGGER entries_follow BEFORE INSERT ON entries
        WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM entries)
        BEGIN SELECT RAISE(ABORT, 'entries are added at the end only'); END""",
    """CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END""",
    """CREATE TRIGGER entries_remain BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)

_COLUMNS = {
    "meta": ("name", "value"),
    "entries": ("sequence", "time", "kind", "dataset", "body", "previous", "hash"),
}


def default_path() -> Path:
    """`SCUMBLE_LEDGER`, or else `scumble/ledger.db` in the system's folder for user data."""
    named = os.environ.get("SCUMBLE_LEDGER")
    return Path(named) if named else _data_folder() / "scumble" / "ledger.db"


def _data_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    # The XDG specification: a relative path is to be ignored.
    return named if named.is_absolute() else Path.home() / ".local" / "share"


def connect(path: Path, busy_seconds: float) -> tuple[sqlite3.Connection, bytes]:
    """A connection to the ledger at `path`, created if it does not exist, and its secret key."""
    _make_file(path)
    with explained(path, busy_seconds), ExitStack() as stack:
        connection = sqlite3.connect(path.absolute(), timeout=busy_seconds, isolation_level=None)
        stack.callback(connection.close)
        # Bytes that are not valid text must reach the check of the hashes instead of failing here.
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        if _is_blank(connection):
            _make_tables(path, connection)
        _check_format(path, connection)
        _write_ahead(path, connection, busy_seconds)
        key = _read_key(path, connection)
        stack.pop_all()
    return connection, key


@contextmanager
def explained(path: Path, busy_seconds: float) -> Iterator[None]:
    """Turn errors of SQLite into messages that say what is wrong with the ledger and what to do."""
    try:
        yield
    except UnicodeDecodeError as error:  # in a message of SQLite that quotes damaged bytes
        raise _no_ledger(path, "or is damaged (a text is not UTF-8)") from error
    except sqlite3.DatabaseError as error:
        match getattr(error, "sqlite_errorcode", 0) & 0xFF:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                raise ScumbleError(
                    f"The ledger {path} has been locked by another process for more than {busy_seconds:g} seconds. "
                    "Nothing was written to it. Wait until that process has finished, then try again."
                ) from error
            case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
                raise _no_ledger(path, f"or is damaged ({error})") from error
            case _:
                raise ScumbleError(
                    f"The ledger {path} cannot be used: {error}. Check that its disk has free space and that you may "
                    "write to it and to its folder, or name another with --ledger or SCUMBLE_LEDGER."
                ) from error


def _make_file(path: Path) -> None:
    """Create the file if it does not exist, readable by its owner only, because it will contain the key.

    An existing file is never opened here: closing it would drop the locks that SQLite holds on it in this process.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass  # another process created it first; a dangling link or a file in place of the folder is found below
    except OSError as error:
        raise ScumbleError(
            f"The ledger {path} cannot be created: {error.strerror}. Name a writable place with --ledger or "
            "SCUMBLE_LEDGER."
        ) from error
    if not path.is_file():
        raise InputError(f"The ledger {path} is not a file. Name one with --ledger or SCUMBLE_LEDGER.")


def _is_blank(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return tables == 0 and _pragma(connection, "application_id") == 0


def _make_tables(path: Path, connection: sqlite3.Connection) -> None:
    """Create an empty ledger in one transaction, unless another process has done so meanwhile.

    SQLite treats any file of a few bytes as an empty database and would overwrite it; only an empty file is ours.
    """
    connection.execute("BEGIN IMMEDIATE")
    if _is_blank(connection):
        if path.stat().st_size > 0:
            raise _no_ledger(path, "but some other file")
        # Imports OpenDP, which is slow and needed only when a ledger is created.
        from scumble.privacy.noise import secret_key

        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('key', ?)", (secret_key(),))
    connection.execute("COMMIT")


def _check_format(path: Path, connection: sqlite3.Connection) -> None:
    if _pragma(connection, "application_id") != APPLICATION:
        raise _no_ledger(path, "but another program's database")
    version = _pragma(connection, "user_version")
    if version != FORMAT:
        raise InputError(
            f"The ledger {path} has format {version}; this version of scumble reads format {FORMAT}. Use the version "
            "that wrote it, or a newer one."
        )
    for table, columns in _COLUMNS.items():
        found = connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchall()
        # A view could compute rows without end.
        if (
            found != [("table",)]
            or tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})")) != columns
        ):
            raise _no_ledger(path, f"or is damaged (its table {table} is missing or has other columns)")


def _write_ahead(path: Path, connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Turn on write-ahead logging, flushed to disk with every commit.

    SQLite ignores its busy timeout here, so two processes that open a new ledger at the same time could collide:
    hence the loop.
    """
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            mode = _pragma(connection, "journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise ScumbleError(
            f"The file system of the ledger {path} does not support write-ahead logging. Put it on a local disk."
        )
    connection.execute("PRAGMA synchronous = FULL")


def _read_key(path: Path, connection: sqlite3.Connection) -> bytes:
    row = connection.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()
    if row is None or not isinstance(row[0], bytes) or len(row[0]) != 32:
        raise _no_ledger(path, "or is damaged (its key is missing)")
    return row[0]


def _pragma(connection: sqlite3.Connection, pragma: str) -> object:
    (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    return value


def _no_ledger(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} is not a ledger of scumble, {what}. Restore it from a backup, or name another file with --ledger or "
        "SCUMBLE_LEDGER."
    )
