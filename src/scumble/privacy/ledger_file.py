"""The ledger's SQLite file: how it is created, converted, read and extended, and readable messages for its failures."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scumble.errors import InputError, ScumbleError
from scumble.privacy.ledger_entries import EVENT, Entry, EntryChain, identity_of
from scumble.privacy.ledger_key import LENGTH, new_key, read_key, store_key
from scumble.privacy.ledger_place import BESIDE, check_one_name, check_private, make_file

APPLICATION = int.from_bytes(b"scum", "big")
FORMAT = 2
WITH_KEY = 1
"""The format of earlier versions, which kept the key in the ledger."""
WHAT = "The ledger"
REMEDY = "Name a writable file with --ledger or SCUMBLE_LEDGER."

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


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What the first entry of a new ledger says besides its identity, and which identities are taken."""

    stated: Mapping[str, Any]
    is_used: Callable[[str], bool]


def connect(path: Path, busy_seconds: float, origin: Origin) -> tuple[sqlite3.Connection, bytes]:
    """A connection to the ledger at `path`, created if it does not exist, and its secret key.

    A ledger of format 1, which contained its key, is converted.
    """
    for suffix in BESIDE:
        check_one_name(path.with_name(path.name + suffix), what=WHAT)
    make_file(path, what=WHAT, remedy=REMEDY)
    with explained(path, busy_seconds), ExitStack() as stack:
        connection = sqlite3.connect(path.absolute(), timeout=busy_seconds, isolation_level=None)
        stack.callback(connection.close)
        # Bytes that are not valid text must reach the check of the hashes instead of failing here.
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        if _is_blank(connection):
            _make_tables(path, connection, origin)
        version = _check_format(path, connection)
        for suffix in BESIDE:
            check_private(path.with_name(path.name + suffix), what=WHAT)
        _write_ahead(path, connection, busy_seconds)
        if version == WITH_KEY:
            _convert(path, connection)
        key = read_key(path, str(_read_meta(path, connection, "identity", str)))
        stack.pop_all()
    return connection, key


def is_missing(path: Path) -> bool:
    """Whether there is no ledger at a path: no file, or an empty one."""
    try:
        return path.stat().st_size == 0
    except OSError:
        return True  # what is wrong with the path is found when it is opened


def append(
    connection: sqlite3.Connection, chain: EntryChain, kind: str, dataset: str, body: Mapping[str, Any]
) -> Entry:
    """Append an entry to the chain and to the file, in the transaction of the caller."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    entry = chain.write(time=now, kind=kind, dataset=dataset, body=body)
    connection.execute(
        "INSERT INTO entries VALUES (:sequence, :time, :kind, :dataset, :body, :previous, :hash)", vars(entry)
    )
    return entry


def append_event(connection: sqlite3.Connection, chain: EntryChain, event: str, stated: Mapping[str, Any]) -> None:
    """Append an entry about the ledger itself."""
    append(connection, chain, EVENT, "", {"event": event, "identity": chain.identity, **stated})


def replay(connection: sqlite3.Connection, chain: EntryChain) -> None:
    """Add the entries of the file that the chain does not have yet. Raises `CheckError` at the first invalid one."""
    rows = connection.execute("SELECT * FROM entries WHERE sequence > ? ORDER BY sequence", (chain.length,))
    names = [column[0] for column in rows.description]
    for row in rows:
        chain.add(Entry(**dict(zip(names, row, strict=True))))
    (present,) = connection.execute("SELECT count(*) FROM entries").fetchone()
    given = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone() or (0,)
    if (present, *given) != (chain.length, chain.length):
        raise chain.broken(f"the file has {present} entries, but the last number given out was {given[0]}")


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


def _is_blank(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return tables == 0 and _pragma(connection, "application_id") == 0


def _make_tables(path: Path, connection: sqlite3.Connection, origin: Origin) -> None:
    """Create a ledger with its first entry in one transaction, unless another process has done so meanwhile.

    SQLite treats any file of a few bytes as an empty database and would overwrite it; only an empty file is ours.
    """
    connection.execute("BEGIN IMMEDIATE")
    if _is_blank(connection):
        if path.stat().st_size > 0:
            raise _no_ledger(path, "but some other file")
        check_private(path, what=WHAT)
        # Imports OpenDP, which is slow and needed only when a ledger is created.
        from scumble.privacy.noise import secret_key

        key = new_key(path, secret_key, is_used=origin.is_used)
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('identity', ?)", (identity_of(key),))
        append_event(connection, EntryChain(key), "created", origin.stated)
    connection.execute("COMMIT")


def _convert(path: Path, connection: sqlite3.Connection) -> None:
    """Move the key of a ledger of format 1 to a file of its own, unless another process has done so meanwhile.

    The key is durable in its file before the ledger loses it, so a run can be killed at any point.
    """
    connection.execute("PRAGMA secure_delete = ON")  # overwrites what is deleted
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _pragma(connection, "user_version") == WITH_KEY:
            key = _read_meta(path, connection, "key", bytes)
            if not isinstance(key, bytes) or len(key) != LENGTH:
                raise _no_ledger(path, "or is damaged (its key is missing)")
            chain = EntryChain(key)
            replay(connection, chain)
            store_key(path, key)
            connection.execute("DELETE FROM meta WHERE name = 'key'")
            connection.execute("INSERT INTO meta VALUES ('identity', ?)", (chain.identity,))
            append_event(connection, chain, "converted", {"from_format": WITH_KEY})
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log may still contain the key


def _check_format(path: Path, connection: sqlite3.Connection) -> int:
    """The format of the ledger, which this version can read."""
    if _pragma(connection, "application_id") != APPLICATION:
        raise _no_ledger(path, "but another program's database")
    version = _pragma(connection, "user_version")
    if version not in (WITH_KEY, FORMAT):
        raise InputError(
            f"The ledger {path} has format {version}; this version of scumble reads formats {WITH_KEY} and {FORMAT}. "
            "Use the version that wrote it, or a newer one."
        )
    for table, columns in _COLUMNS.items():
        found = connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchall()
        # A view could compute rows without end.
        if (
            found != [("table",)]
            or tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})")) != columns
        ):
            raise _no_ledger(path, f"or is damaged (its table {table} is missing or has other columns)")
    return int(str(version))


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


def _read_meta(path: Path, connection: sqlite3.Connection, name: str, kind: type) -> object:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    if row is None or not isinstance(row[0], kind):
        raise _no_ledger(path, f"or is damaged (its {name} is missing)")
    found: object = row[0]
    return found


def _pragma(connection: sqlite3.Connection, pragma: str) -> object:
    (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    return value


def _no_ledger(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} is not a ledger of scumble, {what}. Restore it from a backup, or name another file with --ledger or "
        "SCUMBLE_LEDGER."
    )
