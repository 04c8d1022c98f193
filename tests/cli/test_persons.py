"""A release that protects persons with several rows, at the command line."""

import csv
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from command_line import SCHEMA, Ended, accounts, nothing_happens, release, scumble

import scumble as api
from scumble.files.release_folder import file_hash, manifest_hash, manifest_text

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


def perturb(*words: object, out: str = "out") -> Ended:
    return scumble("perturb", "visits.csv", "--schema", "schema.yaml", "--out", out, *words)


def jobs_of_the_first_rows(folder: Path) -> list[str]:
    """The jobs of the first three visits of each person, in the order of the table."""
    seen: Counter[str] = Counter()
    jobs = []
    for line in (folder / "visits.csv").read_text().splitlines()[1:]:
        person, _, job, _ = line.split(",")
        jobs += [job] if seen[person] < 3 else []
        seen[person] += 1
    return jobs


def test_perturbed_reports_of_persons(folder: Path) -> None:
    made = perturb("--epsilon", "6", "--truthful", "job", "--json").json
    assert made["guarantee"]["epsilon"] == "6"
    assert made["guarantee"]["protects"] == {"person": "patient-id", "rows_each_at_most": 3}
    assert [spend["epsilon"] for spend in made["spends"]] == ["1", "1"]
    assert scumble("verify", "out").code == 0
    reports = csv.DictReader((folder / "out" / "table.csv").read_text().splitlines())
    assert [report["job"] for report in reports] == jobs_of_the_first_rows(folder)
    manifest = json.loads((folder / "out" / "release.json").read_text())
    assert (
        "all reports of one person in one table (at most 3 are used, by 'patient-id')"
        in (manifest["guarantee"]["sentence"])
    )
    assert "sends at most 3 reports" in " ".join(manifest["notes"])
    assert "3 times their sum" in (folder / "out" / "report.html").read_text()
    loaded = api.load_release(folder / "out")
    assert (loaded.schema.persons, loaded.plan.rows_each_at_most) == (None, 3)
    assert not any(b"secret-" in path.read_bytes() for path in (folder / "out").iterdir())
    found = scumble("reconstruct", "out", "--original", "visits.csv", "--out", "found", "--json").json
    (jobs,) = (each for each in found["distributions"] if (each["attribute"], each["class"]) == ("job", None))
    assert jobs["distance"]["randomized"] == 0, "the original is that of the rows that were perturbed"
    assert scumble("mine", "train", "out", "--out", "tree.json").code == 0


def test_a_changed_bound_is_found_in_a_folder_of_reports(folder: Path) -> None:
    assert perturb("--epsilon", "6").code == 0
    noise = json.loads((folder / "out" / "noise.json").read_text())
    noise["schema"]["rows_each_at_most"] = 2
    (folder / "out" / "noise.json").write_text(json.dumps(noise))
    manifest = json.loads((folder / "out" / "release.json").read_text())
    manifest["files"]["noise.json"] = file_hash(folder / "out" / "noise.json")
    manifest["seal"] = manifest_hash(manifest)
    (folder / "out" / "release.json").write_text(manifest_text(manifest))
    assert "does not give the stated guarantee" in scumble("verify", "out").error


def test_a_secret_fixes_the_noise_of_persons(folder: Path) -> None:
    (folder / "secret").write_bytes(bytes(range(32)))
    words = ("--epsilon", "6", "--secret", "secret")
    for out, more in (("out", ()), ("named", ("--entity", "patient-id"))):
        assert perturb(*words, *more, out=out).code == 0
    tables = [(folder / out / "table.csv").read_text() for out in ("out", "named")]
    assert tables[0] == tables[1]
    header, *rows = (folder / "visits.csv").read_text().splitlines()
    (folder / "visits.csv").write_text("\n".join([f"visit,{header}", *(f"{n},{row}" for n, row in enumerate(rows))]))
    assert perturb(*words, "--entity", "visit", out="visits").code == 0
    assert len((folder / "visits" / "table.csv").read_text().splitlines()) == len(tables[0].splitlines())


def test_interval_privacy_of_persons_is_refused(folder: Path) -> None:
    refused = perturb("--privacy", "50%", "--accept", "interval").error
    assert "Interval privacy says nothing about several reports of one person" in refused
    assert "rows_each_at_most" in perturb("--epsilon", "2e-9").error
    assert not (folder / "out").exists()


def test_methods_without_epsilon_are_refused(folder: Path) -> None:
    (folder / "numbers.yaml").write_text(
        f"scumble: schema/1\n{PERSONS}attributes:\n  age: {{numeric: {{low: 0, high: 100, step: 10}}}}\n"
    )
    refused = release("visits.csv", schema="numbers.yaml", method="mdav", epsilon=None, k="3", accept="k-anonymity")
    assert "cannot protect all rows of a person together" in refused.error
