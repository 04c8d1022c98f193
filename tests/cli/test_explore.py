"""`explore` at the command line: the usual method of a schema without a class, and the verbs that need one."""

import json
from pathlib import Path

import pytest
from command_line import people, release, scumble

WITHOUT_CLASS = """\
scumble: schema/1
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}}
  job: {taxonomy: {Any: {White: {Engineer: , Lawyer: }, Blue: {Dancer: , Writer: }}}}
  income: {classes: ["no", "yes"]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    Path("schema.yaml").write_text(WITHOUT_CLASS, encoding="utf-8")
    Path("people.csv").write_text(people(1500), encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_schema_without_a_class_goes_from_plan_to_query() -> None:
    planned = scumble("plan", "--schema", "schema.yaml", "--epsilon", "2", "--json").json
    assert planned["method"] == "explore"
    assert any("Gaussian" in note for note in planned["notes"])
    made = release(epsilon="2", json=True).json
    assert abs(made["records"] - 1500) < 150
    assert scumble("verify", "out").code == 0
    scores = scumble("evaluate", "out", "--test", "people.csv", "--json").json
    assert "tree" not in scores, "there is no class to predict"
    assert "measured" in scumble("query", "out", "job = 'Dancer'", "--json").out


@pytest.mark.usefixtures("folder")
def test_a_delta_is_stated_by_plan_and_release() -> None:
    planned = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1", "--delta", "1e-9", "--json").json
    for found in (planned, release(delta="1e-9", json=True).json):
        assert (found["guarantee"]["kind"], found["guarantee"]["delta"]) == ("ApproxDP", "0.000000001")
    tables = json.loads(Path("out", "tables.json").read_text(encoding="utf-8"))
    assert tables["noise"] == "discrete Gaussian"


@pytest.mark.usefixtures("folder")
def test_methods_that_need_a_class_say_so() -> None:
    for method in ("diffgen", "histograms"):
        ended = scumble("plan", "--schema", "schema.yaml", "--epsilon", "1", "--method", method)
        assert ended.code == 2
        assert f"{method} needs a class to predict" in ended.error


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.usefixtures("folder")
def test_every_engine_counts_the_same(engine: str) -> None:
    """With a large epsilon the noise is almost always zero, so the measured tables are the exact ones."""
    assert release(epsilon="1000", engine=engine).code == 0
    tables = json.loads(Path("out", "tables.json").read_text(encoding="utf-8"))["tables"]
    assert [table["counts"] for table in tables if not table["attributes"]] == [[1500]]
    jobs = next(table for table in tables if table["attributes"] == ["job"])
    text = people(1500)
    exact = [text.count(f",{job},") for job in ("Engineer", "Lawyer", "Dancer", "Writer")]
    assert [count / jobs["unit"] for count in jobs["counts"]] == exact
