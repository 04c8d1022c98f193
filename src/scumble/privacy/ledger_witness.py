"""The witness: path and head of every ledger that this user has opened, in a file apart from the ledgers.

A hash chain cannot show that its end is missing, that it was replaced by an older copy, or that the file is gone. The
witness can. When a ledger is opened, the entry that the witness saw last must still be in it, with the same number and
the same hash. Otherwise the ledger is refused until the owner declares what happened; the declaration becomes an entry.

Ledger and witness are two files, and a run can be killed between their updates. The order of the steps makes this
harmless:

1. Writing: first the ledger commits, durably; then the witness records the new head, durably; then the call returns. So
   the witness never knows an entry that is not in the ledger, and an honest ledger is never refused. After a kill in
   between, the ledger is ahead of the witness. That is accepted, because the entry that the witness knows is still in
   the chain, and the next call records the new head. It is also how a ledger is shared by two users with two witnesses.
   Nobody acted on a charge that the witness has not recorded: no row is read before the call returns. If that charge
   is lost as well, nothing was released under it.
2. Reading: the witness is read before the ledger. In between, another process can only add to the ledger.
3. Several processes: a head replaces only a head with a smaller number, in one statement. The slower of two processes
   cannot move the witness back.
4. Declaring: the owner's declaration names the lost heads and is written to the ledger first. A ledger that contains
   the declaration is accepted by a witness that still has those heads. So a kill in between is harmless here, too.

A witness that is new, or that has not seen a ledger before, knows nothing that could be missing. The first opening says
so: whoever deletes the witness, or names another one, does not make an older copy of the ledger look complete.

The witness cannot prevent anything: whoever can write both files can change both. Keep it on another disk or under
another account (`SCUMBLE_WITNESS`) where that matters. It contains paths and keyed hashes, nothing about rows.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from scumble.errors import CheckError, InputError, ScumbleError
from scumble.privacy.ledger_entries import Head
from scumble.privacy.ledger_place import check_one_name, make_file

APPLICATION = int.from_bytes(b"scuw", "big")
FORMAT = 1
WHAT = "The witness"
REMEDY = "Name another place with --witness or SCUMBLE_WITNESS."

# Paths are bytes, as the system has them: they need not be valid text.
_TABLES = (
    """CREATE TABLE heads (
        identity TEXT PRIMARY KEY,
        sequence INTEGER NOT NULL,
        hash TEXT NOT NULL,
        path BLOB NOT NULL,
        time TEXT NOT NULL
    )""",
    "CREATE TABLE paths (path BLOB PRIMARY KEY, identity TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the witness saw of a ledger last: its head, where, and when."""

    head: Head
    path: Path
    time: str


class Witness:
    """An open witness. Use it in one thread; any number of processes may have it open at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 10) -> None:
        """Open the witness at `path`; create it and its folders if they do not exist."""
        self.path = path
        self.is_new = False
        """Whether it was created by this call: it has seen nothing yet."""
        self._busy_seconds = busy_seconds
        check_one_name(path, what=WHAT)
        make_file(path, what=WHAT, remedy=REMEDY)
        with self._explained(), ExitStack() as stack:
            self._connection = sqlite3.connect(path.absolute(), timeout=busy_seconds, isolation_level=None)
            stack.callback(self._connection.close)
            self._make_tables()
            self._write_ahead()
            stack.pop_all()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def at(self, path: Path) -> Seen | None:
        """The ledger that was last opened at a path."""
        query = f"{_SELECT} WHERE identity = (SELECT identity FROM paths WHERE path = ?)"
        return self._find(query, _place(path))

    def of(self, identity: str) -> Seen | None:
        """A ledger by its identity, wherever it was opened."""
        return self._find(f"{_SELECT} WHERE identity = ?", identity)

    def record(self, path: Path, head: Head, *, instead_of: Seen | None = None) -> None:
        """Record the head of the ledger at `path`, unless a later one is recorded.

        `instead_of` is what was recorded of a ledger that the owner declared to be older now: it is replaced.
        """
        place, now = _place(path), datetime.now(UTC).isoformat(timespec="seconds")
        before = -1 if instead_of is None else instead_of.head.sequence
        with self._explained(), self._transaction():
            self._connection.execute(
                "INSERT INTO heads VALUES (?, ?, ?, ?, ?) ON CONFLICT (identity) DO UPDATE SET "
                "sequence = excluded.sequence, hash = excluded.hash, path = excluded.path, time = excluded.time "
                "WHERE excluded.sequence > sequence OR excluded.hash = hash OR sequence = ?",
                (head.identity, head.sequence, head.hash, place, now, before),
            )
            found = self._connection.execute(
                "SELECT hash FROM heads WHERE identity = ? AND sequence = ?", (head.identity, head.sequence)
            ).fetchone()
            if found not in (None, (head.hash,)):
                raise CheckError(
                    f"The ledger {path} has a copy that was used at the same time: entry {head.sequence} is another "
                    "one there. Use one of the two files only, and remove the other."
                )
            self._connection.execute("INSERT OR REPLACE INTO paths VALUES (?, ?)", (place, head.identity))

    def _find(self, query: str, value: str | bytes) -> Seen | None:
        with self._explained():
            row = self._connection.execute(query, (value,)).fetchone()
        if row is None:
            return None
        identity, sequence, digest, place, time = row
        types = (isinstance(sequence, int), isinstance(place, bytes), isinstance(digest, str), isinstance(time, str))
        if not all(types):
            raise self._damaged("an entry has another type")
        head = Head(identity=identity, sequence=sequence, hash=digest)
        return Seen(head=head, path=Path(os.fsdecode(place)), time=time)

    def _make_tables(self) -> None:
        if self._pragma("application_id") == 0:
            with self._transaction():
                (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if tables == 0:
                    # SQLite treats any file of a few bytes as an empty database; only an empty file is ours.
                    if self.path.stat().st_size > 0:
                        raise self._damaged("some other file")
                    for statement in _TABLES:
                        self._connection.execute(statement)
                    self.is_new = True
        if (self._pragma("application_id"), self._pragma("user_version")) != (APPLICATION, FORMAT):
            raise self._damaged(f"another program's database, or not of format {FORMAT}")

    def _write_ahead(self) -> None:
        """Use a write-ahead log, which takes one flush for each record instead of four.

        A file system that does not support it, or a process that uses the witness at this moment, leaves a rollback
        journal in use. Both are durable.
        """
        with suppress(sqlite3.OperationalError):
            self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")

    def _pragma(self, name: str) -> object:
        (value,) = self._connection.execute(f"PRAGMA {name}").fetchone()
        return value

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite into messages that say what is wrong with the witness and what to do."""
        try:
            yield
        except UnicodeDecodeError as error:
            raise self._damaged("a text is not UTF-8") from error
        except sqlite3.DatabaseError as error:
            match getattr(error, "sqlite_errorcode", 0) & 0xFF:
                case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                    raise ScumbleError(
                        f"The witness {self.path} has been locked by another process for more than "
                        f"{self._busy_seconds:g} seconds. Wait until that process has finished, then try again."
                    ) from error
                case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
                    raise self._damaged(str(error)) from error
                case _:
                    raise ScumbleError(
                        f"The witness {self.path} cannot be used: {error}. Check that its disk has free space and that "
                        f"you may write to it and to its folder. {REMEDY}"
                    ) from error

    def _damaged(self, problem: str) -> InputError:
        return InputError(
            f"{self.path} is not a witness of scumble, or is damaged ({problem}). Restore it from a backup. {REMEDY}"
        )


_SELECT = "SELECT identity, sequence, hash, path, time FROM heads"


def _place(path: Path) -> bytes:
    """The absolute path of a file, with the links to its folder resolved."""
    return os.fsencode(path.parent.resolve() / path.name)
