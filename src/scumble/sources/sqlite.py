"""Tables of SQLite, `FILE::TABLE`.

SQLite stores a type with every value; what a column declares is only a preference. So each value is read on its own.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from scumble.errors import InputError
from scumble.sources.database_columns import identifier
from scumble.sources.object_column import object_batch
from scumble.sources.source import RowProgress

BATCH_ROWS = 1 << 14
ENDINGS = frozenset({".sqlite", ".sqlite3"})
KNOWN = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE"
FIRST_BYTES = b"SQLite format 3\x00"


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database, by its ending or its first bytes."""
    if path.suffix.lower() in ENDINGS:
        return True
    with path.open("rb") as file:
        return file.read(len(FIRST_BYTES)) == FIRST_BYTES


@dataclass(frozen=True, kw_only=True)
class SQLiteTable:
    """A table or view of a SQLite file, opened read-only."""

    path: Path
    table: str

    @property
    def name(self) -> str:
        return self.table

    def columns(self) -> tuple[str, ...]:
        with _refused(self), self._connected() as connection:
            if not connection.execute(KNOWN, (self.table,)).fetchone():
                raise InputError(f"{self.path} has no table {self.table!r}. List its tables: sqlite3 FILE .tables")
            described = connection.execute(f"SELECT * FROM {identifier(self.table)} LIMIT 0").description
            return tuple(name for name, *_ in described)

    def kinds(self) -> None:
        return None

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        wanted = ", ".join(map(identifier, columns))
        with _refused(self), self._connected() as connection:
            cursor = connection.execute(f"SELECT {wanted} FROM {identifier(self.table)}")
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield object_batch(columns, zip(*rows, strict=True))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        address = f"file:{quote(str(self.path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = bytes  # text need not be UTF-8; such a value is off the domain
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            yield connection


@contextmanager
def _refused(source: SQLiteTable) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError:
        raise InputError(
            f"{source.path}: {source.table!r} cannot be read. Check that the file can be opened, that no other program "
            "is writing to it, and that a view fits its tables."
        ) from None
    except sqlite3.DatabaseError:
        raise InputError(f"{source.path} is not a SQLite database, or is damaged. Check the file.") from None
