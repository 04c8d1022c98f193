"""Every method makes a release of every table: empty, of one row, with all rows dropped, with constant columns, at the
smallest and the largest epsilon. Warnings are errors in all tests.

If the counts are mostly noise, the number of rows that are written or drawn is limited.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scumble import release, verify
from scumble.files.release_folder import read_manifest
from scumble.files.schema_file import parse_schema
from scumble.flows.release import Published
from scumble.model.budget import LARGEST, SMALLEST
from scumble.model.release import CellRelease
from scumble.model.row_limit import MOST_UNCERTAIN_ROWS, row_counts

EPSILONS = (SMALLEST, LARGEST)


def mixed(rows: int) -> pd.DataFrame:
    drawn = np.random.default_rng(rows)
    columns = {"town": drawn.choice(["Ulm", "Rome", "Bonn"], rows), "sick": drawn.choice(["true", "false"], rows)}
    numbers = {name: drawn.integers(0, 100, rows) for name in ("age", "pay")}
    return pd.DataFrame({**columns, **numbers})


TABLES = {
    "empty": mixed(0),
    "one row": mixed(1),
    "few rows": mixed(9),
    "one class, constant columns": pd.DataFrame([{"town": "Ulm", "sick": "true", "age": 5, "pay": 7}] * 30),
    "all off the domain": pd.DataFrame([{"town": "?", "sick": "?", "age": -5, "pay": 10**9}] * 30),
}
CLASSES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("diffgen", {}),
    ("diffgen", {"leaves": True}),
    ("diffgen", {"detail": "no"}),
    ("diffgen", {"selection": "published", "score": "infogain"}),
    ("diffgen", {"score": "gini", "rounds": 3}),
    ("histograms", {}),
    ("microaggregate", {}),
    ("microaggregate", {"centre": "mean", "depth": 2}),
    ("microaggregate", {"centre": "median", "depth": 1}),
)
GROUPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("microaggregate", {}),
    ("microaggregate", {"centre": "mean", "depth": 2}),
    ("plain", {}),
    ("i-mdav", {"k": 3}),
    ("s-mdav", {"k": 3}),
    ("mdav", {"k": 3}),
)


def class_schema(*, step: str = "5", outside: str = "drop", first: str = "") -> str:
    return f"""
scumble: schema/1
{first}
target: sick
attributes:
  town: {{taxonomy: {{Any: {{South: {{Ulm: , Rome: }}, Bonn: }}}}, outside: {outside}}}
  age: {{numeric: {{low: 0, high: 100, step: {step}}}, outside: {outside}}}
  sick: {{classes: ["true", "false"], outside: {outside}}}
"""


def number_schema(first: str, *, step: str = "5") -> str:
    return f"""
scumble: schema/1
{first}
attributes:
  age: {{numeric: {{low: 0, high: 100, step: {step}}}}}
  pay: {{numeric: {{low: 0, high: 100, step: {step}}}}}
"""


def released(folder: Path, frame: pd.DataFrame, schema: str, method: str, **options: Any) -> Published:
    made = release(
        frame,
        schema=parse_schema(schema),
        out=folder / "out",
        ledger=folder / "ledger.db",
        method=method,
        accept=["unproven", "k-anonymity"],
        **options,
    )
    assert verify(folder / "out")
    return made


@pytest.mark.parametrize("epsilon", EPSILONS, ids=lambda epsilon: f"{float(epsilon):g}")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("method", "options"), CLASSES, ids=str)
def test_methods_for_classes(
    tmp_path: Path, method: str, options: dict[str, Any], table: str, epsilon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scumble.model.row_limit.MOST_UNCERTAIN_ROWS", 1000)
    released(tmp_path, TABLES[table], class_schema(), method, epsilon=epsilon, **options)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=lambda epsilon: f"{float(epsilon):g}")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("method", "options"), GROUPS, ids=str)
def test_methods_for_groups(
    tmp_path: Path, method: str, options: dict[str, Any], table: str, epsilon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scumble.model.row_limit.MOST_UNCERTAIN_ROWS", 1000)
    frame = TABLES[table] if "k" not in options or len(TABLES[table]) > 6 else mixed(6)
    budget = {} if method == "mdav" else {"epsilon": epsilon}
    released(tmp_path, frame, number_schema(f"unit: replace\nrows: {len(frame)}"), method, **budget, **options)
    if method == "microaggregate":
        other = tmp_path / "add-remove"
        other.mkdir()
        released(other, frame, number_schema("rows_at_most: 1000"), method, **budget, **options)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-8", "1"])
@pytest.mark.parametrize(("method", "options"), [CLASSES[0], *CLASSES[2:]], ids=str)
def test_a_grid_of_five_thousand_cells(
    tmp_path: Path, method: str, options: dict[str, Any], epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before scores were clipped, an epsilon of 1e-8 ended in an error after the charge."""
    monkeypatch.setattr("scumble.model.row_limit.MOST_UNCERTAIN_ROWS", 1000)
    released(tmp_path, TABLES["few rows"], class_schema(step="0.02"), method, epsilon=epsilon, **options)


@pytest.mark.parametrize(("method", "options"), [("diffgen", {"detail": "no"}), ("histograms", {})], ids=str)
def test_noise_does_not_fill_the_disk(tmp_path: Path, method: str, options: dict[str, Any]) -> None:
    """At the smallest epsilon the counts are billions of rows, and half of the runs have a positive total."""
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = released(folder, mixed(9), class_schema(step="25"), method, epsilon=SMALLEST, **options)
        with (folder / "out" / "table.csv").open("rb") as file:
            rows = sum(1 for _ in file) - 1
        assert rows <= 1.01 * MOST_UNCERTAIN_ROWS
        limited = rows > 0.99 * MOST_UNCERTAIN_ROWS
        assert any("mostly noise" in step for step in made.release.story) is limited
        assert ("mostly noise" in (folder / "out" / "report.html").read_text(encoding="utf-8")) is limited
        if isinstance(made.release, CellRelease):
            manifest = read_manifest(folder / "out")
            assert manifest.get("table_rows") == (rows if limited else None)
            assert (int(made.release.count.sum()) > rows) is limited
        if limited:
            return
    pytest.fail("ten totals of mostly noise were all negative")


def test_microaggregate_limits_its_records(tmp_path: Path) -> None:
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = released(folder, mixed(9), number_schema("rows_at_most: 9"), "microaggregate", epsilon=SMALLEST)
        records = made.release.counted_records
        assert records is not None and records[0] <= 1.01 * MOST_UNCERTAIN_ROWS
        if any("mostly noise" in step for step in made.release.story):
            return
    pytest.fail("twenty sizes of mostly noise were all negative")


def test_a_large_table_keeps_a_row_for_each_counted_record() -> None:
    count = np.array([[3 * MOST_UNCERTAIN_ROWS, MOST_UNCERTAIN_ROWS]])
    total = float(count.sum())
    assert row_counts(count, counted=total, error=total / 10) is count
    assert row_counts(count, counted=total, error=total / 9).sum() == MOST_UNCERTAIN_ROWS
    assert row_counts(count // 4, counted=0.0, error=total).sum() == MOST_UNCERTAIN_ROWS
