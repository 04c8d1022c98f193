"""`scumble evaluate`: fidelity, other attributes as targets, subgroups, and what is written where."""

import json
from pathlib import Path

import pytest
from command_line import SCHEMA, people, release, scumble

from scumble.cli.evaluation import TITLES as CLI_TITLES
from scumble.cli.evaluation import print_evaluation
from scumble.files.report.evaluation import TITLES
from scumble.flows.evaluate import NOTICE
from scumble.mining.benchmark.classifiers import CLASSIFIERS

NUMBERS = """\
scumble: schema/1
unit: replace
rows: 200
attributes:
  height: {numeric: {low: 0, high: 50, step: 1}}
  weight: {numeric: {low: 0, high: 50, step: 1}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    Path("people.csv").write_text(people(300))
    Path("test.csv").write_text(people(60, seed=2))
    Path("schema.yaml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def released() -> None:
    assert release().code == 0


def without_a_class() -> None:
    """A release of two numbers."""
    rows = [f"{number % 50},{(number + number % 3) % 50}" for number in range(200)]
    Path("numbers.csv").write_text("\n".join(["height,weight", *rows]) + "\n")
    Path("numbers.yaml").write_text(NUMBERS)
    words = ["numbers.csv", "--schema", "numbers.yaml", "--epsilon", "1", "--method", "microaggregate", "--out", "out"]
    made = scumble("release", *words)
    assert made.code == 0, made.err


def test_distances_are_reported_by_default(released: None) -> None:
    alone = scumble("evaluate", "out", "--test", "test.csv", "--json").json
    beside = scumble("evaluate", "out", "--test", "test.csv", "--train", "people.csv", "--json").json
    assert alone["notice"] == beside["notice"] == NOTICE
    assert (alone["fidelity"]["of"], alone["fidelity"]["records"]) == ("test", 60)
    assert (beside["fidelity"]["of"], beside["fidelity"]["records"]) == ("train", 300)
    for found in (alone, beside):
        assert set(found["fidelity"]) == {"of", "records", "class", "one_way", "two_way", "three_way"}
        assert found["fidelity"]["class"] == "income"
        assert [found["fidelity"][key]["compared"] for key in ("one_way", "two_way", "three_way")] == [3, 3, 1]
        assert 0 <= found["fidelity"]["one_way"]["mean"] <= found["fidelity"]["three_way"]["mean"] <= 1


def test_everything_is_printed_and_written(released: None) -> None:
    words = ["--test", "test.csv", "--train", "people.csv", "--by", "job", "--target", "job", "--target", "age>50"]
    ended = scumble("evaluate", "out", *words, "--out", "mine")
    assert ended.code == 0, ended.err
    for text in ("two and the class", "test rows", "age above 50", "200 random queries", "Cramer's V", "Lawyer"):
        assert text in ended.out
    assert "Do not publish" in ended.err
    assert max(map(len, ended.out.splitlines())) <= 160
    page = Path("mine/evaluation.html").read_text("utf-8")
    found = json.loads(Path("mine/evaluation.json").read_text("utf-8"))
    assert NOTICE in page
    assert found["notice"] == NOTICE
    assert found["targets"]["age>50"]["predicted"] == "age above 50"
    assert {group["label"] for group in found["by"]["groups"]} == {"Engineer", "Lawyer", "Dancer", "Writer"}
    assert set(found["by"]["groups"][0]["raw_accuracy"]) == {"tree", "boosting"}
    assert scumble("verify", "out").code == 0
    again = scumble("evaluate", "out", *words, "--fidelity", "--json").json
    assert again == found, "the same rows and the same seed give the same figures"


@pytest.mark.parametrize("place", ["out", "out/mine"])
def test_an_evaluation_is_not_written_into_the_release(released: None, place: str) -> None:
    before = sorted(Path("out").iterdir())
    ended = scumble("evaluate", "out", "--test", "test.csv", "--out", place)
    assert ended.code == 2
    assert "Choose a folder elsewhere" in ended.error
    assert sorted(Path("out").iterdir()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Give --test, --train or both"),
        (["--train", "people.csv", "--target", "job"], "Give --test"),
        (["--test", "test.csv", "--target", "height"], "no attribute 'height'"),
        (["--test", "test.csv", "--by", "height"], "no attribute 'height'"),
    ],
)
def test_what_is_missing_is_said(released: None, words: list[str], message: str) -> None:
    ended = scumble("evaluate", "out", *words)
    assert ended.code == 2
    assert message in ended.error


def test_the_raw_rows_behind_the_release_are_enough(released: None) -> None:
    found = scumble("evaluate", "out", "--train", "people.csv", "--by", "job", "--json").json
    assert set(found) == {"notice", "table", "fidelity", "by"}
    ended = scumble("evaluate", "out", "--train", "people.csv", "--by", "job")
    assert "Classifiers" not in ended.out
    assert "one attribute" in ended.out


def test_a_release_of_a_mixed_table_without_a_class() -> None:
    Path("schema.yaml").write_text(SCHEMA.replace("target: income\n", ""))
    made = scumble(
        "release", "people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--method", "explore", "--out", "out"
    )
    assert made.code == 0, made.err
    words = ["--test", "test.csv", "--train", "people.csv", "--by", "job", "--target", "income"]
    found = scumble("evaluate", "out", *words, "--fidelity", "--json").json
    assert "commonest" not in found
    assert [found["fidelity"][key]["compared"] for key in ("one_way", "two_way", "three_way")] == [3, 3, 1]
    assert {"tree", "boosting", "raw", "commonest"} <= set(found["targets"]["income"])
    assert all("accuracy" not in group for group in found["by"]["groups"])


def test_a_release_without_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    without_a_class()
    words = ["--test", "numbers.csv", "--target", "weight", "--by", "height", "--out", "mine"]
    ended = scumble("evaluate", "out", *words)
    assert ended.code == 0, ended.err
    assert "weight above" in ended.out
    assert "Classifiers" not in ended.out
    found = json.loads(Path("mine/evaluation.json").read_text("utf-8"))
    assert "commonest" not in found
    assert "three_way" not in found["fidelity"], "there are two attributes"
    assert "Predicting the class" not in Path("mine/evaluation.html").read_text("utf-8")
    print_evaluation(found)
    assert "two attributes" in capsys.readouterr().out


def test_c45_alone_is_scored_printed_and_written(released: None) -> None:
    words = ["--test", "test.csv", "--train", "people.csv", "--classifier", "c45", "--by", "job", "--target", "age>50"]
    ended = scumble("evaluate", "out", *words, "--out", "mine")
    assert ended.code == 0, ended.err
    assert "C4.5 on the release" in ended.out
    assert "C4.5 on the raw rows" in ended.out
    assert "boosting" not in ended.out
    assert "accuracy of C4.5 on the release" in Path("mine/evaluation.html").read_text("utf-8")
    found = json.loads(Path("mine/evaluation.json").read_text("utf-8"))
    assert "tree" not in found
    assert found["pruning"]["rule"] == "pessimistic errors of C4.5"
    assert set(TITLES) == set(CLI_TITLES) == set(CLASSIFIERS)
