"""Risk beside utility: k-anonymous methods as contenders, attacks on every table, and their map."""

import json
from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble

from scumble.comparison.compare import Comparison, compare
from scumble.comparison.contenders import contender_of
from scumble.comparison.files import write_comparison
from scumble.comparison.measures import OF_ATTACKS
from scumble.comparison.risk_map import mapped, not_mapped, risk_lines, risk_map
from scumble.comparison.summary import mean_scores
from scumble.errors import InputError

TABLE = "people.csv@schema.yaml"


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(people(400))
    Path("schema.yaml").write_text(SCHEMA)


def asked(*contenders: str, attacks: bool) -> Comparison:
    return Comparison(
        tables=(TABLE,),
        contenders=contenders,
        epsilons=("1",),
        splits=(0,),
        classifiers=("tree",),
        attacks=attacks,
    )


def test_methods_without_epsilon_are_contenders() -> None:
    tds, mondrian = contender_of("tds:k=5"), contender_of("mondrian:k=4,relaxed=true")
    assert not tds.private
    assert not mondrian.private
    assert contender_of("diffgen").private
    with pytest.raises(InputError, match="k"):
        contender_of("tds")


def test_a_contender_without_attacks_is_not_left_out_silently() -> None:
    result = compare(asked("tds:k=5", "diffp-c45", "independent", attacks=True), Path("cache"))
    lines = mean_scores(result.outcomes)
    assert {each.contender for each in mapped(result, lines, TABLE)} == {"tds:k=5"}
    reasons = not_mapped(result, lines)
    assert [reason.partition(":")[0] for reason in reasons] == ["diffp-c45", "independent"]
    assert "publishes a model and no table" in reasons[0]
    assert write_comparison(result, Path("out"))["not_mapped"] == reasons
    page = Path("out/comparison.md").read_text()
    assert all(f"- not on the map: {reason}" in page for reason in reasons)
    assert "not on the map: diffp-c45, independent" in risk_map(result, lines).note


def test_attacks_stand_beside_utility() -> None:
    comparison = asked("raw", "mondrian:k=5", "tds:k=5", "histograms", "mdav:k=5", attacks=True)
    result = compare(comparison, Path("cache"))
    assert [reason for reason in result.skipped if "mdav" in reason], "it needs another unit of privacy"
    assert {(each.contender, each.epsilon) for each in result.outcomes} == {
        ("raw", ""),
        ("mondrian:k=5", ""),
        ("tds:k=5", ""),
        ("histograms", "1"),
    }
    assert all(getattr(each, name) is not None for each in result.outcomes for name in OF_ATTACKS)
    lines = mean_scores(result.outcomes)
    points = {each.contender: each for each in mapped(result, lines, TABLE)}
    assert points["raw"].risk > points["tds:k=5"].risk
    assert len(risk_map(result, lines).panels) == 1
    assert compare(comparison, Path("cache")) == result, "from the cache"
    summary = write_comparison(result, Path("out"))
    assert summary["comparison"]["attacks"] is True
    page = Path("out/comparison.md").read_text()
    assert "risk and utility" in page
    assert Path("out/risk-utility.svg").is_file()


def test_without_attacks_there_is_no_map() -> None:
    result = compare(asked("tds:k=5", attacks=False), Path("cache"))
    lines = mean_scores(result.outcomes)
    assert risk_map(result, lines).panels == ()
    assert risk_lines(result, lines) == []
    assert not_mapped(result, lines) == []
    assert all(each.linkage is None for each in result.outcomes)


def test_the_command_line() -> None:
    words = ("--data", TABLE, "--contender", "tds:k=5", "--contender", "raw", "--splits", 1, "--classifier", "tree")
    found = json.loads(scumble("compare", *words, "--attacks", "--jobs", 1, "--json").out)
    assert {line["measure"] for line in found["lines"]} >= set(OF_ATTACKS)
