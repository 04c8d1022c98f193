"""From a wanted accuracy to an epsilon: the sweep, its smallest epsilon, and rows that the ledger knows."""

from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble

from scumble.comparison.wanted_accuracy import (
    SweptBudget,
    WantedBudget,
    budget_for_accuracy,
    refuse_known_rows,
    share_of,
)
from scumble.errors import InputError
from scumble.flows.release import release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "public.csv").write_text(people(600, seed=7), encoding="utf-8")
    (tmp_path / "private.csv").write_text(people(200, seed=8), encoding="utf-8")
    return tmp_path


def test_the_smallest_epsilon_that_is_enough(folder: Path) -> None:
    options = {"method": "histograms", "splits": 2, "epsilons": ("0.01", "8"), "ledger": folder / "none.db"}
    found = budget_for_accuracy(folder / "schema.yaml", str(folder / "public.csv"), 0.6, **options)
    assert [each.epsilon for each in found.sweep] == ["0.01", "8"]
    assert found.sweep[1].accuracy > 0.6
    assert found.epsilon is not None
    assert found.to_json()["charged"] == "0"
    assert not (folder / "none.db").exists()


def test_no_epsilon_is_invented() -> None:
    swept = SweptBudget(epsilon="4", accuracy=0.7, band=None)
    assert WantedBudget(wanted=0.9, epsilon=None, sweep=[swept]).to_json()["epsilon"] is None


def test_rows_that_the_ledger_knows_are_refused(folder: Path) -> None:
    ledger = {"ledger": folder / "ledger.db", "witness": folder / "witness.db"}
    release(
        folder / "private.csv",
        schema=folder / "schema.yaml",
        method="histograms",
        epsilon="1",
        out=folder / "out",
        **ledger,
    )
    lines = (folder / "private.csv").read_text("utf-8").splitlines()
    (folder / "renamed.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n", encoding="utf-8")
    for name in ("private.csv", "renamed.csv"):
        with pytest.raises(InputError, match="not public"):
            refuse_known_rows(str(folder / name), folder / "schema.yaml", **ledger)
    refuse_known_rows(str(folder / "public.csv"), folder / "schema.yaml", **ledger)
    words = ("plan", "--schema", folder / "schema.yaml", "--wanted-accuracy", "60%")
    options = [word for name, path in ledger.items() for word in (f"--{name}", path)]
    assert "not public" in scumble(*words, "--like", folder / "renamed.csv", *options).error
    assert "belong together" in scumble(*words).error


@pytest.mark.parametrize("text", ["120%", "1", "much", "-1"])
def test_a_wrong_accuracy_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        share_of(text)
