"""`scumble schema` on the command line."""

import gzip
import io
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
    assert f"was read as CSV separated by '{shown}'" in drafted["text"]
    assert "target: income" in drafted["text"]
    ended = scumble("schema", "draft", "people.csv", "--target", "sick")
    assert ended.code == 2
    assert f"was read as CSV separated by '{shown}'" in ended.error


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


def test_a_draft_is_confirmed_with_reasons_then_released(folder: Path) -> None:
    assert scumble("schema", "draft", "people.csv", "--target", "income", "--out", "draft.yaml").code == 0
    refused = scumble("release", "people.csv", "--schema", "draft.yaml", "--epsilon", "1", "--out", "made")
    assert "scumble schema confirm SCHEMA" in refused.error
    comments = [line for line in (folder / "draft.yaml").read_text().splitlines() if "#" in line]
    confirmed = scumble("schema", "confirm", "draft.yaml", "age", "job", "--because", "census 2021", "--json").json
    assert confirmed["confirmed"] == {"age": "census 2021", "job": "census 2021"}
    assert confirmed["unconfirmed"] == ["income"]
    assert scumble("schema", "confirm", "draft.yaml", "income", "--because", "a question of the form").code == 0
    assert [line for line in (folder / "draft.yaml").read_text().splitlines() if "#" in line] == comments
    made = scumble("release", "people.csv", "--schema", "draft.yaml", "--epsilon", "1", "--out", "made")
    assert made.code == 0, made.err
    assert read_schema(folder / "made" / "schema.yaml")["age"].public_because == "census 2021"


def test_a_confirmation_asks_for_each_domain(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scumble("schema", "draft", "people.csv", "--target", "income", "--out", "draft.yaml").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("the form asks it\n\nthe form asks it, too\n"))
    ended = scumble("schema", "confirm", "draft.yaml")
    assert ended.code == 0, ended.err
    assert ended.out == "age: confirmed.\nincome: confirmed.\nStill unconfirmed: job.\n"
    assert "income: 2 categories: no, yes" in ended.err
    reasons = [attribute.public_because for attribute in read_schema(folder / "draft.yaml").attributes]
    assert reasons == ["the form asks it", None, "the form asks it, too"]


def test_a_confirmation_that_is_broken_off_keeps_the_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scumble("schema", "draft", "people.csv", "--out", "draft.yaml").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("a reason\n"))
    assert scumble("schema", "confirm", "draft.yaml").code == 1
    confirmed = {each.name: each.public_because for each in read_schema(folder / "draft.yaml").attributes}
    assert confirmed == {"age": "a reason", "job": None, "income": None}


def test_a_draft_with_a_wrong_delimiter_suggests_another(folder: Path) -> None:
    ended = scumble("schema", "draft", "people.csv", "--target", "income", "--delimiter", ";")
    assert ended.code == 2
    assert "pass --delimiter ','" in ended.error


@pytest.mark.parametrize(
    "words",
    [
        ["schema", "check", "schema.yaml", "people.csv"],
        ["schema", "check", "schema.yaml", "people.csv", "--rows"],
        ["release", "people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--out", "o"],
    ],
)
def test_a_person_column_that_is_not_in_the_table(folder: Path, words: list[str]) -> None:
    path = folder / "schema.yaml"
    path.write_text(path.read_text().replace("attributes:", "person: who\nrows_each_at_most: 2\nattributes:"))
    ended = scumble(*words)
    assert ended.code == 2
    assert "has no column 'who', which the schema names as `person: who`. Correct it" in ended.error
    assert "attribute" not in ended.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["schema.yaml", "age", "--because", "known"], "'age' is not marked `unconfirmed`"),
        (["schema.yaml", "--because", "known"], "Name them"),
        (["schema.yaml", "--json"], "no question is asked"),
        (["schema.yaml", "sex", "--because", "known"], "no attribute 'sex'"),
    ],
)
def test_confirmations_that_are_refused(folder: Path, words: list[str], message: str) -> None:
    ended = scumble("schema", "confirm", *words)
    assert ended.code == 2
    assert message in ended.error


def test_a_check_recommends_a_reason(folder: Path) -> None:
    reasoned = SCHEMA.replace("step: 10}", "step: 10}, public because: census 2021")
    (folder / "schema.yaml").write_text(reasoned)
    assert "Without a reason why the domain is public: job, income." in scumble("schema", "check", "schema.yaml").out
    assert scumble("schema", "check", "schema.yaml", "--json").json["without_reason"] == ["job", "income"]


def test_proposals_are_written_only_on_request_and_are_unconfirmed(folder: Path) -> None:
    (folder / "people.csv").write_text(people(50).replace("Dancer", "Singer") + ",Writer,no\n250,Writer,no\n")
    before = sorted(folder.iterdir())
    assert scumble("schema", "check", "schema.yaml", "people.csv", "--rows").code == 0
    assert sorted(folder.iterdir()) == before
    ended = scumble("schema", "check", "schema.yaml", "people.csv", "--rows", "--propose", "proposed.yaml")
    assert ended.code == 0, ended.err
    assert "PRIVATE: proposed.yaml proposes other domains for age, job" in ended.out
    text = (folder / "proposed.yaml").read_text()
    assert text.startswith("# PRIVATE: proposals derived from the rows")
    assert "# Proposal: 1 further values of the rows, below the root." in text
    made = read_schema(folder / "proposed.yaml")
    assert {each.name for each in made.attributes if each.unconfirmed} == {"age", "job"}
    assert made["age"].missing == "?"
    found = scumble("schema", "check", "proposed.yaml", "people.csv", "--rows", "--json").json["rows"]
    assert (found["rows"], found["kept"], found["advice"]) == (52, 52, [])
    assert (
        "unconfirmed"
        in scumble("release", "people.csv", "--schema", "proposed.yaml", "--epsilon", "1", "--out", "made").error
    )


def test_nothing_is_written_where_nothing_is_proposed(folder: Path) -> None:
    words = ("schema", "check", "schema.yaml", "people.csv", "--rows", "--propose", "proposed.yaml")
    assert scumble(*words, "--json").json["proposal"] is None
    assert "There is nothing to propose, so proposed.yaml was not written." in scumble(*words).out
    assert not (folder / "proposed.yaml").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--propose", "new.yaml"], "Pass --rows"), (["--rows", "--propose", "schema.yaml"], "exists")],
)
def test_proposals_that_are_refused(folder: Path, words: list[str], message: str) -> None:
    ended = scumble("schema", "check", "schema.yaml", "people.csv", *words)
    assert ended.code == 2
    assert message in ended.error
    assert (folder / "schema.yaml").read_text() == SCHEMA


def test_a_draft_reads_files_as_spreadsheets_export_them(folder: Path) -> None:
    rows = "Ort;Gehalt;geboren;raucht\nKöln;31.288,61;31.01.1980;ja\nBonn;7,50;01.12.2001;nein\nKöln;;05.05.1999;ja\n"
    (folder / "leute.csv").write_bytes(rows.encode("latin-1"))
    ended = scumble("schema", "draft", "leute.csv", "--encoding", "latin-1", "--out", "draft.yaml")
    assert ended.code == 0, ended.err
    drafted = read_schema(folder / "draft.yaml")
    assert [attribute.kind for attribute in drafted.attributes] == ["category", "number", "date", "boolean"]
    assert drafted["Ort"].domain.labels == ("Bonn", "Köln")
    assert all(attribute.unconfirmed for attribute in drafted.attributes)
    words = ("schema", "check", "draft.yaml", "leute.csv", "--encoding", "latin-1", "--rows", "--json")
    assert scumble(*words).json["rows"]["advice"] == []
