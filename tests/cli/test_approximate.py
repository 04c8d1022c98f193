"""A release under (epsilon, delta), at the command line: differs from a pure one wherever the guarantee is stated."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import SCHEMA, people, release, scumble

import scumble as api
from scumble.model.zcdp import rho_within

OPTIONS = ("--schema", "schema.yaml", "--method", "histograms", "--epsilon", "1")
SENTENCE = "(1, 1e-9)-differentially private: no event becomes more than e^1 times as likely, plus 1e-9, when one"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "people.csv").write_text(people(300))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


def test_the_plan_states_delta_rho_and_the_better_guarantee(folder: Path) -> None:
    words = " ".join(scumble("plan", *OPTIONS, "--delta", "1e-9").out.split())
    assert SENTENCE in words and "epsilon and delta allow a rho of 0.0149730576735" in words
    assert "For 2 tables at epsilon 1, pure epsilon has" in words and "leave out --delta" in words
    assert "the epsilon is twice and the delta 1 + e^epsilon times that" in words
    data = scumble("plan", *OPTIONS, "--delta", "1e-9", "--json").json
    assert data["guarantee"] == {"kind": "ApproxDP", "epsilon": "1", "delta": "0.000000001", "unit": "add-remove"}
    assert [spend["rho"] for spend in data["spends"]] == ["0.0149730576735"]
    assert "epsilon" not in data["spends"][0]
    assert scumble("plan", *OPTIONS, "--json").json["guarantee"]["kind"] == "PureDP", "never the default"


def test_a_release_is_verified_loaded_and_told_apart(folder: Path) -> None:
    made = release("people.csv", method="histograms", delta="1e-9")
    assert SENTENCE in " ".join(made.out.split())
    assert "Charged 1 and delta 1e-9: 1 of 1 and delta 1e-9 of 1e-9 spent" in " ".join(made.out.split())
    assert "the rhos of the spends stay within what epsilon and delta allow" in scumble("verify", "out").out
    manifest = json.loads((folder / "out" / "release.json").read_text())
    assert manifest["guarantee"]["sentence"].startswith(SENTENCE)
    assert manifest["parameters"] == {"epsilon": "1", "delta": "1e-9"}
    assert manifest["receipt"]["charged_delta"] == "0.000000001"
    report = " ".join((folder / "out" / "report.html").read_text().split())
    assert "This is approximate, not pure, differential privacy" in report
    assert "plus δ = 1e-9" in report and "ε and δ together allow 0.0149730576735" in report
    assert "charged 1 and a δ of 1e-9" in report
    loaded = api.load_release(folder / "out")
    assert isinstance(loaded.plan.guarantee, api.ApproxDP)
    assert loaded.plan.guarantee.delta == Fraction(1, 10**9)
    shown = " ".join(scumble("ledger", "show").out.split())
    assert "1 of 1 spent, delta 1e-9 of 1e-9 spent" in shown
    assert scumble("ledger", "verify").code == 0


def test_an_edited_delta_is_noticed(folder: Path) -> None:
    release("people.csv", method="histograms", delta="1e-9")
    path = folder / "out" / "release.json"
    path.write_text(path.read_text().replace('"delta": "0.000000001"', '"delta": "0.0000000001"'))
    assert scumble("verify", "out").code != 0
    with pytest.raises(api.ScumbleError):
        api.load_release(folder / "out")


def test_a_second_release_with_a_delta_needs_a_grant(folder: Path) -> None:
    release("people.csv", method="histograms")
    refused = release("people.csv", method="histograms", delta="1e-9", out="second")
    assert "It allows no delta" in refused.err
    assert 'scumble ledger grant people 2 --delta 1e-9 --reason "..."' in refused.err
    granted = scumble("ledger", "grant", "people", "2", "--delta", "1e-9", "--reason", "many tables", "--json").json
    assert granted["ceiling_delta"] == "0.000000001"
    assert release("people.csv", method="histograms", delta="1e-9", out="second").code == 0


@pytest.mark.parametrize(("delta", "message"), [("0", "leave it out"), ("0.01", "far below"), ("x", "not a finite")])
def test_a_delta_that_protects_nobody_is_refused(folder: Path, delta: str, message: str) -> None:
    refused = scumble("plan", *OPTIONS, "--delta", delta)
    assert refused.code == 2 and message in " ".join(refused.err.split())


def test_persons_have_the_rho_of_a_row_times_the_square_of_their_rows(folder: Path) -> None:
    (folder / "persons.yaml").write_text(SCHEMA.replace("target", "person: id\nrows_each_at_most: 3\ntarget"))
    planned = api.plan(schema=folder / "persons.yaml", method="histograms", epsilon="1", delta="1e-9")
    whole = rho_within(Fraction(1), Fraction(1, 10**9))
    (spend,) = planned.spends
    assert spend.rho is not None and 0 <= whole - 9 * spend.rho < whole / 10**6
    assert planned.notes[-1].endswith("each row is planned with rho divided by 9, the square of the rows.")
    assert "(1, 1e-9)-differentially private" in planned.guarantee.sentence
    assert "may reveal all about that person" in planned.guarantee.sentence
