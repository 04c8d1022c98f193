"""A recorded run is the release that its file describes: same plan, parameters, schema and files."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, people, scumble

from scumble.errors import BudgetError, InputError
from scumble.files.run_file import RunFile, write_run
from scumble.flows.release import release, verify
from scumble.flows.run import run

PARAMETERS = {"epsilon": "1", "detail": "no", "rounds": "2"}
OF_THE_NOISE = ("story", "cells", "files", "sizes", "seal", "receipt", "table_rows")
"""Entries of release.json that depend on the noise or on the ledger."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(people(300), encoding="utf-8")
    (tmp_path / "next-year.csv").write_text(people(300, seed=2), encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    recorded = RunFile(data="people.csv", method="diffgen", ledger="ledger.db", witness="witness.db")
    write_run(recorded.changed(parameters=PARAMETERS), tmp_path / "run.yaml")
    return tmp_path


def stated(folder: Path) -> dict[str, Any]:
    """What release.json says apart from the noise."""
    manifest = json.loads((folder / "release.json").read_text("utf-8"))
    return {name: value for name, value in manifest.items() if name not in OF_THE_NOISE} | {
        "names": [*manifest["files"]]
    }


def test_a_run_equals_the_release_that_it_records(project: Path) -> None:
    run(project / "run.yaml")
    release(
        project / "people.csv",
        schema=project / "schema.yaml",
        out=project / "typed",
        method="diffgen",
        ledger=project / "other.db",
        witness=project / "other-witness.db",
        **PARAMETERS,
    )
    assert stated(project / "release") == stated(project / "typed")
    assert verify(project / "release")


def test_the_same_run_with_the_table_of_another_year(project: Path) -> None:
    run(project / "run.yaml")
    published = run(project / "run.yaml", data=project / "next-year.csv", out=project / "next")
    assert stated(project / "next") == stated(project / "release")
    assert published.receipt.to_json()["charged"] == "1"
    with pytest.raises(BudgetError, match="has spent 1"):
        run(project / "run.yaml", data=project / "next-year.csv", out=project / "again")


def test_a_stated_dataset_is_charged_whatever_the_table(project: Path) -> None:
    path = project / "run.yaml"
    path.write_text(path.read_text("utf-8") + "dataset: everybody\n", encoding="utf-8")
    run(path)
    with pytest.raises(BudgetError, match="everybody"):
        run(path, data=project / "next-year.csv", out=project / "next")


def test_an_existing_folder_is_never_overwritten(project: Path) -> None:
    (project / "release").mkdir()
    with pytest.raises(InputError, match="exists already"):
        run(project / "run.yaml")


def test_the_command_line_runs_a_file(project: Path) -> None:
    ended = scumble("run", project / "run.yaml", "--json")
    assert ended.json["release"] == str(project / "release")
    assert ended.json["guarantee"]["epsilon"] == "1"
    assert scumble("run", project / "run.yaml", "--out", project / "again").code == BudgetError.exit_code


def test_progress_as_lines(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCUMBLE_PROGRESS", "lines")
    ended = scumble("run", project / "run.yaml", "--json")
    steps = [json.loads(line) for line in ended.err.splitlines() if line.startswith('{"progress"')]
    assert ended.code == 0
    assert "reading rows" in {step["progress"] for step in steps}
    assert all(set(step) == {"progress", "done", "total"} for step in steps)
