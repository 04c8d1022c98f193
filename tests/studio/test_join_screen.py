"""The Join screen: it writes the agreement of `scumble join init`, and shows parties, commands and states."""

import json
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble
from studio_client import StudioClient

from scumble.errors import InputError
from scumble.flows.join_plan import prepare
from scumble.joint.session.agreement import read_agreement
from scumble.joint.session.state import FORMAT, Marks, open_state
from scumble.studio.joint_runs import RunStatus, parties_from, runs_of, status_of
from scumble.studio.projects import Project, Workspace

SCREEN = "/projects/people-project/join"
FORM = {
    "action": "agree",
    "owners": "north=127.0.0.1:7001\nsouth = 127.0.0.1:7002\n",
    "aggregator": "127.0.0.1:7003",
    "epsilon": "1/2",
    "rows_at_most": "5,000",
}


@pytest.fixture
def studio(tmp_path: Path) -> StudioClient:
    (tmp_path / "people.csv").write_text(people(20), encoding="utf-8")
    client = StudioClient(folder=tmp_path)
    client.post("/", {"data": "people.csv"})
    (project_of(client).folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return client


def project_of(studio: StudioClient) -> Project:
    return Workspace(folder=studio.folder.resolve()).project("people-project")


def test_the_form_writes_the_agreement_that_the_command_writes(
    studio: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project_of(studio).folder
    wrong = studio.post(SCREEN, {**FORM, "rows_at_most": "many"})
    command = wrong.text.partition("<code>scumble join init")[2].partition("</code>")[0]
    assert studio.post(SCREEN, FORM).location == SCREEN
    agreed = read_agreement(folder / "agreed" / "agreement.yaml")
    assert {name: (part.address, part.owner) for name, part in agreed.parties.items()} == {
        "north": ("127.0.0.1:7001", True),
        "south": ("127.0.0.1:7002", True),
        "aggregator": ("127.0.0.1:7003", False),
    }
    assert (agreed.rows_at_most, agreed.parameters["epsilon"]) == (5000, "0.5")
    monkeypatch.chdir(folder)
    words = shlex.split(command.replace("&#39;", "'"))
    words[words.index("--out") + 1] = "typed"
    words[words.index("--rows-at-most") + 1] = "5000"
    assert scumble("join", "init", *words).code == 0
    typed = prepare(folder / "typed" / "agreement.yaml")
    assert typed.plan == prepare(folder / "agreed" / "agreement.yaml").plan
    assert list(typed.agreement.parties) == list(agreed.parties)


def test_it_shows_the_parties_and_their_commands(studio: StudioClient) -> None:
    studio.post(SCREEN, FORM)
    shown = studio.get(SCREEN).text
    agreed = read_agreement(project_of(studio).folder / "agreed" / "agreement.yaml")
    assert agreed.digest.hex() in shown
    command = "scumble join run --agreement agreed/agreement.yaml --party"
    assert f"{command} north --data ../people.csv --out north-out" in shown
    assert f"{command} aggregator --out aggregator-out" in shown, "a party without rows names no table"
    assert "No party has started here" in shown
    assert studio.post(SCREEN, FORM).status == 303
    assert "The agreement in <code>agreed-2</code>" in studio.get(SCREEN).text, "nothing is overwritten"


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"owners": "north"}, "owners"),
        ({"owners": "north=127.0.0.1:7001\nnorth=127.0.0.1:7002"}, "owners"),
        ({"owners": "north=127.0.0.1:7001\nsouth=nowhere"}, "owners"),
        ({"owners": ""}, "owners"),
        ({"aggregator": "north=127.0.0.1:7009"}, "aggregator"),
        ({"epsilon": "much"}, "epsilon"),
        ({"rows_at_most": "many"}, "rows_at_most"),
    ],
)
def test_a_wrong_agreement_is_explained_and_not_written(
    studio: StudioClient, changed: dict[str, str], field: str
) -> None:
    answer = studio.post(SCREEN, {**FORM, **changed})
    assert (answer.status, f'id="{field}-wrong"' in answer.text) == (422, True)
    assert not (project_of(studio).folder / "agreed").exists()


@pytest.mark.parametrize(
    ("marks", "status"),
    [
        ({}, RunStatus.WAITING),
        ({"charging": True}, RunStatus.CHARGED),
        ({"charging": True, "begun": True}, RunStatus.COMPUTING),
        ({"charging": True, "begun": True, "complete": True}, RunStatus.COMPLETE),
        ({"charging": True, "begun": True, "complete": True, "published": "ab"}, RunStatus.PUBLISHED),
        ({"charging": True, "begun": True, "abandoned": True}, RunStatus.ABANDONED),
    ],
)
def test_the_status_is_that_of_the_state_folder(
    studio: StudioClient, marks: dict[str, object], status: RunStatus
) -> None:
    """The folder is written by the code of `scumble join run`."""
    studio.post(SCREEN, FORM)
    folder = project_of(studio).folder
    digest = read_agreement(folder / "agreed" / "agreement.yaml").digest
    with open_state(folder / "north-out.state", agreement=digest, party="north") as state:
        state.mark(**marks)
        state.keep(0, "count", b"answer")
        before = (folder / "north-out.state" / "state.json").read_bytes()
        (run,) = runs_of(project_of(studio))
        assert (run.party, run.status, run.charged, run.answers) == ("north", status, "charging" in marks, 1)
        assert status.value in studio.get(SCREEN).text
        assert (folder / "north-out.state" / "state.json").read_bytes() == before
    assert status_of(Marks(**marks)) is status


def test_state_folders_of_others_and_damaged_ones(studio: StudioClient) -> None:
    folder = project_of(studio).folder
    contents = {
        "a": "{",
        "b": json.dumps({"scumble": FORMAT, "party": "x"}),
        "c": json.dumps({"scumble": FORMAT, "party": "<b>", "agreement": "ab", **asdict(Marks())}),
        "d": json.dumps({"some": "other program"}),
        "e": json.dumps({"scumble": FORMAT, "party": "x", "agreement": "ab", "unknown": 1}),
    }
    for name, text in contents.items():
        (folder / name).mkdir()
        (folder / name / "state.json").write_text(text, encoding="utf-8")
    (folder / "agreed").mkdir()
    (folder / "agreed" / "agreement.yaml").write_text("scumble: agreement/1\n", encoding="utf-8")
    found = {run.folder: run.status for run in runs_of(project_of(studio))}
    unreadable, waiting = RunStatus.UNREADABLE, RunStatus.WAITING
    assert found == {"a": unreadable, "b": unreadable, "c": waiting, "e": unreadable}
    shown = studio.get(SCREEN)
    assert shown.status == 200
    assert "Their agreement is not in a folder of this project" in shown.text
    assert "<b>" not in shown.text
    assert 'role="alert"' in shown.text, "the damaged agreement is explained"


def test_parties_of_a_form() -> None:
    assert parties_from(["a=h:1"], "") == {"a": {"address": "h:1", "owner": True, "computes": True}}
    with pytest.raises(InputError, match="twice"):
        parties_from(["a=h:1"], "a=h:2")
