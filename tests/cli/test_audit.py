"""`scumble audit` on the command line and from Python: JSON, exit codes, the page, going on after an interruption."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import Ended
from command_line import scumble as run
from planted_bugs import RangeFromData

import scumble
from scumble.auditing.audit import examine
from scumble.auditing.mechanisms import Mechanism
from scumble.auditing.neighbours import CodedRows, Pair
from scumble.auditing.outcomes import Draws
from scumble.auditing.report import audit_page
from scumble.auditing.single_answers import one_count
from scumble.demo.patients import write_patients
from scumble.errors import InputError
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema

QUICK = ("--runs", 200, "--variations", 0, "--workers", 1, "--confidence", "0.999999")


def audit(*words: object) -> Ended:
    return run("audit", "--epsilon", "1", "--leaves", *QUICK, *words)


def test_json_says_declared_and_found(tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    found = audit("--json", "--report", page).json
    assert found["declared"] == "1"
    assert 0 <= found["found"] <= 1
    assert found["confidence"] == "0.999999"
    assert found["runs"] > 2 * found["judged"] == 400
    assert found["pair"] and found["event"] and found["direction"]
    text = page.read_text("utf-8")
    assert "<svg" in text and "Not refuted" in text
    assert "http" not in text and "<script" not in text


def test_text_says_what_was_not_proved() -> None:
    ended = audit()
    assert ended.code == 0
    assert "That proves nothing" in ended.out
    assert "Tables:" in ended.out and "Event:" in ended.out


def test_more_found_than_declared_is_exit_code_four(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = RangeFromData()
    monkeypatch.setattr(broken, "name", "diffgen", raising=False)
    monkeypatch.setattr("scumble.methods.METHODS", (broken,))
    ended = run("audit", "--epsilon", "1", "--rounds", 1, "--runs", 600, "--variations", 0, "--workers", 1, "--json")
    assert ended.code == 4, ended.err
    assert json.loads(ended.out)["refuted"] is True
    assert "REFUTED" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--confidence", "1"), "below 1"),
        (("--confidence", "99"), "below 1"),
        (("--runs", "10"), "too few"),
        (("--method", "nonsense"), "Unknown method"),
        (("--attacks", "nowhere"), "--train and --control"),
    ],
)
def test_bad_words_are_refused(words: tuple[str, ...], message: str) -> None:
    ended = audit(*words)
    assert ended.code == 2
    assert message in ended.err


@dataclass(frozen=True, kw_only=True)
class Interrupted:
    """A mechanism that is stopped after some batches."""

    inner: Mechanism
    batches: list[int]

    @property
    def schema(self) -> Schema:
        return self.inner.schema

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        if not self.batches:
            raise KeyboardInterrupt
        self.batches.pop()
        return self.inner.draw(pair, rows, runs)


def test_an_interrupted_audit_goes_on(tmp_path: Path) -> None:
    """The event stands and what was counted stays counted; no other audit takes the file for its own."""
    state, subject = tmp_path / "state.json", one_count(Fraction(1))
    stopped = replace(subject, mechanism=Interrupted(inner=subject.mechanism, batches=[0] * 9))
    with pytest.raises(KeyboardInterrupt):
        examine(stopped, judged=6_000, workers=1, state=state)
    before = json.loads(state.read_text("utf-8"))
    assert 0 < before["runs"] < 6_000
    finding = examine(subject, judged=6_000, workers=1, state=state)
    after = json.loads(state.read_text("utf-8"))
    assert after["event"] == before["event"] and after["pair"] == before["pair"]
    assert after["runs"] == finding.judged == 6_000
    assert after["hits"][0] > before["hits"][0]
    assert examine(subject, judged=6_000, workers=1, state=state) == finding, "a finished one is not run again"
    with pytest.raises(InputError, match="another audit"):
        examine(one_count(Fraction(2)), judged=6_000, workers=1, state=state)
    state.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="no state"):
        examine(subject, judged=6_000, workers=1, state=state)


def test_all_cores_draw_as_one_does() -> None:
    subject = one_count(Fraction(1))
    finding = examine(subject, judged=4_000, workers=2)
    assert 0.5 < finding.found < 1.3
    assert finding.runs == 2 * 4_000 + 4 * 1_000


def test_a_page_shows_a_refuted_method() -> None:
    finding = scumble.audit(RangeFromData(), epsilon="1", rounds=1, judged=600, variations=0, workers=1)
    assert finding.refuted
    assert 'class="over"' in audit_page([finding])
    assert finding.unit is Unit.ADD_REMOVE


def test_attacks_compare_with_a_control_group(tmp_path: Path) -> None:
    write_patients(tmp_path, rows=2_000)
    ended = run(
        "release",
        tmp_path / "patients.csv",
        "--schema",
        tmp_path / "schema.yaml",
        "--epsilon",
        "1",
        "--out",
        tmp_path / "out",
        "--ledger",
        tmp_path / "ledger",
    )
    assert ended.code == 0, ended.err
    words = ("--train", tmp_path / "patients.csv", "--control", tmp_path / "test.csv")
    found = run("audit", "--attacks", tmp_path / "out", *words, "--json").json["attacks"]
    assert [each["attack"] for each in found] == [
        "membership inference",
        "attribute inference",
        "singling out",
        "linkage",
    ]
    for each in found:
        assert 0 <= each["control"] <= 1
        assert each["difference"][0] <= each["in_release"] - each["control"] <= each["difference"][1]
    assert found[0]["most_allowed"] == pytest.approx(0.4621)
    assert "for you alone" in run("audit", "--attacks", tmp_path / "out", *words).err
