"""A release that protects persons with several rows, at the command line."""

import json
import random
from pathlib import Path

import pytest
from command_line import SCHEMA, accounts, nothing_happens, release, scumble

import scumble as api

PERSONS = "person: patient-id\nrows_each_at_most: 3\n"


def visits(rows: int = 400, people: int = 60) -> str:
    """Visits as CSV: every person has several, and the ids are easy to find in a file."""
    draw = random.Random(1)
    lines = ["patient-id,age,job,income"]
    for _ in range(rows):
        job = draw.choice(["Engineer", "Lawyer", "Dancer", "Writer"])
        lines.append(f"secret-{draw.randrange(people):04d},{draw.randrange(100)},{job},{draw.choice(['yes', 'no'])}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "visits.csv").write_text(visits())
    (tmp_path / "schema.yaml").write_text(SCHEMA.replace("target", f"{PERSONS}target"))
    (tmp_path / "records.yaml").write_text(SCHEMA)
    return tmp_path


def test_the_plan_says_what_the_bound_costs(folder: Path) -> None:
    planned = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1")
    words = " ".join(planned.out.split())
    assert "all rows of one person (at most 3 are used, by 'patient-id')" in words
    assert "The noise is 3 times as large as with one row a person" in words
    assert "rows beyond that are left out" in words
    data = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1", "--json").json
    assert data["guarantee"]["protects"] == {"person": "patient-id", "rows_each_at_most": 3}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("method", ["diffgen", "histograms"])
def test_a_release_of_persons(folder: Path, engine: str, method: str) -> None:
    made = release("visits.csv", engine=engine, method=method, json=True).json
    assert made["guarantee"]["protects"] == {"person": "patient-id", "rows_each_at_most": 3}
    assert scumble("verify", "out").code == 0
    manifest = json.loads((folder / "out" / "release.json").read_text())
    assert manifest["parameters"]["epsilon"] == "1"
    assert "all rows of one person" in manifest["guarantee"]["sentence"]
    assert manifest["receipt"]["charged"] == "1"
    loaded = api.load_release(folder / "out")
    assert loaded.plan.rows_each_at_most == 3
    assert loaded.schema.persons is None
    report = " ".join((folder / "out" / "report.html").read_text().split())
    assert "At most 3 rows of each person were used" in report
    assert "3 times their sum is exactly ε" in report
    assert "One row is assumed to be one person" not in report
    assert accounts(folder / "ledger.db")["visits"]["person"] == "patient-id"


def test_no_id_leaves(folder: Path) -> None:
    ended = release("visits.csv")
    written = [*(folder / "out").iterdir(), *folder.glob("ledger.db*")]
    assert len(written) > 5
    assert not any(b"secret-" in path.read_bytes() for path in written)
    assert "secret-" not in ended.out + ended.err


def test_about_as_many_records_are_counted_as_the_bound_leaves(folder: Path) -> None:
    assert release("visits.csv", epsilon="900", method="histograms").code == 0
    rows = (folder / "out" / "table.csv").read_text().count("\n") - 1
    assert 150 < rows <= 181  # 60 people, three rows each


def test_both_engines_read_the_same_rows(folder: Path) -> None:
    for place, engine in enumerate(("memory", "duckdb")):
        if place:
            assert scumble("ledger", "grant", "visits", "2", "--reason", "again").code == 0
        assert release("visits.csv", engine=engine, out=f"out{place}").code == 0
    assert scumble("ledger", "grant", "visits", "3", "--reason", "again").code == 0
    other = release("visits.csv", dataset="another", out="other")
    assert "recorded in the ledger as the dataset 'visits'" in other.error


def test_an_account_of_persons_refuses_a_release_of_records(folder: Path) -> None:
    assert release("visits.csv").code == 0
    with nothing_happens(folder, folder / "ledger.db"):
        refused = release("visits.csv", schema="records.yaml", out="second")
        assert "account protects persons by the column 'patient-id'" in refused.error


def test_a_column_that_is_not_there_is_refused_before_the_charge(folder: Path) -> None:
    (folder / "schema.yaml").write_text(SCHEMA.replace("target", PERSONS.replace("patient-id", "patient") + "target"))
    scumble("ledger", "show")
    with nothing_happens(folder, folder / "ledger.db"):
        assert "no column 'patient'" in release("visits.csv").error


@pytest.mark.parametrize(
    "command", [["perturb", "visits.csv", "--schema", "schema.yaml", "--epsilon", "1", "--out", "o"]]
)
def test_perturbation_of_persons_is_refused(folder: Path, command: list[str]) -> None:
    assert "protects single rows" in scumble(*command).error
    assert not (folder / "o").exists()


def test_methods_without_epsilon_are_refused(folder: Path) -> None:
    (folder / "numbers.yaml").write_text(
        f"scumble: schema/1\n{PERSONS}attributes:\n  age: {{numeric: {{low: 0, high: 100, step: 10}}}}\n"
    )
    refused = release("visits.csv", schema="numbers.yaml", method="mdav", epsilon=None, k="3", accept="k-anonymity")
    assert "cannot protect all rows of a person together" in refused.error
