"""Long work: commands of the command line, each in a process of its own that survives the server.

A job is a folder in `.studio/jobs` of its project: what was started (`job.json`), output, progress, and exit code.
The worker locks the folder while it lives, so that after a restart the server knows which jobs run. The number of
a job is part of the form that starts it: a form that is sent twice starts one job, and spends once.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.foreign.documents import parse_json, read_json
from scumble.foreign.files import read_text
from scumble.portable import exclusive
from scumble.studio.projects import Project

JOBS = ".studio/jobs"
START_SECONDS = 15
"""How long a worker may take to lock its folder."""
UNKNOWN = "unknown"
"""The kind of a job whose facts are not written yet."""
TAIL = 60
"""Lines of messages that are shown."""

_started: list[subprocess.Popen[bytes]] = []
"""Workers that this server started and has not yet seen end."""


class JobNumberError(InputError):
    """The number in a form is not that of a job which it may start. Pages show it apart from their fields."""

    field = "job"


class JobState(StrEnum):
    """What is known about a job."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    """The process ended without writing its exit code: it was killed, or the machine stopped."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job by its folder. Everything else is read from there."""

    number: int
    folder: Path

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was started: `kind`, `title`, `command`, `out` and more."""
        try:
            found = read_json(self.folder / "job.json")
        except (OSError, ValueError):
            return {"kind": UNKNOWN, "title": "a job that was not started", "command": [], "started": 0}
        return found if isinstance(found, dict) else {}

    @property
    def exit_code(self) -> int | None:
        """The exit code of the command; None while it runs, and if it was killed."""
        try:
            return int(read_text(self.folder / "exit"))
        except (OSError, ValueError):
            return None

    @property
    def state(self) -> JobState:
        code = self.exit_code
        if code is not None:
            return JobState.DONE if code == 0 else JobState.FAILED
        young = time.time() - float(self.facts.get("started", 0)) < START_SECONDS
        locked = _is_locked(self.folder)
        if locked or (young and not (self.folder / "pid").exists()):
            return JobState.RUNNING
        code = self.exit_code  # written just before the lock was released
        return JobState.LOST if code is None else JobState.DONE if code == 0 else JobState.FAILED

    @property
    def result(self) -> Any:
        """The JSON that the command printed; None if it printed none."""
        try:
            return read_json(self.folder / "output.json", finite=False)
        except (OSError, ValueError):
            return None

    @property
    def messages(self) -> list[str]:
        """Notices, warnings and errors of the command, in order."""
        return [line for line in self._lines if not line.startswith('{"progress"')][-TAIL:]

    @property
    def progress(self) -> list[dict[str, Any]]:
        """The last progress of every step, in the order in which the steps began."""
        steps: dict[str, dict[str, Any]] = {}
        for line in self._lines:
            if line.startswith('{"progress"'):
                with suppress(ValueError):
                    step = parse_json(line)
                    steps[step["progress"]] = step
        return list(steps.values())

    @property
    def _lines(self) -> list[str]:
        try:
            return read_text(self.folder / "errors.txt").splitlines()
        except (OSError, UnicodeDecodeError):
            return []

    def cancel(self) -> None:
        """Interrupt the command, as Ctrl-C does. What it charged stays charged."""
        if self.state is not JobState.RUNNING or not _is_locked(self.folder):
            return
        with suppress(OSError, ValueError):
            os.kill(int(read_text(self.folder / "pid")), signal.SIGINT)
            (self.folder / "cancelled").touch()

    @property
    def cancelled(self) -> bool:
        """Whether the owner asked to cancel it."""
        return (self.folder / "cancelled").exists()


def _is_locked(folder: Path) -> bool:
    try:
        with exclusive(folder):
            return False
    except OSError:
        return folder.exists()


def jobs_of(project: Project) -> list[Job]:
    """All jobs of a project, the newest first."""
    folders = sorted((project.folder / JOBS).glob("[0-9]*"), key=lambda path: int(path.name), reverse=True)
    return [Job(number=int(path.name), folder=path) for path in folders]


def job_of(project: Project, number: int) -> Job:
    """A job by its number. Raises `InputError` if there is none."""
    folder = project.folder / JOBS / str(number)
    if not folder.is_dir():
        raise InputError(f"There is no job {number} in this project.")
    return Job(number=number, folder=folder)


def next_number(project: Project) -> int:
    """The number of the next job, for the form that starts it."""
    return max((job.number for job in jobs_of(project)), default=0) + 1


def last_fact(project: Project, name: str) -> str:
    """What a form said when a job was last started with it, whatever became of the job; empty if there was none."""
    return next((str(job.facts[name]) for job in jobs_of(project) if name in job.facts), "")


def running(project: Project, kind: str | None = None) -> Job | None:
    """A job that runs now, of one kind or of any."""
    found = (job for job in jobs_of(project) if kind in (None, job.facts.get("kind")))
    return next((job for job in found if job.state is JobState.RUNNING), None)


def sent_before(project: Project, number: int, kind: str) -> Job | None:
    """The job that the same form started before; None if its number is free."""
    found = next((job for job in jobs_of(project) if job.number == number), None)
    if found is not None and found.facts.get("kind") not in (kind, UNKNOWN):
        raise JobNumberError(
            f"Since this page was shown, job {number} was started: {found.facts.get('title')}. Send the form again if "
            "you want both."
        )
    return found


def start(
    project: Project, number: int, *, kind: str, title: str, arguments: Sequence[str], facts: Mapping[str, Any] = {}
) -> Job:
    """Start `scumble ARGUMENTS --json` as a job. If the same form was sent already, its job is returned instead.

    Raises `JobNumberError` if the number is not the next one, or was used by a form of another kind.
    """
    if not 0 < number <= next_number(project):
        raise JobNumberError(f"{number} is not the number of the next job. Open this page again, then send its form.")
    folder = project.folder / JOBS / str(number)
    folder.parent.mkdir(parents=True, exist_ok=True)
    job = Job(number=number, folder=folder)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return sent_before(project, number, kind) or job
    stated = {"kind": kind, "title": title, "command": list(arguments), "started": time.time(), **facts}
    (folder / "job.json").write_text(json.dumps(stated, indent=2), encoding="utf-8")
    _started[:] = [process for process in _started if process.poll() is None]
    worker = subprocess.Popen(
        [sys.executable, "-m", "scumble.studio.worker", str(folder), *arguments, "--json"],
        cwd=project.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _started.append(worker)
    return job
