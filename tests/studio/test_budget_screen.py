"""The Budget screen says what the command line says of an epsilon, and keeps a delta that was chosen."""

import re
from html import unescape
from pathlib import Path

import pytest
from command_line import SCHEMA, people
from studio_client import StudioClient

from scumble.flows.run import plan_run
from scumble.model.suspicion import suspicion_text
from scumble.studio.projects import Project, Workspace

SCREEN = "/projects/people-project"
REPLACE = SCHEMA.replace("target:", "unit: replace\nrows: 120\ntarget:")
NUMBERS = """\
scumble: schema/1
unit: replace
rows: 120
attributes:
  age: {numeric: {low: 0, high: 100, step: 10}}
"""
PERSONS = SCHEMA.replace("target:", "person: id\nrows_each_at_most: 2\ntarget:")


@pytest.fixture
def studio(tmp_path: Path) -> StudioClient:
    (tmp_path / "people.csv").write_text(people(120), encoding="utf-8")
    client = StudioClient(folder=tmp_path)
    client.post("/", {"data": "people.csv"})
    project_of(client).change(ledger="ledger.db", witness="witness.db")
    return client


def project_of(studio: StudioClient) -> Project:
    return Workspace(folder=studio.folder.resolve()).project("people-project")


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


CASES = {
    "a row": (SCHEMA, "diffgen", {"epsilon": "1"}, "a given record is in the table can rise to at most 73.1 %."),
    "a person": (PERSONS, "diffgen", {"epsilon": "1"}, "a given person is in the table can rise to at most 73.1 %."),
    "values": (REPLACE, "histograms", {"epsilon": "1"}, "a record says this and not that can rise to at most 73.1 %."),
    "delta": (SCHEMA, "histograms", {"epsilon": "1", "delta": "1e-9"}, "73.1 %, apart from delta."),
    "unproven": (NUMBERS, "s-mdav", {"epsilon": "1", "k": "5"}, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_an_epsilon_means_the_same_as_on_the_command_line(studio: StudioClient, case: str) -> None:
    schema, method, parameters, words = CASES[case]
    project = project_of(studio)
    (project.folder / "schema.yaml").write_text(schema, encoding="utf-8")
    project.change(method=method, parameters=parameters)
    meaning = suspicion_text(plan_run(project.run, project.folder).guarantee)
    assert words in meaning
    asked = "&".join(f"{name}={value}" for name, value in parameters.items() if name in ("epsilon", "delta"))
    for place in ("budget", f"budget/meaning?{asked}", "publish"):
        shown = text_of(studio.get(f"{SCREEN}/{place}").text)
        assert meaning in shown, place
        assert ("50 %" in shown) == bool(meaning), place
        assert ("73.1 %" in shown) == bool(meaning), place
        assert " sure" not in shown, place
        assert ("UNPROVEN" in shown) == (case == "unproven"), place


def test_a_chosen_delta_is_kept_until_it_is_changed(studio: StudioClient) -> None:
    project = project_of(studio)
    (project.folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    project.change(method="histograms", parameters={"epsilon": "1", "delta": "1e-9"})
    assert studio.post(f"{SCREEN}/budget", {"preset": "2"}).status == 303
    assert project.run.parameters == {"epsilon": "2", "delta": "1e-9"}, "as `Use epsilon 2` below a sweep sends it"
    assert studio.post(f"{SCREEN}/budget", {"epsilon": "1", "delta": ""}).status == 303
    assert project.run.parameters == {"epsilon": "1"}
