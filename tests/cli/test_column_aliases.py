"""A table whose columns have other names than the attributes, through every command that reads it."""

import csv
import io
from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble

from scumble.demo.rehearsal import uniform_rows
from scumble.files.schema_file import parse_schema, read_schema

ALIASED = (
    SCHEMA.replace("age: {", 'age: {column: "Alter (Jahre)", ')
    .replace("job: {", "job: {column: count, ")
    .replace("income: {", "income: {column: age, ")
)
HEADER = '"Alter (Jahre)",count,age'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(400, header=HEADER))
    (tmp_path / "schema.yaml").write_text(ALIASED)
    return tmp_path


def header(path: Path) -> list[str]:
    return next(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_a_release_is_published_under_the_attributes_names(folder: Path) -> None:
    ended = scumble("release", "people.csv", "--schema", "schema.yaml", "--epsilon", "20", "--out", "made")
    assert ended.code == 0, ended.err
    assert header(folder / "made" / "table.csv") == ["age", "job", "income"]
    assert header(folder / "made" / "counts.csv")[:3] == ["age", "job", "income"]
    assert read_schema(folder / "made" / "schema.yaml").columns == ("Alter (Jahre)", "count", "age")
    assert scumble("verify", "made").code == 0
    found = scumble("evaluate", "made", "--test", "people.csv", "--train", "people.csv", "--json").json
    assert found["tree"]["accuracy"] > 0.6


def test_records_are_published_under_the_attributes_names(folder: Path) -> None:
    (folder / "schema.yaml").write_text(ALIASED.replace("target", "unit: replace\nrows: 400\ntarget"))
    made = scumble(
        *("release", "people.csv", "--schema", "schema.yaml", "--method", "mdav"),
        *("--k", "5", "--accept", "k-anonymity", "--out", "made", "--json"),
    )
    assert made.code == 0, made.err
    assert header(folder / "made" / "table.csv") == ["age", "job", "income"]
    assert scumble("evaluate", "made", "--test", "people.csv", "--json").code == 0


def test_perturbed_records_are_mined_and_true_ones_predicted(folder: Path) -> None:
    made = scumble("perturb", "people.csv", "--schema", "schema.yaml", "--epsilon", "30", "--out", "perturbed")
    assert made.code == 0, made.err
    assert header(folder / "perturbed" / "table.csv") == ["age", "job", "income"]
    assert scumble("reconstruct", "perturbed", "--original", "people.csv", "--out", "found").code == 0
    assert scumble("mine", "train", "perturbed", "--out", "tree.json").code == 0
    predicted = scumble("mine", "predict", "tree.json", "--data", "people.csv", "--out", "predicted.csv", "--json").json
    assert predicted["accuracy"] > 0.6


def test_a_check_reads_the_aliased_columns(folder: Path) -> None:
    found = scumble("schema", "check", "schema.yaml", "people.csv", "--rows", "--json").json["rows"]
    assert (found["kept"], found["unused_columns"]) == (400, [])
    assert list(found["attributes"]) == ["age", "job", "income"]
    (folder / "people.csv").write_text(people(10))
    assert "has no column 'Alter (Jahre)', 'count'" in scumble("schema", "check", "schema.yaml", "people.csv").error


def test_a_rehearsal_draws_the_tables_that_owners_have() -> None:
    assert uniform_rows(parse_schema(ALIASED), 3, seed=1).column_names == ["Alter (Jahre)", "count", "age"]
