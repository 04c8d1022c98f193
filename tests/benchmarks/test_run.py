"""The benchmark harness on a small made-up table, so that it cannot rot; and that a missed limit is told."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scumble.demo.patients import patients_schema

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
    ):
        assert what in figures
        assert what in done.stdout
        assert what in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert (tmp_path / "page.svg").read_text(encoding="utf-8").count("<text") > 20
    assert str(tmp_path) not in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_a_missed_limit_is_told_and_fails(bench: None) -> None:
    from figures import Figure, exit_code, table

    within = Figure(what="a", measured=2.0, unit="x", limit=2)
    beyond = Figure(what="b", measured=2.1, unit="x", limit=2)
    told = Figure(what="c", measured=9.9, unit="s")
    assert exit_code([within, told]) == 0
    assert exit_code([within, beyond, told]) == 4
    assert table([within, beyond, told]).splitlines()[2:] == [
        "| a | 2 x | 2 x | ok |  |",
        "| b | 2.1 x | 2 x | **missed** |  |",
        "| c | 9.9 s |  |  |  |",
    ]


def test_blown_up_rows_are_the_records_then_variations_within_the_domain(bench: None, tmp_path: Path) -> None:
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


def test_a_cut_of_as_many_cells_as_asked_for(bench: None) -> None:
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
