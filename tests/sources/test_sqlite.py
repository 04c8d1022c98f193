"""Tables of SQLite: every value is read on its own, whatever its column declares, and nothing is written."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import scumble

from scumble.engines.arrow_values import python_values
from scumble.errors import InputError
from scumble.model.raw_value import ValueKind, canonical
from scumble.sources import check_columns, open_source, sqlite

NUMBER, TEXT, MISSING = ValueKind.NUMBER, ValueKind.TEXT, ValueKind.MISSING


def written(path: Path, *statements: str, rows: list[tuple[Any, ...]] | None = None) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        for row in rows or []:
            connection.execute(f"INSERT INTO people VALUES ({', '.join('?' * len(row))})", row)
        connection.commit()
    return path


def readings(data: str, column: str = "x") -> list[tuple[ValueKind, str]]:
    return [
        canonical(value)
        for batch in open_source(data).batches([column])
        for value in python_values(batch.column(column))
    ]


def test_a_value_is_read_by_the_type_that_is_stored_with_it(tmp_path: Path) -> None:
    values = [1, 1.5, "1.50", None, b"a", b"\xff", 2**63 - 1, "K\u00f6ln"]
    path = written(tmp_path / "people.db", "CREATE TABLE people (x)", rows=[(value,) for value in values])
    expected = [canonical(value) for value in values]
    assert readings(f"{path}::people") == expected
    assert expected[-3] == (ValueKind.OFF, "")
    declared = written(tmp_path / "declared.db", "CREATE TABLE people (x REAL)", rows=[("unknown",), (1,), ("2.50",)])
    assert readings(f"{declared}::people") == [(TEXT, "unknown"), (NUMBER, "1"), (NUMBER, "2.5")]


def test_text_that_is_not_utf8_is_off_the_domain(tmp_path: Path) -> None:
    path = written(
        tmp_path / "people.sqlite", "CREATE TABLE people (x TEXT)", "INSERT INTO people VALUES (CAST(X'4BF6' AS TEXT))"
    )
    assert readings(f"{path}::people") == [(ValueKind.OFF, "")]


def test_tables_views_odd_names_and_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BATCH_ROWS", 2)
    path = written(
        tmp_path / "odd name?#.sqlite3",
        'CREATE TABLE people ("a ""b"" x" TEXT, x)',
        "CREATE VIEW adults AS SELECT x AS x, 1 AS one FROM people WHERE x > 1",
        'CREATE TABLE "my.table" (x)',
        rows=[("a", 1), ("b", 2), ("c", 3)],
    )
    source = open_source(f"{path}::people")
    assert (source.name, source.columns(), source.kinds()) == ("people", ('a "b" x', "x"), None)
    assert [len(batch) for batch in source.batches(["x", 'a "b" x'])] == [2, 1]
    assert readings(f"{path}::people", 'a "b" x') == [(TEXT, "a"), (TEXT, "b"), (TEXT, "c")]
    assert readings(f"{path}::adults") == [(NUMBER, "2"), (NUMBER, "3")]
    assert readings(f"{path}::my.table") == []
    with pytest.raises(InputError, match="has no column 'y'"):
        check_columns(source, ["x", "y"])


def test_what_is_refused(tmp_path: Path) -> None:
    path = written(
        tmp_path / "people.sqlite",
        "CREATE TABLE people (x)",
        "CREATE VIEW broken AS SELECT absent FROM people",
    )
    for table, said in [("nobody", "has no table 'nobody'"), ("broken", "cannot be read")]:
        with pytest.raises(InputError, match=said) as caught:
            open_source(f"{path}::{table}").columns()
        assert caught.value.__cause__ is None
    (tmp_path / "text.sqlite").write_text("Zaphod" * 1000, encoding="utf-8")
    with pytest.raises(InputError, match="is not a SQLite database"):
        open_source(f"{tmp_path}/text.sqlite::people").columns()
    with pytest.raises(InputError, match=r"Name a table in it: .*people.sqlite::TABLE"):
        open_source(path)


def test_nothing_is_written(tmp_path: Path) -> None:
    path = written(tmp_path / "people.sqlite", "CREATE TABLE people (x)", rows=[(1,)])
    before = path.read_bytes()
    assert readings(f"{path}::people") == [(NUMBER, "1")]
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["people.sqlite"]


SCHEMA = """
scumble: schema/1
target: ill
attributes: {age: {numeric: {low: 0, high: 100, step: 10}}, ill: {classes: ["no", "yes"]}}
"""


def test_the_command_line_reads_sqlite(tmp_path: Path) -> None:
    rows = [(2 * (age // 2), "yes" if age > 50 else "no") for age in range(100)]
    path = written(tmp_path / "people.sqlite", "CREATE TABLE people (age INTEGER, ill TEXT)", rows=rows)
    schema, out = tmp_path / "schema.yaml", tmp_path / "out"
    schema.write_text(SCHEMA, encoding="utf-8")
    data = f"{path}::people"
    checked = scumble("schema", "check", schema, data, "--rows", "--json").json
    assert (checked["rows"]["rows"], checked["rows"]["kept"]) == (100, 100)
    assert "numeric" in scumble("schema", "draft", data, "--target", "ill").out
    made = scumble("release", data, "--schema", schema, "--out", out, "--ledger", tmp_path / "x.db", "--epsilon", "1")
    assert made.code == 0, made.err
    assert scumble("evaluate", out, "--test", data, "--json").json["majority"]
