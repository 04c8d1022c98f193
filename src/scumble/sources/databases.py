"""Tables in databases, `DATABASE::TABLE`: DuckDB reads a DuckDB file, the ADBC driver PostgreSQL; SQLite has a module.

DuckDB could read PostgreSQL through an extension, but downloads that extension at run time. The ADBC driver is an
ordinary dependency (the extra `postgres`) and also returns Arrow batches.

`scumble.sources.database_columns` says how each type is read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.errors import InputError, ScumbleError
from scumble.installation import needing
from scumble.sources.addresses import is_postgres, shown_address
from scumble.sources.database_columns import (
    DatabaseColumn,
    duckdb_column,
    kinds_of,
    named,
    postgres_column,
    query,
    quoted,
    read_batches,
)
from scumble.sources.source import RowProgress, Source
from scumble.sources.sqlite import SQLiteTable, is_sqlite

BATCH_ROWS = 1 << 16
CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "500MB",
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
}
"""Options of DuckDB: a table or view reads this one database, no other file, no variable of Python, no network."""


def database_table(data: str) -> Source | None:
    """The source for `DATABASE::TABLE`; None if `data` is not such an address."""
    database, apart, table = data.rpartition("::")
    if is_postgres(data):
        if not apart or not table:
            raise InputError(
                f"{shown_address(data.removesuffix('::'))} does not name a table. Write "
                "postgresql://host/database::table."
            )
        scheme, _, rest = database.partition("://")
        return PostgresTable(address=f"{scheme.lower()}://{rest}", table=table)
    if not apart or Path(data).exists():
        return None
    if not Path(database).is_file():
        raise InputError(
            f"The database {shown_address(database)} does not exist. Write file.duckdb::table, file.sqlite::table or "
            "postgresql://host/database::table."
        )
    if is_sqlite(Path(database)):
        return SQLiteTable(path=Path(database), table=table)
    return DuckDBTable(path=Path(database), table=table)


@dataclass(frozen=True, kw_only=True)
class DuckDBTable:
    """A table or view of a DuckDB file, opened read-only with a memory limit."""

    path: Path
    table: str

    @property
    def name(self) -> str:
        return self.table

    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds().names)

    def kinds(self) -> pa.Schema:
        return kinds_of(self._declared())

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        wanted = named(self._declared(), columns)
        with _refused_by_duckdb(self), self._connected() as connection:
            yield from read_batches(connection.sql(query(self.table, wanted)).to_arrow_reader(BATCH_ROWS), wanted)

    def _declared(self) -> list[DatabaseColumn]:
        with _refused_by_duckdb(self), self._connected() as connection:
            relation = connection.sql(f"SELECT * FROM {quoted(self.table)} LIMIT 0")
            fields = relation.to_arrow_reader(1).schema
            return [
                duckdb_column(field.name, field.type, str(declared.id))
                for field, declared in zip(fields, relation.types, strict=True)
            ]

    def _connected(self) -> Any:
        with needing("duckdb"):
            import duckdb

        return duckdb.connect(str(self.path), read_only=True, config=CLOSED)


@dataclass(frozen=True, kw_only=True)
class PostgresTable:
    """A table or view in PostgreSQL, streamed by COPY. libpq finds passwords in its usual places."""

    address: str
    table: str

    @property
    def name(self) -> str:
        return self.table

    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds().names)

    def kinds(self) -> pa.Schema:
        return kinds_of(self._declared())

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        wanted = named(self._declared(), columns)
        with _refused_by_postgres(self), self._cursor() as cursor:
            cursor.execute(query(self.table, wanted))
            yield from read_batches(cursor.fetch_record_batch(), wanted)

    def _declared(self) -> list[DatabaseColumn]:
        with _refused_by_postgres(self), self._cursor() as cursor:
            fields = cursor.adbc_execute_schema(f"SELECT * FROM {quoted(self.table)}")
        return [postgres_column(field) for field in fields]

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        from adbc_driver_postgresql.dbapi import connect

        with connect(self.address) as connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            yield cursor


@contextmanager
def _refused_by_duckdb(source: DuckDBTable) -> Iterator[None]:
    with needing("duckdb"):
        import duckdb

    try:
        yield
    except duckdb.CatalogException:
        raise InputError(
            f"{source.path} has no table {source.table!r}. List its tables: duckdb FILE 'SHOW TABLES'."
        ) from None
    except duckdb.PermissionException:
        raise InputError(
            f"{source.path}: {source.table!r} is or uses a file outside the database, which is not read. Copy the rows "
            "into a table of the database, or give that file itself."
        ) from None
    except duckdb.BinderException:
        raise InputError(
            f"{source.path}: the view {source.table!r} does not fit the tables that it uses. Correct the view."
        ) from None
    except duckdb.IOException:
        raise InputError(
            f"{source.path} cannot be opened as a DuckDB database. Check that it is one, and that no other program is "
            "writing to it."
        ) from None
    except duckdb.Error as error:
        raise ScumbleError(f"DuckDB failed while reading {source.path}: {type(error).__name__}. Try again.") from None


@contextmanager
def _refused_by_postgres(source: PostgresTable) -> Iterator[None]:
    """Report failures by their type only: the server's message may repeat values of rows, or the password."""
    with needing("postgres"):
        import adbc_driver_postgresql.dbapi  # noqa: F401, I001 - the package that the extra names, first
        import adbc_driver_manager

    shown = shown_address(source.address)
    try:
        yield
    except adbc_driver_manager.ProgrammingError:
        raise InputError(
            f"{shown} has no table {source.table!r} that this user may read. Correct the name, or grant SELECT on it."
        ) from None
    except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
        raise InputError(
            f"{shown} cannot be read: {type(error).__name__}. Check the address, the user and the password, and that "
            "the server runs."
        ) from None
