"""How a declared type is read, without a database: as it is, as a number or as text."""

import pyarrow as pa
import pytest

from scumble.sources.database_columns import (
    DatabaseColumn,
    duckdb_column,
    kinds_of,
    named,
    postgres_column,
    query,
    read_batches,
)
from scumble.sources.object_column import ObjectType


@pytest.mark.parametrize(
    ("declared", "arrow", "read"),
    [
        ("double", pa.float64(), pa.float64()),
        ("uhugeint", pa.decimal128(38, 0), ObjectType()),
        ("time with time zone", pa.time64("us"), pa.string()),
        ("a type of a later version", pa.binary(), pa.string()),
        ("list", pa.list_(pa.int8()), pa.list_(pa.int8())),
    ],
)
def test_types_of_duckdb(declared: str, arrow: pa.DataType, read: pa.DataType) -> None:
    assert duckdb_column("x", arrow, declared).kind == read


@pytest.mark.parametrize(
    ("declared", "arrow", "read"),
    [
        ("float4", pa.float32(), pa.float32()),
        ("numeric", pa.string(), ObjectType()),
        ("money", pa.int64(), ObjectType()),
        ("bpchar", pa.string(), pa.string()),
        ("inet", pa.opaque(pa.binary(), "inet", "PostgreSQL"), pa.string()),
        ("_int4", pa.list_(pa.int32()), pa.list_(pa.int32())),
    ],
)
def test_types_of_postgresql(declared: str, arrow: pa.DataType, read: pa.DataType) -> None:
    field = pa.field("x", arrow, metadata={"POSTGRESQL:type": declared})
    assert postgres_column(field).kind == read
    assert postgres_column(pa.field("x", pa.int8())).kind == pa.int8()


def test_a_query_names_the_wanted_columns_in_their_order_and_numbers_become_numbers() -> None:
    columns = [duckdb_column("n", pa.int8(), "bignum"), DatabaseColumn(name='a "{}" b', kind=pa.int8())]
    wanted = named(columns, ['a "{}" b', "n"])
    assert kinds_of(wanted).types == [pa.int8(), ObjectType()]
    assert query("t", wanted) == 'SELECT "a ""{}"" b" AS "a ""{}"" b", CAST("n" AS VARCHAR) AS "n" FROM "t"'
    rows = pa.record_batch({"a": pa.array([1, 2], pa.int8()), "n": ["1.50", "no number"]})
    (batch,) = read_batches([rows], wanted)
    assert batch.schema.names == ['a "{}" b', "n"]
    assert batch.column("n").storage.to_pylist() == ["n1.5", "o"]
