"""`scumble audit` on the command line and from Python: JSON, exit codes, the report, resuming after an interruption."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import Ended
from command_line import scumble as run
from planted_bugs import RangeFromData

import scumble
from scumble.auditing.audit import audit_subject, method_subject
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


def test_json_contains_the_declared_epsilon_and_the_bound(tmp_path: Path) -> None:
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


def test_the_text_says_that_an_audit_is_not_a_proof() -> None:
    ended = audit()
    assert ended.code == 0
    assert "This is not a proof" in ended.out
    assert "Tables:" in ended.out and "Event:" in ended.out


def test_a_bound_above_the_declared_epsilon_is_exit_code_four(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_invalid_options_are_refused(words: tuple[str, ...], message: str) -> None:
    ended = audit(*words)
    assert ended.code == 2
    assert message in ended.err


@dataclass(frozen=True, kw_only=True)
class Interrupted:
    """A mechanism that is interrupted after some batches."""

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


def test_an_interrupted_audit_resumes(tmp_path: Path) -> None:
    """The event and the counts are kept, and the state file is refused for any other audit."""
    state, subject = tmp_path / "state.json", one_count(Fraction(1))
    stopped = replace(subject, mechanism=Interrupted(inner=subject.mechanism, batches=[0] * 9))
    with pytest.raises(KeyboardInterrupt):
        audit_subject(stopped, runs=6_000, workers=1, state=state)
    before = json.loads(state.read_text("utf-8"))["test"]
    assert 0 < before["runs"] < 6_000
    finding = audit_subject(subject, runs=6_000, workers=1, state=state)
    after = json.loads(state.read_text("utf-8"))["test"]
    assert after["event"] == before["event"] and after["pair"] == before["pair"]
    assert after["runs"] == finding.judged == 6_000
    assert after["hits"][0] > before["hits"][0]
    assert audit_subject(subject, runs=6_000, workers=1, state=state) == finding, "a finished audit is not run again"
    with pytest.raises(InputError, match="another audit"):
        audit_subject(one_count(Fraction(2)), runs=6_000, workers=1, state=state)
    state.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="not the state file"):
        audit_subject(subject, runs=6_000, workers=1, state=state)


def test_a_worker_pool_gives_the_same_number_of_runs() -> None:
    subject = one_count(Fraction(1))
    finding = audit_subject(subject, runs=4_000, workers=2)
    assert 0.5 < finding.found < 1.3
    assert finding.runs == 2 * 4_000 + 4 * 1_000


def test_an_interrupted_search_resumes_with_the_pairs_it_has_screened(tmp_path: Path) -> None:
    state, subject = tmp_path / "state.json", method_subject("contingency", parameters={"epsilon": "1"})
    subject = replace(subject, pairs=subject.pairs[:5])
    stopped = replace(subject, mechanism=Interrupted(inner=subject.mechanism, batches=[0] * 14))
    with pytest.raises(KeyboardInterrupt):
        audit_subject(stopped, runs=400, workers=1, state=state)
    before = json.loads(state.read_text("utf-8"))
    assert len(before["screened"]) == 3 and before["test"] is None
    drawn = [0] * 10_000
    resumed = replace(subject, mechanism=Interrupted(inner=subject.mechanism, batches=drawn))
    finding = audit_subject(resumed, runs=400, workers=1, state=state)
    not_screened_before = len(subject.pairs) - 3
    assert 10_000 - len(drawn) == 4 * not_screened_before + 4 * 3 + 4 + 2 * 20
    assert finding.runs == 4 * 50 * len(subject.pairs) + 4 * 200 * 3 + 4 * 200 + 2 * 400


def test_a_folder_keeps_the_state_until_the_audit_ends(tmp_path: Path) -> None:
    subject = one_count(Fraction(1))
    stopped = replace(subject, mechanism=Interrupted(inner=subject.mechanism, batches=[0] * 9))
    with pytest.raises(KeyboardInterrupt):
        audit_subject(stopped, runs=6_000, workers=1, state=tmp_path)
    [kept] = tmp_path.iterdir()
    assert kept.name.startswith("one count-")
    assert audit_subject(subject, runs=6_000, workers=1, state=tmp_path).judged == 6_000
    assert not list(tmp_path.iterdir())


def test_an_audit_that_is_limited_by_time_fixes_its_runs_before_the_first_test_run(tmp_path: Path) -> None:
    """An interrupted one tests as many runs as it had fixed, at whatever speed it resumes."""
    seen: list[str] = []
    options = {"epsilon": "1", "leaves": True, "seconds": 1, "workers": 1, "variations": 1, "state": tmp_path}
    finding = scumble.audit("diffgen", progress=lambda label, done, total: seen.append(label), **options)
    assert 100 <= finding.judged <= 10_000
    assert [each for each in seen if each.startswith("testing the event, lower bound so far 0.")]
    with pytest.raises(InputError, match="more than 0"):
        scumble.audit("diffgen", **options | {"seconds": 0})


def test_exact_losses_are_shown_before_anything_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.cli.audit.FIRST_SECONDS", 0.5)
    words = ("--epsilon", "1", "--leaves", "--seconds", "1", "--workers", 1)
    ended = run("audit", *words)
    assert ended.code == 0, ended.err
    first, then = ended.out.index("No violation: diffgen"), ended.out.index("Not refuted: diffgen")
    assert first < then and "For a tighter bound, give --runs" in ended.out
    found = run("audit", *words, "--json").json
    assert found["transcripts"]["largest_loss"] == 1 and found["judged"] >= 100
    monkeypatch.setattr("scumble.cli.audit.FIRST_SECONDS", 60)
    refuted = run("audit", "--method", "s-mdav", "--k", 20, "--epsilon", "1", "--json")
    assert refuted.code == 4 and json.loads(refuted.out)["largest_loss"] > 9, "nothing is sampled after a violation"


def test_the_report_shows_a_refuted_method() -> None:
    finding = scumble.audit(RangeFromData(), epsilon="1", rounds=1, runs=600, variations=0, workers=1)
    assert finding.refuted
    assert 'class="over"' in audit_page([finding])
    assert finding.unit is Unit.ADD_REMOVE


def test_the_older_name_of_runs_still_works() -> None:
    pair = Pair(first=(), second=((0, 0, 0),), why="An empty table and one record")
    options = {"epsilon": "1", "leaves": True, "variations": 0, "workers": 1, "pairs": [pair]}
    assert scumble.audit(judged=200, **options).judged == scumble.audit(runs=200, **options).judged == 200
    with pytest.raises(InputError, match="two names of one option"):
        scumble.audit(runs=200, judged=200, **options)
    for name in ("runs", "judged"):
        with pytest.raises(InputError, match="too few"):
            scumble.audit(**{name: 0}, **options)


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
    page = tmp_path / "attacks.html"
    ended = run("audit", "--attacks", tmp_path / "out", *words, "--report", page)
    assert ended.code == 0 and "Do not publish" in ended.err
    text = page.read_text("utf-8")
    assert (
        "<h1>Attacks on the release out</h1>" in text and "Do not publish" in text and "46.2 percentage points" in text
    )
    for each in found:
        assert f"<td>{each['attack']}</td><td>{100 * each['in_release']:.1f} %</td>" in text
    assert "http" not in text and "<script" not in text
    written = page.stat().st_mtime_ns
    again = run("audit", "--attacks", tmp_path / "out", *words, "--report", page)
    assert again.code == 2 and "not overwritten" in again.err and page.stat().st_mtime_ns == written


def test_transcripts_are_compared_instead_of_sampled() -> None:
    ended = run("audit", "--epsilon", "1/3", "--leaves", "--transcripts", 100)
    assert ended.code == 0, ended.err
    assert "diffgen declares epsilon 1/3; the largest privacy loss of 100 transcripts is 0.3333" in ended.out
    found = run("audit", "--method", "histograms", "--epsilon", "1", "--transcripts", 8, "--json").json
    assert found["transcripts"] == 8
    assert found["refuted"] is False
    assert found["largest_loss"] == 1


def test_a_refuted_transcript_is_exit_code_four() -> None:
    ended = run("audit", "--method", "s-mdav", "--k", 20, "--epsilon", "1", "--transcripts", 100, "--json")
    assert ended.code == 4
    found = json.loads(ended.out)
    assert found["refuted"] is True
    assert found["proved"] is False
    assert found["largest_loss"] > 9
    assert "REFUTED: s-mdav declares epsilon 1. The answer 'sums of every group' has a privacy loss of" in ended.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--transcripts", 0), "The number of transcripts is 0. Give 1 or more."),
        (("--transcripts", 9, "--report", "page.html"), "--report shows a sampling audit"),
    ],
)
def test_wrong_options_of_a_transcript_check_are_refused(words: tuple[object, ...], says: str) -> None:
    ended = run("audit", "--epsilon", "1", *words)
    assert ended.code == 2
    assert says in ended.err
