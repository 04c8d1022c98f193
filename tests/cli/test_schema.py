"""`scumble schema` on the command line."""

import gzip
from pathlib import Path

import duckdb
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from command_line import SCHEMA, people, scumble

from scumble.files.schema_file import read_schema


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


@pytest.mark.parametrize(("delimiter", "shown"), [(";", ";"), ("\t", "tab"), ("|", "|")])
def test_a_draft_finds_the_delimiter_in_the_header(folder: Path, delimiter: str, shown: str) -> None:
    (folder / "people.csv").write_text(people(50).replace(",", delimiter))
    drafted = scumble("schema", "draft", "people.csv", "--target", "income", "--json").json
    assert drafted["delimiter"] == delimiter
    assert f"pass --delimiter '{shown}'" in drafted["text"]
    assert "target: income" in drafted["text"]
    ended = scumble("schema", "draft", "people.csv", "--target", "sick")
    assert ended.code == 2
    assert f"The header is separated by '{shown}'" in ended.error


@pytest.mark.parametrize("how", ["pattern", "database", "parquet", "gzip"])
def test_a_draft_reads_what_a_release_reads(folder: Path, how: str) -> None:
    table = pacsv.read_csv(folder / "people.csv")
    (folder / "people-2.csv").write_text(people(20, seed=2))
    pq.write_table(table, folder / "people.parquet")
    (folder / "people.csv.gz").write_bytes(gzip.compress((folder / "people.csv").read_bytes()))
    with duckdb.connect("people.duckdb") as database:
        database.register("rows", table)
        database.execute("CREATE TABLE people AS SELECT * FROM rows")
    data = {"pattern": "people*.csv", "database": "people.duckdb::people", "parquet": "people.parquet"}
    ended = scumble("schema", "draft", data.get(how, "people.csv.gz"), "--target", "income", "--out", "draft.yaml")
    assert ended.code == 0, ended.err
    drafted = read_schema(folder / "draft.yaml")
    assert [attribute.name for attribute in drafted.attributes] == ["age", "job", "income"]
    assert drafted.classes == ("no", "yes")
