"""What the studio publishes equals what the commands on its page publish: noise alone differs."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pytest
from command_line import accounts, kinds
from studio_client import StudioClient

from scumble.demo.patients import PATIENTS_SCHEMA, patients
from scumble.flows.release import verify
from scumble.studio.jobs import JobState, jobs_of
from scumble.studio.projects import Workspace

SCREEN = "/projects/people-project"
NOISE = ("cells", "variance", "records", "records_error", "story", "seal", "resolution")
"""Entries of release.json that are or follow from noisy counts."""
CHOICES = {
    "histograms": ({"epsilon": "1/2", "delta": "1e-9"}, "schema.yaml", ()),
    "diffgen": ({"epsilon": "1", "rounds": "2", "detail": "yes"}, "fine.schema.yaml", ("spends", "divisions")),
}
"""Parameters; the published schema with the finest domains; and entries that the noisy number of records decides."""


def shown_commands(page: str) -> list[str]:
    return [unescape(each) for each in re.findall(r"<code>(scumble .*?)</code>", page)]


def stated(folder: Path, decided: tuple[str, ...]) -> dict[str, Any]:
    """release.json without noise: of files and sizes only the names, of the receipt all but the hash of its entry."""
    found = json.loads((folder / "release.json").read_text("utf-8"))
    found |= {name: list(found[name]) for name in ("files", "sizes")}
    del found["receipt"]["entry"]
    return {name: value for name, value in found.items() if name not in (*NOISE, *decided)}


@pytest.mark.parametrize("method", CHOICES)
def test_the_shown_commands_publish_what_the_studio_publishes(tmp_path: Path, method: str) -> None:
    parameters, finest, decided = CHOICES[method]
    (tmp_path / "home").mkdir()
    written = pacsv.WriteOptions(delimiter=";")
    pacsv.write_csv(patients(2000, seed=6), tmp_path / "home" / "people.csv", written)
    studio = StudioClient(folder=tmp_path / "home")
    studio.post("/", {"data": "people.csv"})
    project = Workspace(folder=(tmp_path / "home").resolve()).project("people-project")
    project.schema_path.write_text(PATIENTS_SCHEMA, encoding="utf-8")
    project.change(ledger="ledger.db", witness="witness.db", delimiter=";", engine="duckdb")
    assert studio.post(f"{SCREEN}/method", {"method": method}).status == 303
    options = {f"option:{name}": value for name, value in parameters.items() if name not in ("epsilon", "delta")}
    studio.post(f"{SCREEN}/method", {"action": "options", **options})
    assert studio.post(f"{SCREEN}/budget", parameters).location == f"{SCREEN}/publish"
    page = studio.get(f"{SCREEN}/publish").text
    commands = shown_commands(page)
    assert [command.split()[1] for command in commands] == ["run", "release"]
    places = [tmp_path / command.split()[1] for command in commands]
    for place in places:
        shutil.copytree(tmp_path / "home", place)  # the same project, before anything was charged
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page))
    sent = studio.post(f"{SCREEN}/publish", {**hidden, "confirmed": "yes", "dataset": ""})
    assert sent.location == f"{SCREEN}/jobs/1"
    for place, command in zip(places, commands, strict=True):
        words = [sys.executable, "-m", *shlex.split(command)]
        ended = subprocess.run(
            words, cwd=place / project.name, capture_output=True, text=True, timeout=300, check=False
        )
        assert ended.returncode == 0, (command, ended.stderr)
    (job,) = jobs_of(project)
    until = time.monotonic() + 120
    while job.state is JobState.RUNNING and time.monotonic() < until:
        time.sleep(0.05)
    assert job.state is JobState.DONE, job.messages
    by_studio = project.folder / "release"
    for place in places:
        typed = place / project.name / "release"
        assert verify(typed)
        assert stated(typed, decided) == stated(by_studio, decided)
        assert sorted(path.name for path in typed.iterdir()) == sorted(path.name for path in by_studio.iterdir())
        assert (typed / finest).read_bytes() == (by_studio / finest).read_bytes()
        assert (typed / "release.json").read_bytes() != (by_studio / "release.json").read_bytes(), "the noise differs"
        ledgers = [accounts(folder.parent / "ledger.db")["people"] for folder in (typed, by_studio)]
        assert ledgers[0]["spent"] == ledgers[1]["spent"]
        assert kinds(ledgers[0]) == kinds(ledgers[1])
