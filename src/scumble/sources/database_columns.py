"""How each column of a database table is read, by the type that the database declares.

Numbers, text, booleans, dates, times and timestamps are read as they are. Numbers for which Arrow has no type arrive as
text and are read as numbers: PostgreSQL's numeric 1.50 is 1.5. Values of other types are read as the text that the
database writes for them, such as `1 month`. Lists and records keep their type, and `check_columns` refuses them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from scumble.sources.object_column import ObjectType, number_column

TEXT = "CAST({} AS VARCHAR)"
_DUCKDB_AS_THEY_ARE = frozenset(
    {
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "float", "double", "decimal", "varchar", "blob", "enum"),
        *("date", "time", "time_ns", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"),
        "timestamp with time zone",
    }
)
_DUCKDB_NUMBERS = frozenset({"uhugeint", "bignum", "varint"})
"""Whole numbers that DuckDB returns wrongly as decimals (the largest UHUGEINT is -1 there), or as bytes."""
_POSTGRES_NUMBERS = {"numeric": TEXT, "money": "CAST(CAST({} AS numeric) AS VARCHAR)", "oid": TEXT}
"""The driver returns numeric as text with trailing zeros, money as a number of cents, and large oids as negative."""
_POSTGRES_AS_TEXT = frozenset({"bpchar"})
"""The driver returns char(n) with the spaces that pad it, which do not belong to the value."""


@dataclass(frozen=True, kw_only=True)
class DatabaseColumn:
    """A column: its name, the Arrow type that is read, and the expression of SQL, with {} for the name."""

    name: str
    kind: pa.DataType
    expression: str = "{}"

    @property
    def is_number_as_text(self) -> bool:
        return isinstance(self.kind, ObjectType)


def duckdb_column(name: str, kind: pa.DataType, declared: str) -> DatabaseColumn:
    """A column of DuckDB, by the name of its type."""
    if declared in _DUCKDB_NUMBERS:
        return DatabaseColumn(name=name, kind=ObjectType(), expression=TEXT)
    if declared in _DUCKDB_AS_THEY_ARE or pa.types.is_nested(kind):
        return DatabaseColumn(name=name, kind=kind)
    return DatabaseColumn(name=name, kind=pa.string(), expression=TEXT)


def postgres_column(field: pa.Field) -> DatabaseColumn:
    """A column of PostgreSQL, by the field that the driver declares."""
    declared = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
    expression = _POSTGRES_NUMBERS.get(declared)
    if expression is not None:
        return DatabaseColumn(name=field.name, kind=ObjectType(), expression=expression)
    if (_is_plain(field.type) and declared not in _POSTGRES_AS_TEXT) or pa.types.is_nested(field.type):
        return DatabaseColumn(name=field.name, kind=field.type)
    return DatabaseColumn(name=field.name, kind=pa.string(), expression=TEXT)


def _is_plain(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    more = (types.is_binary, types.is_large_binary, types.is_date, types.is_time, types.is_timestamp)
    return any(test(kind) for test in (*tests, *more))


def kinds_of(columns: Iterable[DatabaseColumn]) -> pa.Schema:
    return pa.schema([(column.name, column.kind) for column in columns])


def named(columns: Sequence[DatabaseColumn], names: Sequence[str]) -> list[DatabaseColumn]:
    """The columns with these names, in this order."""
    by_name = {column.name: column for column in columns}
    return [by_name[name] for name in names]


def query(table: str, columns: Sequence[DatabaseColumn]) -> str:
    """
    >>> query("wards.patients", [DatabaseColumn(name="stay", kind=pa.string(), expression=TEXT)])
    'SELECT CAST("stay" AS VARCHAR) AS "stay" FROM "wards"."patients"'
    """
    return f"SELECT {expressions(columns)} FROM {quoted(table)}"


def expressions(columns: Sequence[DatabaseColumn]) -> str:
    return ", ".join(
        f"{column.expression.format(identifier(column.name))} AS {identifier(column.name)}" for column in columns
    )


def read_batches(batches: Iterable[pa.RecordBatch], columns: Sequence[DatabaseColumn]) -> Iterator[pa.RecordBatch]:
    """The batches of such a query, in which numbers that arrived as text are numbers."""
    for batch in batches:
        arrays = [
            number_column(array) if column.is_number_as_text else array
            for column, array in zip(columns, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


def quoted(table: str) -> str:
    """
    >>> quoted("public.patients")
    '"public"."patients"'
    """
    return ".".join(map(identifier, table.split(".")))


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
