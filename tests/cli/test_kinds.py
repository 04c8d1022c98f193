"""A table as people have them: dates, decimal commas, ICD codes and yes or no, through the command line."""

from pathlib import Path

import pytest
from command_line import scumble

SCHEMA = """\
scumble: schema/1
target: ill
numbers: {decimal: ",", thousands: "."}
attributes:
  admitted: {date: {from: 2020-01-01, to: 2024-01-01, step: month, format: "%d.%m.%Y"}, missing: unknown}
  pay: {numeric: {low: 0, high: 40000, step: 5000}}
  diagnosis: {prefix: {levels: [1, 3], pattern: "[EI]1[01]", ignore: .}}
  pain: {ordered: [none, mild, moderate, severe]}
  ill: {boolean: {false: ["no"], true: ["yes"]}}
"""
ROWS = (
    ("31.12.2021", '"31.288,61"', "E11.9", "none", "yes"),
    ("2023-05-06", '"1.250,5"', "I10", "severe", "no"),
    ("", "700", "I11.0", "mild", "no"),
    ("01.02.2020", '"39.999,99"', "E10", "moderate", "yes"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    lines = ["admitted,pay,diagnosis,pain,ill", *(",".join(row) for row in ROWS * 50)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def test_the_check_names_the_kinds_and_finds_every_value_in_its_domain(folder: Path) -> None:
    shown = scumble("schema", "check", "schema.yaml").out
    assert all(kind in shown for kind in ("date", "number", "code", "ordered category", "class"))
    found = scumble("schema", "check", "schema.yaml", "people.csv", "--rows", "--json").json["rows"]
    assert found["kept"] == 200
    assert {each["unknown"] + each["unreadable"] + each["outside"] for each in found["attributes"].values()} == {0}
    assert found["attributes"]["admitted"]["missing"] == 50


def test_a_release_of_such_a_table_verifies_and_can_be_evaluated(folder: Path) -> None:
    made = scumble("release", "people.csv", "--schema", "schema.yaml", "--epsilon", "30", "--out", "made")
    assert made.code == 0, made.err
    assert scumble("verify", "made").code == 0
    scores = scumble("evaluate", "made", "--test", "people.csv", "--train", "people.csv", "--json").json
    assert scores["raw"]["tree"]["accuracy"] == 1 and scores["tree"]["accuracy"] > 0.9


def test_a_wrong_kind_is_refused_before_anything_is_charged(folder: Path) -> None:
    (folder / "schema.yaml").write_text(SCHEMA.replace("ordered: [none", "text: [none"), encoding="utf-8")
    refused = scumble("release", "people.csv", "--schema", "schema.yaml", "--epsilon", "30", "--out", "made")
    assert refused.code == 2
    assert "Kinds of attributes: numeric, taxonomy, ordered, date, boolean, prefix" in refused.error
    assert not (folder / "made").exists()
