"""The Publish screen: the confirmation is about what was shown, and forms with a wrong job number start nothing."""

import re
import time
from html import unescape
from pathlib import Path

import pytest
from command_line import SCHEMA, accounts, people, process
from studio_client import Answer, StudioClient

from scumble.errors import InputError
from scumble.files.run_file import read_run
from scumble.files.schema_file import read_schema
from scumble.flows.run import confirmation_of, plan_run, run
from scumble.studio.jobs import JobState, jobs_of, start
from scumble.studio.projects import Project, Workspace

SCREEN = "/projects/people-project"
QUICK = {"epsilon": "1", "rounds": "1", "detail": "no"}


@pytest.fixture
def studio(tmp_path: Path) -> StudioClient:
    (tmp_path / "people.csv").write_text(people(120), encoding="utf-8")
    client = StudioClient(folder=tmp_path)
    client.post("/", {"data": "people.csv"})
    project = project_of(client)
    (project.folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    project.change(method="diffgen", parameters=QUICK, ledger="ledger.db", witness="witness.db")
    return client


def project_of(studio: StudioClient) -> Project:
    return Workspace(folder=studio.folder.resolve()).project("people-project")


def text_of(answer: Answer) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def form_of(answer: Answer) -> dict[str, str]:
    """The hidden fields of the page that was shown, with the confirmation."""
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', answer.text))
    return {**hidden, "confirmed": "yes", "dataset": ""}


@pytest.mark.parametrize(
    "change",
    [
        lambda studio: studio.post(f"{SCREEN}/budget", {"epsilon": "8"}),
        lambda studio: studio.post(f"{SCREEN}/method", {"method": "histograms"}),
        lambda studio: studio.post(f"{SCREEN}/domains/age", {"action": "confirm", "because": "known"}),
        lambda studio: project_of(studio).change(data="../others.csv"),
    ],
    ids=["budget", "method", "schema", "table"],
)
def test_what_was_confirmed_is_what_was_shown(studio: StudioClient, change: object) -> None:
    (studio.folder / "others.csv").write_text(people(50, seed=3), encoding="utf-8")
    shown = studio.get(f"{SCREEN}/publish")
    assert "The charge of 1 is permanent" in text_of(shown)
    assert callable(change)
    change(studio)
    sent = studio.post(f"{SCREEN}/publish", form_of(shown))
    assert (sent.status, 'id="confirmed-wrong"' in sent.text) == (422, True)
    assert "has changed since this page was shown" in text_of(sent)
    assert jobs_of(project_of(studio)) == []
    assert not (project_of(studio).folder / "ledger.db").exists(), "nothing was charged"
    assert form_of(sent)["shown"] != form_of(shown)["shown"], "the page is now about the changed run"


def test_the_account_and_what_is_accepted_are_part_of_the_form(studio: StudioClient) -> None:
    form = form_of(studio.get(f"{SCREEN}/publish"))
    refused = studio.post(f"{SCREEN}/publish", {**form, "dataset": "patients", "confirmed": ""})
    assert refused.status == 422
    assert "Confirm that the charge is permanent" in text_of(refused)
    assert studio.post(f"{SCREEN}/publish", {**form, "dataset": "patients"}).location == f"{SCREEN}/jobs/1"
    (job,) = jobs_of(project_of(studio))
    until = time.monotonic() + 120
    while job.state is JobState.RUNNING and time.monotonic() < until:
        time.sleep(0.1)
    assert job.state is JobState.DONE, job.messages
    assert accounts(project_of(studio).folder / "ledger.db")["patients"]["spent"] == "1"


def test_a_run_that_changes_after_its_confirmation_is_not_charged(studio: StudioClient) -> None:
    """Between the form and the start of its process: the process compares what it is about to release."""
    project = project_of(studio)
    recorded, schema = project.run, project.schema_or_raise()
    confirmed = confirmation_of(recorded, schema, plan_run(recorded, project.folder))
    project.change(parameters={**QUICK, "epsilon": "8"})
    ended = process("run", project.run_path, "--out", project.folder / "out", "--confirmed", confirmed)
    assert ended.code == 2
    assert "is not what was confirmed" in ended.err
    assert not (project.folder / "ledger.db").exists()
    with pytest.raises(InputError, match="not what was confirmed"):
        run(project.run_path, confirmed=confirmed)
    project.change(parameters=QUICK)
    assert run(project.run_path, confirmed=confirmed).folder == project.folder / "release"
    assert read_run(project.run_path) == recorded
    assert read_schema(project.schema_path) == schema


JOB_FORMS = {
    "publish": {"confirmed": "yes"},
    "audit": {},
    "rehearsal": {"rows": "10"},
    "rehearsal#sweep": {"sweep": "yes", "wanted": "80%", "like": "public.csv"},
    "budget": {"sweep": "yes", "wanted": "80%", "like": "public.csv"},
    "join": {"parties": "2"},
    "table": {"role:2": "class"},
}


@pytest.mark.parametrize("screen", JOB_FORMS)
def test_a_wrong_job_number_starts_nothing(studio: StudioClient, screen: str) -> None:
    (studio.folder / "public.csv").write_text(people(50, seed=3), encoding="utf-8")
    if screen == "table":
        (project_of(studio).folder / "schema.yaml").unlink()
    address = f"{SCREEN}/{screen.partition('#')[0]}"
    shown = form_of(studio.get(f"{SCREEN}/publish"))["shown"] if screen == "publish" else ""
    for number in ("abc", "-3", "0", "", "1.5", "999999999999999999999", "7", "\N{FULLWIDTH DIGIT ONE}"):
        sent = studio.post(address, {"shown": shown, **JOB_FORMS[screen], "job": number})
        assert (sent.status, 'id="job-wrong"' in sent.text) == (422, True), number
    assert jobs_of(project_of(studio)) == []


def test_a_number_that_another_form_has_used_starts_nothing(studio: StudioClient) -> None:
    form = form_of(studio.get(f"{SCREEN}/publish"))
    begun = start(project_of(studio), 1, kind="plan", title="Planning", arguments=["plan", "--schema", "schema.yaml"])
    sent = studio.post(f"{SCREEN}/publish", form)
    assert (sent.status, 'id="job-wrong"' in sent.text) == (422, True)
    assert [job.number for job in jobs_of(project_of(studio))] == [begun.number]
