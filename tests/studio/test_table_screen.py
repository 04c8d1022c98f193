"""Table and roles: no choice is forgotten, whether a schema exists or is drafted, and every unit can be chosen."""

import re
import time
from html import unescape
from pathlib import Path

import pytest
from command_line import SCHEMA, people, scumble
from studio_client import StudioClient

from scumble.files.schema_file import read_schema
from scumble.flows.run import plan_run
from scumble.model.guarantee import Unit
from scumble.studio.commands import release_commands
from scumble.studio.jobs import JobState, jobs_of
from scumble.studio.projects import Project, Workspace
from scumble.studio.screens.table import ROLES, UNITS

SCREEN = "/projects/visits-project"
VISITS = "id;age;job;income;street\n" + "".join(
    f"p{number // 2};{20 + number % 7};{'Dancer' if number % 3 else 'Writer'};"
    f"{'no' if number % 2 else 'yes'};s{number}\n"
    for number in range(30)
)
CHOSEN = {"role:0": "person", "role:1": "predictor", "role:2": "predictor", "role:3": "class", "role:4": "identifier"}


@pytest.fixture
def studio(tmp_path: Path) -> StudioClient:
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    client = StudioClient(folder=tmp_path)
    client.post("/", {"data": "visits.csv"})
    return client


def project_of(studio: StudioClient) -> Project:
    return Workspace(folder=studio.folder.resolve()).project("visits-project")


def chosen_in(page: str) -> dict[str, str]:
    """The chosen role of every column, as a browser would send the form again."""
    selects = re.findall(r'<select name="(role:\d)".*?<option value="(\w+)" selected>', page)
    units = re.findall(r'name="unit" value="([\w-]+)" checked', page)
    numbers = re.findall(r'id="(rows\w*)" name="\w+" value="(\w*)"', page)
    return {**dict(selects), "unit": units[0], **dict(numbers)}


def drafted(studio: StudioClient, form: dict[str, str]) -> JobState:
    sent = studio.post(f"{SCREEN}/table", {"job": "1", **form})
    assert sent.location == f"{SCREEN}/jobs/1", sent.text
    (job,) = jobs_of(project_of(studio))
    until = time.monotonic() + 60
    while job.state is JobState.RUNNING and time.monotonic() < until:
        time.sleep(0.05)
    return job.state


def test_a_draft_has_the_chosen_roles(studio: StudioClient) -> None:
    form = {**CHOSEN, "unit": "add-remove", "rows": "", "rows_each_at_most": "3", "rows_at_most": "1000"}
    assert drafted(studio, form) is JobState.DONE
    schema = read_schema(project_of(studio).schema_path)
    assert (schema.person, schema.rows_each_at_most, schema.rows_at_most) == ("id", 3, 1000)
    assert (schema.target, schema.identifiers, schema.names) == ("income", ("street",), ("age", "job", "income"))
    assert chosen_in(studio.get(f"{SCREEN}/table").text) == form


def test_a_draft_that_fails_keeps_the_choices(studio: StudioClient) -> None:
    (studio.folder / "visits.csv").write_text(VISITS.splitlines()[0] + "\n", encoding="utf-8")
    form = {**CHOSEN, "unit": "replace", "rows": "30", "rows_each_at_most": "", "rows_at_most": ""}
    assert drafted(studio, form) is JobState.FAILED
    page = studio.get(f"{SCREEN}/table").text
    assert chosen_in(page) == form
    assert "--person id --unit replace --rows 30" in page


def described(studio: StudioClient) -> Project:
    (studio.folder / "visits.csv").write_text(people(40, header="age,job,income"), encoding="utf-8")
    project = project_of(studio)
    (project.folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return project


def test_a_column_without_a_domain_is_not_reset(studio: StudioClient) -> None:
    project = described(studio)
    assert studio.post(f"{SCREEN}/table", {"role:0": "identifier"}).location == f"{SCREEN}/domains"
    assert read_schema(project.schema_path).identifiers == ("age",)
    before = project.schema_path.read_bytes()
    sent = studio.post(f"{SCREEN}/table", {"role:0": "predictor", "rows_at_most": "500"})
    assert (sent.status, 'id="roles-wrong"' in sent.text) == (422, True)
    assert "'age' is to be published and has no domain yet" in unescape(sent.text)
    assert chosen_in(sent.text)["role:0"] == "predictor", "the choice is still in the form"
    assert 'value="500"' in sent.text
    assert project.schema_path.read_bytes() == before
    assert "its domain is removed from the schema" in sent.text
    assert studio.post(f"{SCREEN}/table", {"role:0": "hidden"}).status == 422


def test_every_unit_can_be_chosen(studio: StudioClient) -> None:
    project = described(studio)
    assert {unit for unit, _ in UNITS} == set(Unit)
    assert {role for role, _ in ROLES} == {"predictor", "class", "identifier", "person"}
    for form, field in (
        ({"unit": "replace"}, "rows"),
        ({"unit": "add-remove", "rows": "40"}, "rows"),
        ({"unit": "row"}, "unit"),
    ):
        sent = studio.post(f"{SCREEN}/table", form)
        assert (sent.status, f'id="{field}-wrong"' in sent.text) == (422, True), form
    assert studio.post(f"{SCREEN}/table", {"unit": "replace", "rows": "40"}).status == 303
    assert (read_schema(project.schema_path).unit, read_schema(project.schema_path).rows) == (Unit.REPLACE, 40)
    assert chosen_in(studio.get(f"{SCREEN}/table").text)["unit"] == "replace"
    assert studio.post(f"{SCREEN}/method", {"method": "mdav"}).status == 303
    assert studio.post(f"{SCREEN}/method", {"action": "options", "option:k": "5"}).status == 303
    assert plan_run(project.run, project.folder).unit is Unit.REPLACE
    assert studio.post(f"{SCREEN}/budget", {}).location == f"{SCREEN}/publish", "a method without an epsilon"
    assert studio.post(f"{SCREEN}/table", {"unit": "add-remove", "rows": ""}).status == 303
    assert read_schema(project.schema_path).unit is Unit.ADD_REMOVE


def test_columns_show_the_kind_that_the_schema_states(studio: StudioClient) -> None:
    described(studio)
    page = studio.get(f"{SCREEN}/table").text
    assert re.findall(r'<span id="column-\d">(\w+)</span> <span class="soft">([\w ]+)</span>', page) == [
        ("age", "number"),
        ("job", "category"),
        ("income", "category"),
    ]


def test_commands_say_how_the_table_is_read(studio: StudioClient, monkeypatch: pytest.MonkeyPatch) -> None:
    (studio.folder / "visits.csv").write_text(VISITS.replace(";", ":"), encoding="utf-16")
    project = project_of(studio)
    project.change(delimiter=":", encoding="utf-16", multiline=True, engine="duckdb")
    assert drafted(studio, CHOSEN) is JobState.DONE, jobs_of(project)[0].messages
    options = "--delimiter : --encoding utf-16 --multiline"
    assert options in studio.get(f"{SCREEN}/domains").text
    assert f"--engine duckdb {options}" in release_commands(project, "out")[1]
    monkeypatch.chdir(project.folder)
    command = re.findall(r"<code>scumble (schema check .*?)</code>", studio.get(f"{SCREEN}/domains").text)[0]
    assert scumble(*command.split()).code == 0
