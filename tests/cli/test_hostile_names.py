"""Names from others: control characters do not reach the terminal, formulas do not reach tables, passwords nothing."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import SCHEMA, people, release, scumble

from scumble.cli import output
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.foreign.text import UNPRINTABLE, printable
from scumble.joint.network.certificates import check_dates, make_key
from scumble.sources import check_columns, open_source
from scumble.sources.databases import PostgresTable, database_table

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(100))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


def test_escapes_in_the_name_of_a_file_are_printed_as_text(folder: Path) -> None:
    for ended in (release(f"absent{ESCAPES}.csv"), scumble("verify", f"absent{ESCAPES}"), release(schema=ESCAPES)):
        assert ended.code == 2
        assert not UNPRINTABLE.search(ended.out + ended.err)
        assert "\\u001b" in ended.err


def test_escapes_in_json_are_those_of_json(folder: Path) -> None:
    name = f"out{ESCAPES}"
    ended = scumble("release", "people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--out", name, "--json")
    assert not UNPRINTABLE.search(ended.out)
    assert json.loads(ended.out)["release"] == name
    listed = scumble("verify", name)
    assert listed.code == 0
    assert not UNPRINTABLE.search(listed.out)


def test_printable_keeps_letters_and_line_ends() -> None:
    assert printable("größer\t≤ 3\n") == "größer\t≤ 3\n"


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@SUM(A1)", "\tx"])
def test_a_name_that_is_a_formula_is_refused_before_the_charge(folder: Path, name: str) -> None:
    (folder / "schema.yaml").write_text(SCHEMA.replace("  age:", f"  {json.dumps(name)}:"))
    ended = release()
    assert ended.code == 2
    assert "starts like a formula" in ended.error
    (folder / "schema.yaml").write_text(SCHEMA.replace("  age: {", f"  age: {{column: {json.dumps(name)}, "))
    (folder / "people.csv").write_text(people(100).replace("age,", f'"{name}",', 1))
    assert release().code == 0


@pytest.mark.parametrize("days", [-4000, 30])
def test_a_certificate_that_is_not_valid_today_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    check_dates(make_key("east", tmp_path / "valid"), "east")

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return datetime.now(UTC) + timedelta(days=days)

    with monkeypatch.context() as changed:
        changed.setattr("scumble.joint.network.certificates.datetime", Clock)
        made = make_key("east", tmp_path / "made")
    with pytest.raises(InputError, match=r"The certificate of east is valid from .*, not today"):
        check_dates(made, "east")


PASSWORDS = ("secret", "se/cret", "se@cret", "se?cret", "se:cret", "s@e/c?r#et", "100%secret", "se@host/cret")


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:{}@127.0.0.1:1/people",
        "postgresql://127.0.0.1:1/people?password={}",
        "postgresql://ann@127.0.0.1:1/people?sslmode=disable&password={}&user=ann",
        "postgresql:///people?password={}",
        "postgres://ann:{}@/people",
    ],
)
def test_no_password_is_shown(address: str, password: str) -> None:
    written = address.format(password)
    pieces = [piece for piece in ("secret", "cret", password) if piece in password]
    with pytest.raises(InputError) as unnamed:
        database_table(written)
    source = database_table(f"{written}::patients")
    assert isinstance(source, PostgresTable)
    with pytest.raises(InputError) as unreachable:
        source.columns()
    for caught in (unnamed, unreachable):
        assert not any(piece in str(caught.value) for piece in pieces)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(
    "address",
    [
        "POSTGRESQL://ann:{}@127.0.0.1:1/people",
        "PostgreSQL://ann:{}@127.0.0.1:1/people::patients",
        "mysql://ann:{}@host/people::patients",
        "MYSQL+pymysql://ann:{}@host/people",
        "host=127.0.0.1 user=ann password={}::patients",
        "Server=host; PASSWORD = {}",
        "Driver=x;Uid=ann;Pwd={};::patients",
        "mysql://ann:{}@host/people.xlsx::Sheet",
        "jdbc:mysql://host/people?user=ann&password={}::patients",
    ],
)
def test_no_password_of_any_connection_string_is_shown(address: str, password: str) -> None:
    pieces = [piece for piece in ("secret", "cret", password) if piece in password]
    with pytest.raises(InputError) as caught:
        open_source(address.format(password)).columns()
    assert not any(piece in str(caught.value) for piece in pieces)
    ended = scumble("schema", "draft", address.format(password), "--target", "x")
    assert ended.code == 2
    assert not any(piece in ended.out + ended.err for piece in pieces)


def test_a_drafted_schema_shows_no_character_that_a_terminal_obeys(folder: Path) -> None:
    (folder / "odd.csv").write_text("na\u202eme,b\nx\u202ey,1\nz\u2066,2\nx\u202ey,1\n", encoding="utf-8")
    ended = scumble("schema", "draft", "odd.csv")
    assert ended.code == 0
    assert not UNPRINTABLE.search(ended.out)
    assert scumble("schema", "draft", "odd.csv", "--out", "odd.yaml").code == 0
    written = (folder / "odd.yaml").read_text(encoding="utf-8")
    assert not UNPRINTABLE.search(written)
    drafted = parse_schema(ended.out)
    assert drafted == parse_schema(written)
    assert drafted["na\u202eme"].domain.labels == ("x\u202ey", "z\u2066")


def test_every_command_prints_through_one_module() -> None:
    """`scumble.cli.output` escapes what others wrote."""
    commands = Path(output.__file__).parent.glob("*.py")
    others = [path for path in commands if path.name not in ("output.py", "progress.py", "__init__.py")]
    assert len(others) > 20
    assert not [path.name for path in others if "typer.echo" in path.read_text(encoding="utf-8")]


def test_a_missing_driver_is_an_error_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("adbc_driver_manager", "adbc_driver_postgresql", "adbc_driver_postgresql.dbapi"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(InputError, match="PostgreSQL database need the optional package adbc-driver-postgresql"):
        PostgresTable(address="postgresql://host/people", table="patients").columns()


def test_a_header_of_a_hundred_thousand_columns_is_checked_at_once(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(100_000)]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n")
    began = time.monotonic()
    check_columns(open_source(tmp_path / "wide.csv"), names[:1000])
    assert time.monotonic() - began < 10
