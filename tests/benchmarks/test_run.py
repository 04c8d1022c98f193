"""The benchmark scripts: they import, the harness runs on a small synthetic table, a missed limit is an exit code."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scumble.demo.patients import patients_schema
from scumble.methods import METHODS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts import each other as `python benchmarks/run.py` does."""
    monkeypatch.syspath_prepend(BENCHMARKS)


def test_the_harness_runs_to_its_end(tmp_path: Path) -> None:
    options = ["--data", "patients", "--rows", "1000", "3000", "--repeats", "1", "--no-limits", "--no-spark"]
    options += ["--large", "--wide", "20"]
    places = ["--work", str(tmp_path / "work"), "--page", str(tmp_path / "page.md")]
    run = [sys.executable, "-W", "error", str(BENCHMARKS / "run.py"), *options, *places]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Measured on \d\d \w+ \d{4}, commit \S+\. ", (tmp_path / "page.md").read_text(encoding="utf-8"))
    results = json.loads((tmp_path / "work" / "results.json").read_text(encoding="utf-8"))
    figures = {figure["what"]: figure for figure in results["figures"]}
    assert all(figure["measured"] > 0 and figure["limit"] is None for figure in figures.values())
    for what in (
        "published mode, h = 10 (3,000 rows)",
        "cells alone, 8 rounds (1,000 rows)",
        "published mode up to the final cells, h = 16 over h = 4 (3,000 rows)",
        "published mode, growth (3,000 rows)",
        "peak memory, published mode (3,000 rows)",
        "peak memory, `--engine duckdb`, default mode (30,000 rows)",
        "one-way tables, threads: 1 (3,000 rows)",
        "a round with 200 cells, threads: 2 (3,000 rows)",
        "one-way tables over DuckDB's `GROUPING SETS` (3,000 rows)",
        "default mode, 1,000 rows (20 attributes)",
        "`scumble plan`",
        *(f"`{method.name}`" for method in METHODS),
    ):
        assert what in figures
        assert what in done.stdout
        assert what in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert (tmp_path / "page.svg").read_text(encoding="utf-8").count("<text") > 20
    assert str(tmp_path) not in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_a_missed_limit_is_marked_and_gives_an_exit_code(bench: None) -> None:
    from figures import Figure, exit_code, table

    within = Figure(what="a", measured=2.0, unit="x", limit=2)
    beyond = Figure(what="b", measured=2.1, unit="x", limit=2)
    unlimited = Figure(what="c", measured=9.9, unit="s")
    assert exit_code([within, unlimited]) == 0
    assert exit_code([within, beyond, unlimited]) == 4
    assert table([within, beyond, unlimited]).splitlines()[2:] == [
        "| a | 2 x | 2 x | ok |  |",
        "| b | 2.1 x | 2 x | **missed** |  |",
        "| c | 9.9 s |  |  |  |",
    ]


def test_figures_a_fifth_worse_than_in_the_kept_run_are_listed(bench: None, tmp_path: Path) -> None:
    from figures import Figure, as_json, regressions

    before = [Figure(what="a", measured=2.0, unit="x"), Figure(what="b", measured=5.0, unit="s")]
    (tmp_path / "kept.json").write_text(json.dumps(as_json(before, {})), encoding="utf-8")
    now = [Figure(what=what, measured=measured, unit="x") for what, measured in (("a", 2.5), ("b", 5.9), ("c", 9.0))]
    assert regressions(now, tmp_path / "kept.json") == ["WORSE: a: 2.5 x, kept run 2 x"]
    assert regressions(now, tmp_path / "none.json") == ["No earlier run is kept in none.json: nothing to compare with."]


def test_enlarged_rows_are_the_records_then_variations_within_the_domain(bench: None, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from tables import base, write_parquet

    records, schema = base("patients")
    write_parquet(tmp_path / "table.parquet", records, schema, 3 * len(records))
    table = pq.read_table(tmp_path / "table.parquet")
    assert table.schema.types == records.schema.types
    assert table.slice(0, len(records)).equals(records)
    variation = table.slice(len(records), len(records))
    assert variation.column("readmitted").equals(records.column("readmitted"))
    changed = sum(a != b for a, b in zip(variation["ward"].to_pylist(), records["ward"].to_pylist(), strict=True))
    assert 0.15 * len(records) < changed < 0.3 * len(records)
    assert set(variation["ward"].to_pylist()) <= set(schema["ward"].domain.labels)
    assert 0 <= min(variation["age"].to_pylist()) <= max(variation["age"].to_pylist()) < 100


def test_a_cut_has_the_requested_number_of_cells(bench: None) -> None:
    from counting import CELLS, cut_into

    schema = patients_schema()
    for cells in CELLS:
        cut = cut_into(schema, cells)
        assert cut.cells == cells
        for name, nodes in cut.nodes.items():
            assert [node.low for node in nodes[1:]] == [node.high for node in nodes[:-1]]
            assert (nodes[0].low, nodes[-1].high) == (0, schema[name].domain.size)


def test_wide_tables_repeat_attributes_under_other_names(bench: None) -> None:
    from tables import base

    records, schema = base("patients-20")
    assert len(schema.predictors) == 20
    assert records.column_names == [attribute.name for attribute in schema.attributes]
    assert records.column("age.1").equals(records.column("age"))


@pytest.mark.parametrize("script", sorted(path.stem for path in BENCHMARKS.glob("*.py")))
def test_every_script_imports(bench: None, script: str) -> None:
    importlib.import_module(script)


def test_every_ingredient_replaces_a_part_that_exists(bench: None) -> None:
    from ingredients import VARIANTS

    parts = [part for variant in VARIANTS for part in variant.replaced]
    assert parts
    assert [name for owner, name in parts if not hasattr(owner, name)] == []


def test_an_estimate_for_a_cluster_follows_from_two_sizes(bench: None) -> None:
    from scale import constants, release

    sizes = {"rows small": 1_000, "rows large": 1_001_000, "empty job": 0.2, "open small": 3.0, "open large": 4.0}
    known = constants({**sizes, "round small 200": 0.5, "round large 200": 0.6})
    assert (known.job, known.code, known.count) == (0.2, pytest.approx(2e-6), pytest.approx(2e-7))
    parts = release(1e9, 100, known, table=1_250_000)
    assert list(parts.values()) == pytest.approx([20.0, 18.0, 1.8, 0.009])


def test_an_estimate_without_measurements_says_what_to_run(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    for text, message in ((None, "does not exist"), ('{"spark": null}', "no Spark measurements")):
        if text is not None:
            results.write_text(text)
        run = [sys.executable, str(BENCHMARKS / "scale.py"), str(results)]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert message in done.stderr and "make bench" in done.stderr and "Traceback" not in done.stderr


def test_the_cost_of_the_default_release_is_printed_beside_that_of_reading(bench: None) -> None:
    options = ["--only", "rows", "--data", "patients", "--rows", "300", "--repeats", "1"]
    run = [sys.executable, "-W", "error", str(BENCHMARKS / "default_cost.py"), *options]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, _, first, second = done.stdout.splitlines()
    assert head == "| table | read | release, now | method, now |"
    assert first.startswith("| 100,000 rows |") and second.startswith("| 1 million rows |")
    assert first.count("MB") == 3 and first.count("x)") == 4


def test_ratios_of_the_default_release_are_those_to_reading(bench: None) -> None:
    from default_cost import Cost, line

    costs = {"read": Cost(0.5, 200.0), "release, now": Cost(2.0, 500.0)}
    assert line("ten rows", costs) == "| ten rows | 0.50 s, 200 MB | 2.00 s (4.0x), 500 MB (2.5x) |"
