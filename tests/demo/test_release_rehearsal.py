"""The rehearsal of a release: the noise that the plan pays for, no ledger, and no figure about the class."""

import math
from pathlib import Path

import pytest
from command_line import SCHEMA, scumble

from scumble.cli.rehearse_release import SHOWN_TABLES
from scumble.demo.release_rehearsal import RehearsedTable, rehearse_release
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.privacy.noise import laplace_variance


def test_the_stated_noise_is_that_of_the_plan() -> None:
    found = rehearse_release(parse_schema(SCHEMA), method="histograms", parameters={"epsilon": "1"}, rows=200)
    expected = math.sqrt(laplace_variance(sensitivity=2, epsilon=1))
    assert found.tables
    assert {round(each.deviation, 9) for each in found.tables} == {round(expected, 9)}
    assert (found.epsilon, found.rows, found.to_json()["charged"]) == ("1", 200, "0")
    assert found.bytes > 1000


def test_two_counts_that_can_be_told_apart() -> None:
    table = RehearsedTable(name="age", entries=10, deviation=10)
    assert table.apart == pytest.approx(27.7, abs=0.05)


def test_the_command_line_opens_no_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = tmp_path / "ledger.db"
    monkeypatch.setenv("SCUMBLE_LEDGER", str(ledger))
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    words = ("rehearse", "--schema", tmp_path / "schema.yaml", "--method", "histograms", "--epsilon", "1", "--rows", 50)
    ended = scumble(*words)
    assert ended.code == 0
    assert "nothing was charged" in ended.out
    figures = scumble(*words, "--json").json
    assert "accuracy" not in str(figures)
    assert len(figures["tables"]) <= SHOWN_TABLES
    assert not ledger.exists()


def test_a_wrong_parameter_is_refused() -> None:
    with pytest.raises(InputError):
        rehearse_release(parse_schema(SCHEMA), parameters={"epsilon": "0"})
