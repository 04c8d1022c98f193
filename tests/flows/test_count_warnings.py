"""A release whose counts are far below what was expected says so, from published numbers only."""

from pathlib import Path

import pytest
from command_line import SCHEMA, people, release, scumble

from scumble.flows.count_warnings import count_warnings
from scumble.flows.load import load_release


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(2000))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


def misspell(folder: Path) -> None:
    """Nearly every row falls off the domain."""
    (folder / "people.csv").write_text(people(2000).replace("yes", "Yes").replace(",no", ",No") + people(40)[15:])


@pytest.mark.parametrize("how", ["records", "rows_at_most"])
def test_a_table_that_does_not_match_its_schema_is_noticed(folder: Path, how: str) -> None:
    misspell(folder)
    options = {"records": 2000} if how == "records" else {}
    if not options:
        (folder / "schema.yaml").write_text(SCHEMA.replace("target:", "rows_at_most: 3000\ntarget:"))
    ended = release(epsilon=8, json=True, **options)
    assert "warning: About " in ended.err
    assert "records were counted (noisy), while " in ended.err
    assert "schema check SCHEMA DATA --rows" in ended.err
    (warning,) = ended.json["warnings"]
    assert f"warning: {warning}" in ended.err
    assert count_warnings(load_release(folder / "out")) == (warning,), "from the published numbers alone"


@pytest.mark.parametrize("method", ["diffgen", "histograms"])
def test_a_table_that_matches_brings_no_warning(folder: Path, method: str) -> None:
    (folder / "schema.yaml").write_text(SCHEMA.replace("target:", "rows_at_most: 3000\ntarget:"))
    ended = release(epsilon=8, method=method, json=True)
    assert ended.json["warnings"] == []
    assert "warning" not in ended.err


def test_without_an_expectation_nothing_is_said(folder: Path) -> None:
    misspell(folder)
    assert release(epsilon=8, json=True).json["warnings"] == []


def test_few_records_under_much_noise_bring_no_warning(folder: Path) -> None:
    (folder / "people.csv").write_text(people(20))
    assert release(epsilon="0.001", records=50, json=True).json["warnings"] == []


@pytest.mark.parametrize("verb", ["plan", "release", "check"])
def test_an_exact_number_of_rows_is_refused_under_add_remove(folder: Path, verb: str) -> None:
    (folder / "schema.yaml").write_text(SCHEMA.replace("target:", "rows: 2000\ntarget:"))
    ended = {
        "plan": lambda: scumble("plan", "--schema", "schema.yaml", "--epsilon", "1"),
        "release": release,
        "check": lambda: scumble("schema", "check", "schema.yaml"),
    }[verb]()
    assert ended.code == 2
    assert "Under `unit: add-remove` the exact number of rows is private" in ended.error
    assert "`rows_at_most:`" in ended.error
    assert not (folder / "ledger.db").exists()
    assert not (folder / "out").exists()


def test_a_folder_of_before_that_states_its_rows_still_loads(folder: Path) -> None:
    assert release(epsilon=8).code == 0
    published = folder / "out" / "schema.yaml"
    assert "\nrows:" not in published.read_text()
    published.write_text(published.read_text().replace("target:", "rows: 2000\ntarget:"))
    assert load_release(folder / "out").schema.rows == 2000
