"""`scumble schema` on the command line."""

from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(50))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


def test_a_look_at_the_rows_is_marked_as_private_and_charges_nothing(folder: Path) -> None:
    rows = people(50).replace("Dancer", "dancer")
    (folder / "people.csv").write_text(rows)
    lost = rows.count("dancer")
    ended = scumble("schema", "check", "schema.yaml", "people.csv", "--rows")
    assert ended.code == 0
    assert "not covered by any guarantee" in ended.out
    assert f"50 rows; {50 - lost} would remain" in ended.out
    assert "job: 'dancer' is off the domain" in ended.out
    assert not (folder / "ledger.db").exists()
    found = scumble("schema", "check", "schema.yaml", "people.csv", "--rows", "--json").json
    assert (found["rows"]["rows"], found["rows"]["kept"], found["rows"]["dropped"]) == (50, 50 - lost, lost)
    assert found["rows"]["attributes"]["job"]["commonest"] == [
        {"value": "dancer", "flaw": "unknown category", "times": lost}
    ]
    assert "guarantee" in found["rows"]["private"]


def test_rows_that_fit_are_said_to_fit(folder: Path) -> None:
    ended = scumble("schema", "check", "schema.yaml", "people.csv", "--rows")
    assert "50 rows; 50 would remain" in ended.out
    assert "Every value fits." in ended.out


def test_without_the_option_no_row_is_read(folder: Path) -> None:
    (folder / "people.csv").write_text(people(0) + "one field too few\n")
    assert "rows" not in scumble("schema", "check", "schema.yaml", "people.csv", "--json").json


def test_a_look_at_rows_needs_a_table(folder: Path) -> None:
    ended = scumble("schema", "check", "schema.yaml", "--rows")
    assert ended.code == 2
    assert "`--rows` reads the rows of a table" in ended.error
