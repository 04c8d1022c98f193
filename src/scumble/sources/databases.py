"""Tables in databases, `DATABASE::TABLE`: DuckDB reads a DuckDB file, the ADBC driver reads PostgreSQL.

DuckDB could read PostgreSQL through an extension, but downloads that extension at run time. The ADBC driver is an
ordinary dependency (the extra `postgres`) and also returns Arrow batches.

Numbers, text, booleans, dates and timestamps are read as they are. Values of other types are read as the text that the
database writes for them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.errors import InputError, ScumbleError
from scumble.sources.source import RowProgress, Source

BATCH_ROWS = 1 << 16
MEMORY_LIMIT = "500MB"
POSTGRES = ("postgresql://", "postgres://")


def database_table(data: str) -> Source | None:
    """The source for `DATABASE::TABLE`; None if `data` is not such an address."""
    database, apart, table = data.rpartition("::")
    if data.startswith(POSTGRES):
        if not apart or not table:
            raise InputError(
                f"{_without_password(data)} does not name a table. Write postgresql://host/database::table."
            )
        return PostgresTable(address=database, table=table)
    if not apart or Path(data).exists():
        return None
    if not Path(database).is_file():
        raise InputError(f"The DuckDB file {database} does not exist. Write file.duckdb::table.")
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
        with _refused_by_duckdb(self), self._connected() as connection:
            return connection.sql(f"SELECT * FROM {_quoted(self.table)} LIMIT 0").to_arrow_reader(1).schema

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        query = _query(self.table, columns, self.kinds())
        with _refused_by_duckdb(self), self._connected() as connection:
            yield from connection.sql(query).to_arrow_reader(BATCH_ROWS)

    def _connected(self) -> Any:
        import duckdb

        return duckdb.connect(str(self.path), read_only=True, config={"memory_limit": MEMORY_LIMIT})


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
        with _refused_by_postgres(self), self._cursor() as cursor:
            return cursor.adbc_execute_schema(f"SELECT * FROM {_quoted(self.table)}")

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        query = _query(self.table, columns, self.kinds())
        with _refused_by_postgres(self), self._cursor() as cursor:
            cursor.execute(query)
            yield from cursor.fetch_record_batch()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        try:
            from adbc_driver_postgresql.dbapi import connect
        except ImportError as error:
            raise InputError("PostgreSQL needs its driver. Install it: pip install 'scumble[postgres]'.") from error
        with connect(self.address) as connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            yield cursor


def _query(table: str, names: Sequence[str], kinds: pa.Schema) -> str:
    """The query for the named columns: types that `scumble.model.raw_value` reads as they are, others cast to text."""
    columns = (
        _identifier(name)
        if _is_plain(kinds.field(name).type)
        else f"CAST({_identifier(name)} AS VARCHAR) AS {_identifier(name)}"
        for name in names
    )
    return f"SELECT {', '.join(columns)} FROM {_quoted(table)}"


def _is_plain(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_string)
    more = (types.is_large_string, types.is_binary, types.is_dictionary, types.is_date, types.is_timestamp)
    return any(test(kind) for test in (*tests, *more))


def _quoted(table: str) -> str:
    """
    >>> _quoted("public.patients")
    '"public"."patients"'
    """
    return ".".join(map(_identifier, table.split(".")))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _without_password(address: str) -> str:
    """
    >>> _without_password("postgresql://ann:secret@host/people")
    'postgresql://ann@host/people'
    """
    return re.sub(r"^(\w+://[^/@:]*):[^/@]*@", r"\1@", address)


@contextmanager
def _refused_by_duckdb(source: DuckDBTable) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.CatalogException:
        raise InputError(
            f"{source.path} has no table {source.table!r}. List its tables: duckdb FILE 'SHOW TABLES'."
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
    """Report failures by their type only: the server's message may repeat values of rows."""
    import adbc_driver_manager

    shown = _without_password(source.address)
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
