"""Ledgers of format 1, made by an earlier commit, are converted once, and nothing in them changes."""

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from older_ledgers import ENTRIES, KEY, write_ledger_of_format_1

from scumble.errors import BudgetError, CheckError, InputError
from scumble.model.guarantee import PureDP, Unit
from scumble.privacy import ledger_file
from scumble.privacy.ledger import Ledger


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same ledger for every test, so every test has its own witness."""
    monkeypatch.setenv("SCUMBLE_WITNESS", str(tmp_path / "witness.db"))
    path = tmp_path / "ledger.db"
    write_ledger_of_format_1(path)
    return path


def rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM entries ORDER BY sequence").fetchall()


def test_entries_key_and_accounts_stay_and_the_ledger_continues(path: Path) -> None:
    before = rows(path)
    with Ledger.open(path) as ledger:
        assert ledger.key == KEY
        assert ledger.verify() == ENTRIES + 1
        assert "was converted" in ledger.notices[0]
        statement = ledger.statement()
        assert (statement["adult"].spent, statement["adult"].ceiling) == (Fraction(4, 3), 3)
        assert statement["north"].spent == Fraction(1, 2)
        assert [event.content["event"] for event in statement.events] == ["converted"]
        guarantee = PureDP(epsilon=Fraction(2), unit=Unit.ADD_REMOVE)
        charge = {"dataset": "adult", "unit": Unit.ADD_REMOVE, "method": "diffgen", "spends": []}
        with pytest.raises(BudgetError):
            ledger.reserve(guarantee=guarantee, **charge)
        guarantee = PureDP(epsilon=Fraction(5, 3), unit=Unit.ADD_REMOVE)
        assert ledger.reserve(guarantee=guarantee, **charge).spent == 3
    assert rows(path)[:ENTRIES] == before
    with Ledger.open(path) as ledger:
        assert ledger.notices == ()
        assert ledger.verify() == ENTRIES + 2


def test_the_key_leaves_the_file_and_its_log(path: Path) -> None:
    assert KEY in path.read_bytes()
    with Ledger.open(path):
        files = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    assert KEY not in path.read_bytes()
    assert KEY.hex().encode() in files.pop("ledger.db.key")
    assert not [name for name, content in files.items() if KEY in content]


@pytest.mark.parametrize("step", ["store_key", "append_event"])
def test_a_conversion_that_was_killed_is_done_again(path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    done = getattr(ledger_file, step)

    def die(*arguments: object) -> None:
        done(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ledger_file, step, die)
        with pytest.raises(KeyboardInterrupt):
            Ledger.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    with Ledger.open(path) as ledger:
        assert (ledger.key, ledger.verify()) == (KEY, ENTRIES + 1)


def test_a_key_file_of_another_ledger_is_not_overwritten(path: Path) -> None:
    key = path.with_name("ledger.db.key")
    key.touch(0o600)
    key.write_text(f"scumble-ledger-key-1 {'ab' * 32}\n")
    with pytest.raises(InputError, match="belongs to another ledger"):
        Ledger.open(path)
    assert "ab" * 32 in key.read_text()
    assert KEY in path.read_bytes()


def test_a_ledger_that_was_tampered_with_is_not_converted(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER entries_stay")
        connection.execute("UPDATE entries SET time = '2001' WHERE sequence = 4")
    with pytest.raises(CheckError, match="Entry 4"):
        Ledger.open(path)
    assert not path.with_name("ledger.db.key").exists()


def test_a_ledger_of_format_1_that_others_can_read_is_refused(path: Path) -> None:
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        Ledger.open(path)
    assert not path.with_name("ledger.db.key").exists()
