"""Jobs survive the server, run once, and can be interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import SCHEMA, people

from scumble.files.run_file import RunFile, write_run
from scumble.portable import exclusive
from scumble.studio.jobs import Job, JobState, job_of, jobs_of, next_number, running, start
from scumble.studio.projects import Project
from scumble.studio.worker import FOUND_NO_WORK, work


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "people.csv").write_text(people(50), encoding="utf-8")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    write_run(RunFile(data="people.csv"), folder / "run.yaml")
    return Project(name="project", folder=folder, home=tmp_path)


def ended(job: Job, seconds: float = 60) -> Job:
    until = time.monotonic() + seconds
    while job.state is JobState.RUNNING and time.monotonic() < until:
        time.sleep(0.05)
    return job


def test_a_job_reports_its_result_and_runs_once(project: Project) -> None:
    words = ["plan", "--schema", "schema.yaml", "--epsilon", "1"]
    assert next_number(project) == 1
    job = ended(start(project, 1, kind="plan", title="Planning", arguments=words))
    assert job.state is JobState.DONE
    assert job.result["guarantee"]["epsilon"] == "1"
    again = start(project, 1, kind="plan", title="Planning again", arguments=["plan"])
    assert again == job
    assert again.facts["title"] == "Planning", "the number was used: nothing was started"
    assert work(job.folder, ["plan"]) == FOUND_NO_WORK
    assert [each.number for each in jobs_of(project)] == [1]
    assert next_number(project) == 2
    assert running(project) is None


def test_a_page_that_looks_whether_a_job_runs_does_not_keep_it_from_starting(project: Project) -> None:
    job = Job(number=1, folder=project.folder / ".studio" / "jobs" / "1")
    job.folder.mkdir(parents=True)
    words = [sys.executable, "-m", "scumble.studio.worker", str(job.folder), "--version"]
    with exclusive(job.folder):  # as `Job.state` does, for a moment
        process = subprocess.Popen(words)
        time.sleep(1)
    assert process.wait(timeout=30) == 0
    assert job.exit_code == 0


def test_a_failed_job_keeps_its_message(project: Project) -> None:
    job = ended(start(project, 1, kind="plan", title="Planning", arguments=["plan", "--schema", "none.yaml"]))
    assert (job.state, job.exit_code) == (JobState.FAILED, 2)
    assert "does not exist" in " ".join(job.messages)


WAITING = """
import sys, time
print('{"progress": "waiting", "done": 1, "total": 2}', file=sys.stderr, flush=True)
time.sleep(60)
"""


@pytest.fixture
def waiting(project: Project) -> Iterator[Job]:
    """A job whose command waits, and ends at Ctrl-C."""
    folder = project.folder / ".studio" / "jobs" / "1"
    folder.mkdir(parents=True)
    (folder / "job.json").write_text('{"kind": "wait", "title": "Waiting", "command": [], "started": 0}', "utf-8")
    script = (
        "import os, sys, subprocess; from pathlib import Path; from scumble.studio import worker; "
        "made = subprocess.Popen; "
        f"subprocess.Popen = lambda command, **options: made([sys.executable, '-c', {WAITING!r}], **options); "
        "sys.exit(worker.work(Path(sys.argv[1]), []))"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(folder)], start_new_session=True)
    job = Job(number=1, folder=folder)
    while not job.progress:
        time.sleep(0.02)
    yield job
    process.kill()
    process.wait()


def test_a_running_job_is_seen_and_cancelled(project: Project, waiting: Job) -> None:
    assert waiting.state is JobState.RUNNING
    assert running(project, "wait") == waiting
    assert waiting.progress == [{"progress": "waiting", "done": 1, "total": 2}]
    waiting.cancel()
    assert ended(waiting).state is JobState.FAILED
    assert waiting.cancelled


def test_a_command_outlives_its_worker_and_is_lost_if_killed(project: Project, waiting: Job) -> None:
    command = int((waiting.folder / "pid").read_text("utf-8"))
    worker = int(Path(f"/proc/{command}/stat").read_text("utf-8").split()[3])
    os.kill(worker, signal.SIGKILL)
    time.sleep(0.2)
    assert waiting.state is JobState.RUNNING, "the command still holds the lock"
    os.kill(command, signal.SIGKILL)
    assert ended(waiting).state is JobState.LOST
    assert start(project, 1, kind="wait", title="again", arguments=[]) == waiting
    assert job_of(project, 1).state is JobState.LOST, "a lost job is not started again"
