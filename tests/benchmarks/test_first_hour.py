"""The walk of a newcomer: the table fits the schema that is written for it, and a failing step is not passed over."""

from pathlib import Path
from types import ModuleType

import pytest

import scumble

BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture
def first_hour(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import first_hour

    return first_hour


def test_the_rows_fit_the_schema_that_the_newcomer_writes(first_hour: ModuleType, tmp_path: Path) -> None:
    first_hour.members(tmp_path / "members.csv", 50, seed=1)
    (tmp_path / "schema.yaml").write_text(first_hour.SCHEMA)
    found = scumble.check_rows(tmp_path / "schema.yaml", tmp_path / "members.csv")
    assert (found.rows, found.kept) == (50, 50)


def test_a_step_that_fails_ends_the_walk(
    first_hour: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        first_hour, "steps", lambda source: [("look", f"ls {source}"), ("fail", "exit 3"), ("go on", "true")]
    )
    with pytest.raises(SystemExit, match="exit 3 ended with 3"):
        first_hour.walk(tmp_path, "members.csv")
    printed = capsys.readouterr().out
    assert "| look | " in printed and "go on" not in printed
