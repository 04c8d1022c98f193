"""Beside every epsilon stands what it means, and a large one is advised against: the same words at every verb."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble
from command_tree import COMMANDS

ELSEWHERE = {
    "audit": "runs on generated tables",
    "compare": "runs on tables that are public",
    "survey build": "in tests/survey",
    "survey serve": "in tests/survey",
    "join rehearse": "below, where several processes run",
}
"""Verbs with an epsilon that nobody's rows are published under, or whose test is in another place."""
SCHEMA_FILE = ("--schema", "schema.yaml")
VERBS: dict[str, Sequence[str]] = {
    "plan": ("plan", *SCHEMA_FILE, "--epsilon"),
    "release": ("release", "people.csv", *SCHEMA_FILE, "--out", "made", "--epsilon"),
    "perturb": ("perturb", "people.csv", *SCHEMA_FILE, "--out", "made", "--epsilon"),
    "rehearse": ("rehearse", *SCHEMA_FILE, "--rows", "50", "--epsilon"),
    "join init": (
        *("join", "init", *SCHEMA_FILE, "--out", "made"),
        *("--party", "a=h:1", "--party", "b=h:2", "--party", "c=h:3", "--epsilon"),
    ),
    "ledger grant": ("ledger", "grant", "people", "--reason", "for this test"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text(people(50))
    return tmp_path


def opened() -> None:
    """An account of 'people' in the ledger."""
    assert scumble("release", "people.csv", *SCHEMA_FILE, "--epsilon", "0.5", "--out", "first").code == 0


def test_every_verb_with_an_epsilon_is_here() -> None:
    having = {
        words
        for words, command in COMMANDS.items()
        if {"--epsilon", "ceiling"} & {name for option in command.params for name in option.opts}
    }
    assert having == VERBS.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_large_epsilon_is_explained_and_advised_against(folder: Path, verb: str, form: Sequence[str]) -> None:
    if verb == "ledger grant":
        opened()
    ended = scumble(*VERBS[verb], "40", *form)
    assert ended.code == 0, ended.err
    assert ended.err.count("epsilon 40 promises little: a 50 % suspicion can rise to practically 100 %.") == 1
    if form:
        assert json.loads(ended.out)
    else:
        assert " 50 % suspicion " in ended.out and "can rise to at most practically 100 %" in ended.out


@pytest.mark.parametrize("verb", VERBS)
def test_a_usual_epsilon_is_explained_without_a_warning(folder: Path, verb: str) -> None:
    if verb == "ledger grant":
        opened()
    ended = scumble(*VERBS[verb], "1")
    assert " 50 % suspicion " in ended.out and "can rise to at most 73.1 %" in ended.out
    assert "promises little" not in ended.err


def test_a_joint_plan_says_the_same(folder: Path) -> None:
    scumble(*VERBS["join init"], "40")
    ended = scumble("join", "plan", "--agreement", "made/agreement.yaml")
    assert "epsilon 40 promises little" in ended.err and "can rise to at most practically 100 %" in ended.out


@pytest.mark.joint
def test_a_rehearsed_joint_release_says_the_same(folder: Path) -> None:
    ended = scumble("join", "rehearse", "--rows", "30", "--rounds", "1", "--epsilon", "40", *SCHEMA_FILE)
    assert ended.code == 0, ended.err
    assert "epsilon 40 promises little" in ended.err and "can rise to at most practically 100 %" in ended.out
