"""`scumble query` on a folder: a table, JSON, files, and errors with a caret."""

import csv
from pathlib import Path

import pytest
from command_line import SCHEMA, people, release, scumble


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("query")
    (place / "schema.yaml").write_text(SCHEMA)
    (place / "people.csv").write_text(people(2_000))
    made = release(
        place / "people.csv",
        schema=place / "schema.yaml",
        method="histograms",
        epsilon="10",
        out=place / "out",
        ledger=place / "ledger.db",
    )
    assert made.code == 0, made.err
    return place / "out"


def test_a_question_gets_a_table_with_its_source(folder: Path) -> None:
    ended = scumble("query", folder, "age < 40 and income = 'yes'")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].strip() == "age < 40 and income = 'yes'"
    assert lines[1].split() == ["measure", "answer", "low", "high", "source"]
    assert lines[2].startswith("count")
    assert "measured (age by income)" in lines[2]
    assert "95 %" in lines[4]


def test_json_and_csv_have_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    words = ("query", folder, "--by", "job", "--by", "income")
    found = scumble(*words, "--json", "--out", tmp_path / "answer.csv").json
    with (tmp_path / "answer.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["job"] for row in rows] == [each["group"]["job"] for each in found["estimates"]]
    assert [float(row["answer"]) for row in rows] == [each["answer"] for each in found["estimates"]]
    assert scumble(*words, "--out", tmp_path / "answer.csv").code == 2


def test_mean_and_quantile(folder: Path) -> None:
    mean = scumble("query", folder, "--mean", "age", "--json").json["estimates"][0]
    assert mean["low"] < mean["answer"] < mean["high"]
    assert 40 < mean["answer"] < 50
    median = scumble("query", folder, "income = 'yes'", "--quantile", 0.5, "age", "--json").json["estimates"][0]
    assert median["low"] <= median["answer"] <= median["high"]


def test_an_error_points_at_the_place(folder: Path) -> None:
    ended = scumble("query", folder, "age < 40 and jobb = 'Writer'")
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.splitlines() == [
        "error: The release has no attribute 'jobb'. Did you mean 'job'?",
        "  age < 40 and jobb = 'Writer'",
        "               ^^^^",
    ]


def test_other_files_are_refused(folder: Path, tmp_path: Path) -> None:
    assert "does not end with" in scumble("query", folder, "--out", tmp_path / "answer.pdf").error


@pytest.mark.parametrize(("ending", "beginning"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_an_answer_is_drawn(folder: Path, tmp_path: Path, ending: str, beginning: bytes) -> None:
    drawn = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for path in drawn:
        assert scumble("query", folder, "--by", "job", "--by", "income", "--out", path).code == 0
    assert drawn[0].read_bytes().startswith(beginning)
    assert drawn[0].read_bytes() == drawn[1].read_bytes()
    assert ending == "png" or "Dancer" in drawn[0].read_text()
