"""The ledger at the command line: a new one is announced, a lost one is refused until the owner says what happened."""

from pathlib import Path

import pytest
from command_line import SCHEMA, accounts, people, release, scumble


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(50))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


def test_a_new_ledger_is_announced_in_the_terminal_in_json_and_in_its_first_entry(folder: Path) -> None:
    ended = release(detail="no", json=True)
    announced = f"The ledger {folder / 'ledger.db'} is new: nothing was ever charged to it."
    assert f"notice: {announced}" in ended.err
    assert ended.json["ledger"]["path"] == str(folder / "ledger.db")
    assert ended.json["ledger"]["notices"][0].startswith(announced)
    (first,) = scumble("ledger", "show", "--json").json["ledger"]
    assert (first["sequence"], first["kind"], first["event"]) == (1, "ledger", "created")
    again = release(detail="no", json=True, dataset="other", data="people.csv", out="again")
    assert "is new" not in again.err


def test_a_mistyped_path_is_announced(folder: Path) -> None:
    assert release(detail="no").code == 0
    ended = release(detail="no", ledger="ledgr.db", out="again")
    assert "notice: The ledger ledgr.db is new" in ended.err


def test_a_deleted_ledger_is_refused_until_the_owner_says_why(folder: Path) -> None:
    assert release(detail="no").code == 0
    for path in folder.glob("ledger.db*"):
        path.unlink()
    ended = release(detail="no", out="again")
    assert (ended.code, "is missing, but the witness" in ended.error) == (4, True)
    for words in (("show",), ("verify",), ("grant", "people", "3", "--reason", "more")):
        assert scumble("ledger", *words).code == 4
    assert not (folder / "ledger.db").exists()
    assert not (folder / "again").exists()
    for wrong in ({"new_ledger": True}, {"reason": "lost"}):
        ended = release(detail="no", out="again", **wrong)
        assert (ended.code, "--new-ledger and --reason belong together" in ended.error) == (2, True)
    assert release(detail="no", out="again", new_ledger=True, reason="the disk failed").code == 0
    (first,) = scumble("ledger", "show", "--json").json["ledger"]
    assert (first["reason"], first["lost"][0]["sequence"]) == ("the disk failed", 5)
    assert "created, the disk failed" in scumble("ledger", "show").out
    assert accounts(folder / "ledger.db")["people"]["spent"] == "1"


def test_another_home_is_announced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCUMBLE_LEDGER")
    monkeypatch.delenv("SCUMBLE_WITNESS")
    for number in range(2):
        monkeypatch.setenv("XDG_DATA_HOME", str(folder / f"home{number}"))
        ended = release(detail="no", out=f"out{number}")
        assert f"notice: The ledger {folder}/home{number}/scumble/ledger.db is new" in ended.err
        assert (folder / f"home{number}/scumble/witness.db").exists()


def test_the_witness_is_kept_where_the_owner_says(folder: Path) -> None:
    assert release(detail="no", witness="mounted/witness.db").code == 0
    assert (folder / "mounted" / "witness.db").exists()
    for path in folder.glob("ledger.db*"):
        path.unlink()
    assert release(detail="no", out="again", witness="mounted/witness.db").code == 4
