"""Database tables as sources, `DATABASE::TABLE`: a DuckDB file, and a PostgreSQL server that the tests start."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from postgres_server import running_server
from table_twins import Row, coded, rows_of

from scumble import release
from scumble.demo.patients import patients, patients_schema
from scumble.engines import ENGINES
from scumble.engines.arrow_values import python_values
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import Schema
from scumble.sources import check_columns, open_source

TYPED = parse_schema(
    """
scumble: schema/1
attributes:
  day: {taxonomy: {Any: {2020-01-31: , 2020-02-01: }}, outside: clamp, missing: '?'}
  yes: {taxonomy: {Any: {'true': , 'false': }}, outside: clamp, missing: '?'}
  price: {numeric: {low: 0, high: 3, step: 0.1}, missing: '?'}
  Odd "name": {taxonomy: {Any: {"it's, a": , b: }}, outside: clamp, missing: '?'}
"""
)
TYPES = {"day": "date", "yes": "boolean", "price": "numeric(6, 3)", 'Odd "name"': "text"}
VALUES = [
    ("'2020-01-31'", "true", "0.7", "'it''s, a'"),
    ("'2020-02-01'", "false", "2.675", "'b'"),
    ("'1999-01-01'", "NULL", "-1", "'c'"),
    ("NULL", "true", "NULL", "NULL"),
]
CODES = Counter([(0, 0, 7, 0), (1, 1, 26, 1), (2, 2, 0, 2), (2, 0, 30, 2)])


NUMBER, TEXT = ValueKind.NUMBER, ValueKind.TEXT
LARGEST_UNSIGNED, LARGEST_SIGNED = (canonical(float(2**bits))[1] for bits in (128, 127))
UUID = "510f66dc-cdc2-4a06-99dd-f39ed0617de2"


def create(table: str) -> list[str]:
    """SQL that both databases understand."""
    columns = ", ".join('"' + name.replace('"', '""') + f'" {kind}' for name, kind in TYPES.items())
    rows = ", ".join(f"({', '.join(row)})" for row in VALUES)
    return [f"CREATE TABLE {table} ({columns})", f"INSERT INTO {table} VALUES {rows}"]


def read(data: str, schema: Schema) -> Counter[Row]:
    source = open_source(data)
    check_columns(source, schema.columns)
    engine = ENGINES["memory"].open(source.batches(schema.columns), schema)
    return rows_of(engine)


def refusal(data: str, schema: Schema = TYPED) -> str:
    with pytest.raises(InputError) as caught:
        read(data, schema)
    assert caught.value.__cause__ is None
    return str(caught.value)


# DuckDB --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("duckdb") / "hospital.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", patients(5_000, 1))
        connection.execute("CREATE TABLE patients AS SELECT * FROM arrow")
        connection.execute("CREATE VIEW adults AS SELECT * FROM patients WHERE age >= 18")
        connection.execute("CREATE SCHEMA wards")
        connection.execute("CREATE TABLE wards.nested AS SELECT [1, 2] AS day, true AS yes, 1 AS price, 'b' AS x")
        for statement in create("typed"):
            connection.execute(statement)
    return path


def test_a_table_and_a_view_of_duckdb(database: Path) -> None:
    table = patients(5_000, 1)
    assert read(f"{database}::patients", patients_schema()) == coded(table, patients_schema())
    adults = table.filter(pa.compute.greater_equal(table["age"], 18))
    assert read(f"{database}::adults", patients_schema()) == coded(adults, patients_schema())
    assert open_source(f"{database}::patients").name == "patients"


def test_types_of_duckdb_are_read_as_their_text(database: Path) -> None:
    assert read(f"{database}::typed", TYPED) == CODES


def test_what_is_no_table_of_duckdb(database: Path, tmp_path: Path) -> None:
    assert "absent.duckdb does not exist" in refusal(f"{tmp_path}/absent.duckdb::x")
    assert "has no table 'nobody'" in refusal(f"{database}::nobody")
    assert "has none of the schema's columns" in refusal(f"{database}::patients")
    schema = parse_schema("scumble: schema/1\nattributes: {day: {taxonomy: {Any: {a: , b: }}}}")
    assert "contains lists or records" in refusal(f"{database}::wards.nested", schema)
    (tmp_path / "text.duckdb").write_text("age\nZaphod\n" * 2000, encoding="utf-8")
    assert "cannot be opened as a DuckDB database" in refusal(f"{tmp_path}/text.duckdb::x")


def test_reading_leaves_a_database_as_it_was(database: Path) -> None:
    before = database.read_bytes()
    read(f"{database}::typed", TYPED)
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["hospital.duckdb"]


DUCKDB: dict[str, tuple[str, str, tuple[ValueKind, str]]] = {
    "unsigned": ("UHUGEINT", "7", (NUMBER, "7")),
    "the largest": ("UHUGEINT", "340282366920938463463374607431768211455", (NUMBER, LARGEST_UNSIGNED)),
    "signed": ("HUGEINT", "-7", (NUMBER, "-7")),
    "large": ("HUGEINT", "170141183460469231731687303715884105727", (NUMBER, LARGEST_SIGNED)),
    "any whole number": ("BIGNUM", "12", (NUMBER, "12")),
    "bits": ("BIT", "'101'", (TEXT, "101")),
    "one of": ("ENUM('a', 'b')", "'b'", (TEXT, "b")),
    "UUID": ("UUID", f"'{UUID}'", (TEXT, UUID)),
    "interval": ("INTERVAL", "INTERVAL 1 MONTH", (TEXT, "1 month")),
    "time": ("TIME", "'09:30:00.500'", (TEXT, "09:30:00.5")),
    "time of a zone": ("TIMETZ", "'09:30:00+01'", (TEXT, "09:30:00+01")),
    "decimal": ("DECIMAL(38, 10)", "1.5", (NUMBER, "1.5")),
    "small decimal": ("DECIMAL(4, 2)", "1.5", (NUMBER, "1.5")),
    "single": ("FLOAT", "0.7", (NUMBER, "0.7")),
    "moment": ("TIMESTAMP_NS", "'2024-01-31 09:30:00'", (TEXT, "2024-01-31T09:30:00")),
    "moment of a zone": ("TIMESTAMPTZ", "'2024-01-31 09:30:00+01'", (TEXT, "2024-01-31T08:30:00Z")),
    "no date": ("DATE", "'infinity'", (ValueKind.OFF, "")),
    "bytes": ("BLOB", "'\\xFF'::BLOB", (ValueKind.OFF, "")),
    "JSON": ("JSON", "'{}'", (TEXT, "{}")),
}


@pytest.mark.parametrize("name", DUCKDB)
def test_every_type_of_duckdb_has_a_reading(tmp_path: Path, name: str) -> None:
    kind, value, expected = DUCKDB[name]
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people (x {kind})")
        connection.execute(f"INSERT INTO people VALUES ({value}), (NULL)")
    assert readings(f"{tmp_path}/x.duckdb::people") == [expected, (ValueKind.MISSING, "")]


def readings(data: str) -> list[tuple[ValueKind, str]]:
    source = open_source(data)
    check_columns(source, ["x"])
    columns = [batch.column("x") for batch in source.batches(["x"])]
    assert all(column.type == source.kinds().field("x").type for column in columns)  # type: ignore[union-attr]
    plain = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in columns]
    return [canonical(value) for column in plain for value in python_values(column)]


@pytest.mark.parametrize(
    "kind", ["INT[]", "INT[2]", "STRUCT(a INT)", "MAP(INT, INT)", "UNION(a INT, b VARCHAR)", "VARIANT"]
)
def test_nested_types_of_duckdb_are_refused_before_the_charge(tmp_path: Path, kind: str) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people (x {kind})")
    with pytest.raises(InputError, match="contains lists or records"):
        check_columns(open_source(f"{tmp_path}/x.duckdb::people"), ["x"])


SCHEMA_OF_X = """
scumble: schema/1
target: ill
attributes: {x: {taxonomy: {Any: {a: , b: }}, outside: clamp}, ill: {classes: ["no", "yes"], outside: clamp}}
"""


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A database beside a file that it must not read, with a view that reads the file."""
    (tmp_path / "else.csv").write_text("x\nZaphod\n", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "ok.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' AS x, 'no' AS ill")
        connection.execute("CREATE VIEW inside AS SELECT * FROM people")
        connection.execute(f"CREATE VIEW outside AS SELECT * FROM '{tmp_path}/else.csv'")
        connection.execute("CREATE TABLE gone (x VARCHAR)")
        connection.execute("CREATE VIEW broken AS SELECT x FROM gone")
        connection.execute("ALTER TABLE gone RENAME COLUMN x TO y")
    return tmp_path


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("outside", "outside the database"),
        ("{}/else.csv", "outside the database"),
        ("broken", "does not fit the tables"),
        ("connection", "has no table"),
        ("self", "has no table"),
    ],
)
def test_a_table_of_duckdb_reads_nothing_but_its_database(beside: Path, table: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        release(
            f"{beside}/ok.duckdb::{table.format(beside)}",
            schema=parse_schema(SCHEMA_OF_X),
            out=beside / "out",
            ledger=beside / "ledger.db",
            method="diffgen",
            rounds=1,
            epsilon="1",
        )
    assert caught.value.__cause__ is None and "Zaphod" not in str(caught.value)
    assert not (beside / "ledger.db").exists()


def test_ordinary_tables_and_views_of_duckdb_are_read(beside: Path) -> None:
    for table in ("people", "inside", "main.people"):
        assert readings(f"{beside}/ok.duckdb::{table}") == [(TEXT, "a")]


# PostgreSQL ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_server() as address:
        yield address


@pytest.fixture(scope="module")
def filled(server: str) -> str:
    dbapi: Any = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("patients", patients(5_000, 1), mode="create")
        cursor.execute("CREATE SCHEMA wards")
        for statement in create("wards.typed"):
            cursor.execute(statement)
        connection.commit()
    return server


@pytest.mark.postgres
def test_tables_of_postgresql(filled: str) -> None:
    assert read(f"{filled}::patients", patients_schema()) == coded(patients(5_000, 1), patients_schema())
    assert read(f"{filled}::wards.typed", TYPED) == CODES
    assert open_source(f"{filled}::wards.typed").name == "wards.typed"


@pytest.mark.postgres
def test_what_is_no_table_of_postgresql(filled: str) -> None:
    assert "has no table 'nobody'" in refusal(f"{filled}::nobody")
    assert "has none of the schema's columns" in refusal(f"{filled}::patients")
    message = refusal("postgresql://owner:secret@127.0.0.1:1/postgres::patients")
    assert "postgresql://owner@127.0.0.1:1/postgres cannot be read" in message
    assert "secret" not in message
    assert "does not name a table" in refusal("postgresql://owner:secret@127.0.0.1/postgres")


@pytest.mark.postgres
def test_nothing_is_written(filled: str) -> None:
    """The query runs in a read-only transaction, so a view that writes is refused."""
    dbapi: Any = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with dbapi.connect(filled) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SEQUENCE counter")
        cursor.execute("CREATE VIEW writing AS SELECT nextval('counter') AS price")
        connection.commit()
    schema = parse_schema("scumble: schema/1\nattributes: {price: {numeric: {low: 0, high: 3, step: 1}}}")
    assert "cannot be read" in refusal(f"{filled}::writing", schema)


POSTGRES: dict[str, tuple[str, str, tuple[ValueKind, str]]] = {
    "numeric": ("numeric", "1.50", (NUMBER, "1.5")),
    "numeric with a scale": ("numeric(6, 3)", "1.5", (NUMBER, "1.5")),
    "whole numeric": ("numeric", "10000000001", (NUMBER, "10000000001")),
    "not a number": ("numeric", "'NaN'", (ValueKind.MISSING, "")),
    "infinite": ("numeric", "'-Infinity'", (NUMBER, "-inf")),
    "money": ("money", "1.5", (NUMBER, "1.5")),
    "single": ("real", "0.7", (NUMBER, "0.7")),
    "padded": ("char(3)", "'a'", (TEXT, "a")),
    "UUID": ("uuid", f"'{UUID}'", (TEXT, UUID)),
    "interval": ("interval", "'1 month'", (TEXT, "1 mon")),
    "time": ("time", "'09:30:00.50'", (TEXT, "09:30:00.5")),
    "time of a zone": ("timetz", "'09:30:00+01'", (TEXT, "09:30:00+01")),
    "moment of a zone": ("timestamptz", "'2024-01-31 09:30:00+01'", (TEXT, "2024-01-31T08:30:00Z")),
    "no moment": ("timestamp", "'infinity'", (ValueKind.OFF, "")),
    "bytes": ("bytea", "'\\xff'", (ValueKind.OFF, "")),
    "bits": ("bit(3)", "'101'", (TEXT, "101")),
    "JSON": ("jsonb", "'{}'", (TEXT, "{}")),
    "range": ("int4range", "'[1,3)'", (TEXT, "[1,3)")),
    "object number": ("oid", "4294967295", (NUMBER, "4294967295")),
}


@pytest.mark.postgres
def test_every_type_of_postgresql_has_a_reading(server: str) -> None:
    dbapi: Any = pytest.importorskip("adbc_driver_postgresql.dbapi")
    for place, (kind, value, _) in enumerate(POSTGRES.values()):
        with dbapi.connect(server) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE typed{place} (x {kind})")
            cursor.execute(f"INSERT INTO typed{place} VALUES ({value}), (NULL)")
            connection.commit()
    found = {name: readings(f"{server}::typed{place}") for place, name in enumerate(POSTGRES)}
    assert found == {name: [expected, (ValueKind.MISSING, "")] for name, (_, _, expected) in POSTGRES.items()}
