"""A release whose counts are far below what was expected says so, from published numbers only."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import SCHEMA, people, release, scumble
from planned_runs import run

from scumble.auditing.laws.queries import engine_of
from scumble.files.schema_file import parse_schema
from scumble.flows.count_warnings import count_warnings
from scumble.flows.joined import Joined
from scumble.flows.load import load_release
from scumble.methods import method_and_parameters
from scumble.privacy.noise import PaidNoise


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
    assert ended.err.count("warning") == ended.err.count("warning, before the charge: epsilon 8 promises little") == 1


NUMBERS = """\
scumble: schema/1
rows_at_most: 3000
attributes:
  age: {numeric: {low: 0, high: 100, step: 10}}
  height: {numeric: {low: 140, high: 200, step: 10}, outside: drop}
"""


def numbers(rows: int, *, height: object = 170) -> str:
    return "age,height\n" + "".join(f"{row % 100},{height}\n" for row in range(rows))


@pytest.mark.parametrize("centre", ["median", "mean"])
def test_releases_of_records_warn_beyond_their_noise(folder: Path, centre: str) -> None:
    (folder / "schema.yaml").write_text(NUMBERS)
    (folder / "people.csv").write_text(numbers(2000, height="1.70 m") + numbers(60)[11:])
    ended = release(epsilon=8, method="microaggregate", centre=centre, json=True)
    (warning,) = ended.json["warnings"]
    loaded = load_release(folder / "out")
    assert count_warnings(loaded) == (warning,), "from the published numbers alone"
    assert loaded.counted_records is not None and loaded.counted_records[1] > 0
    ended = release(
        epsilon="1/10000", method="microaggregate", centre=centre, json=True, out="noisy", ledger="noisy.db"
    )
    assert ended.json["warnings"] == [], "the noise alone explains a low count"


def test_rows_of_histograms_warn_beyond_their_noise(folder: Path) -> None:
    misspell(folder)
    (folder / "schema.yaml").write_text(SCHEMA.replace("target:", "rows_at_most: 3000\ntarget:"))
    (warning,) = release(epsilon=8, method="histograms", json=True).json["warnings"]
    assert count_warnings(load_release(folder / "out")) == (warning,)
    assert (
        release(epsilon="1/1000", method="histograms", json=True, out="noisy", ledger="noisy.db").json["warnings"] == []
    )


def test_a_joint_release_is_measured_against_the_bound_of_its_agreement(folder: Path) -> None:
    assert release(epsilon=8).code == 0
    made = load_release(folder / "out")
    common: dict[str, Any] = {
        "party": "A",
        "folder": folder,
        "release": made,
        "receipt": None,
        "seconds": 1.0,
        "phases": (),
        "transcript": folder / "transcript",
    }
    joined = Joined(**common, rows_at_most=50_000)
    (warning,) = joined.warnings
    assert "while at most 50,000 were expected" in warning
    assert joined.to_json()["warnings"] == [warning]
    assert dict(joined.summary.facts)["warning"] == warning
    assert Joined(**common, rows_at_most=2500).warnings == ()
    (near,) = Joined(**common, rows_at_most=100).warnings
    assert "100, the sum of the owners' bounds" in near and "clipped" in near


@pytest.mark.audit
@pytest.mark.parametrize(
    ("method", "options"),
    [("histograms", {}), ("microaggregate", {"centre": "median"}), ("microaggregate", {"centre": "mean"})],
)
def test_the_stated_standard_error_is_that_of_the_number_of_records(method: str, options: dict[str, str]) -> None:
    """Accepted within 30 %, more than four of its own deviations; twice or half of it is rejected."""
    schema = parse_schema(SCHEMA if method == "histograms" else NUMBERS)
    rows = [tuple(code % each.domain.size for each in schema.attributes) for code in range(2000)]
    chosen, parameters = method_and_parameters(method, {"epsilon": "1", **options})
    engine = engine_of(schema, rows)
    found = [run(chosen, schema, parameters, engine, PaidNoise()).counted_records for _ in range(300)]
    counts, errors = np.array(found, dtype=np.float64).T
    stated = float(np.sqrt(np.mean(np.square(errors))))
    assert abs(counts.mean() - 2000) < 5 * stated / np.sqrt(len(counts)) + 1
    assert counts.std() == pytest.approx(stated, rel=0.3, abs=0.5)


def test_without_an_expectation_nothing_is_said(folder: Path) -> None:
    misspell(folder)
    assert release(epsilon=8, json=True).json["warnings"] == []


@pytest.mark.parametrize("detail", ["auto", "no"])
def test_few_records_under_much_noise_are_not_called_too_few_for_the_schema(folder: Path, detail: str) -> None:
    (folder / "people.csv").write_text(people(20))
    warnings = release(epsilon="0.001", records=50, detail=detail, json=True).json["warnings"]
    assert not any("were expected" in warning for warning in warnings)
    assert any("nothing but the class shares" in warning for warning in warnings) is (detail == "auto")


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
