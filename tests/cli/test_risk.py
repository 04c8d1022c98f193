"""`scumble risk` on the command line: the table in words, and as JSON."""

from pathlib import Path

from command_line import scumble

TABLE = "age,sex,ill\n30,m,yes\n30,m,no\n40,f,no\n"
SCHEMA = """\
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}}
  sex: {classes: [m, f]}
  ill: {classes: ["yes", "no"]}
"""


def test_risk_in_words_and_as_json(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    words = ["risk", str(tmp_path / "people.csv"), "--schema", str(tmp_path / "schema.yaml"), "--quasi", "age,sex"]
    shown = scumble(*words, "--report", str(tmp_path / "risk.html"))
    assert shown.code == 0
    assert "for the data owner only" in shown.out
    assert "33.3 %" in shown.out
    assert (tmp_path / "risk.html").is_file()
    found = scumble(*words, "--json").json
    assert (found["k"], found["groups"], found["records"]) == (1, 2, 3)
    refused = scumble("risk", str(tmp_path / "people.csv"))
    assert refused.code == 2
    assert "--schema" in refused.error
