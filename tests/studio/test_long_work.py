"""Jobs that the screens start, each with small settings and to its end: the sweep of epsilons, rehearsal, audit."""

import re
import time
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import SCHEMA, people
from studio_client import Answer, StudioClient

from scumble.files.schema_file import parse_schema
from scumble.studio.jobs import JobState, jobs_of
from scumble.studio.pages import NO_FIELDS
from scumble.studio.projects import Project, Workspace
from scumble.studio.screens.rehearsal import USUAL_ROWS
from scumble.studio.screens.wanted_accuracy import commonest_share, sweep_command
from scumble.studio.sweep_plot import SweepPoint, sweep_plot

SCREEN = "/projects/people-project"


@pytest.fixture
def studio(tmp_path: Path) -> StudioClient:
    (tmp_path / "people.csv").write_text(people(120), encoding="utf-8")
    (tmp_path / "public.csv").write_text(people(150, seed=2), encoding="utf-8")
    client = StudioClient(folder=tmp_path)
    client.post("/", {"data": "people.csv"})
    project = project_of(client)
    (project.folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    quick = {"epsilon": "1", "rounds": "1", "detail": "no"}
    project.change(method="diffgen", parameters=quick, ledger="ledger.db", witness="witness.db")
    return client


def project_of(studio: StudioClient) -> Project:
    return Workspace(folder=studio.folder.resolve()).project("people-project")


def text_of(answer: Answer) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def carried_out(studio: StudioClient, screen: str, form: dict[str, str]) -> str:
    """Send a form, wait until its job is done, and return the text of the screen that its page leads to."""
    sent = studio.post(f"{SCREEN}/{screen}", {"job": "1", **form})
    assert sent.location == f"{SCREEN}/jobs/1", text_of(sent)
    (job,) = jobs_of(project_of(studio))
    until = time.monotonic() + 120
    while job.state is JobState.RUNNING and time.monotonic() < until:
        time.sleep(0.1)
    assert job.state is JobState.DONE, job.messages
    assert f'href="{SCREEN}/{screen}">Continue' in studio.get(sent.location).text
    return studio.get(f"{SCREEN}/{screen}").text


def test_a_wanted_accuracy_becomes_an_epsilon_on_the_budget_screen(studio: StudioClient) -> None:
    shown = carried_out(studio, "budget", {"sweep": "yes", "wanted": "5%", "like": "public.csv"})
    assert "needs epsilon <strong>0.05</strong> on this table" in shown
    assert 'name="wanted" value="5%"' in shown, "the form remembers what was asked"
    assert 'name="like" value="public.csv"' in shown
    assert "--wanted-accuracy 5% --like ../public.csv" in shown
    assert 'name="preset" value="0.05"' in shown
    assert shown.count('class="point"') == 7
    for screen in ("budget", "rehearsal"):
        until = time.monotonic() + 20
        while "commonest class: " not in (shown := studio.get(f"{SCREEN}/{screen}").text):
            assert time.monotonic() < until, "the public table is read in a thread"
        assert '<line class="commonest"' in shown
    assert studio.post(f"{SCREEN}/budget", {"preset": "0.05"}).status == 303
    assert project_of(studio).run.parameters["epsilon"] == "0.05"
    assert not (project_of(studio).folder / "ledger.db").exists(), "nothing was charged"


def test_a_rehearsal_and_its_noise(studio: StudioClient) -> None:
    assert f'name="rows" value="{USUAL_ROWS}"' in studio.get(f"{SCREEN}/rehearsal").text
    shown = carried_out(studio, "rehearsal", {"rows": "200"})
    assert "<dt>charged</dt><dd>0</dd>" in shown
    assert "<dd>200</dd>" in shown
    assert 'name="rows" value="200"' in shown, "the form remembers the number of rows"
    assert "--rows 200" in shown
    assert "standard deviation" in shown
    assert not (project_of(studio).folder / "ledger.db").exists()


def test_an_audit_compares_what_is_declared_with_what_is_found(studio: StudioClient) -> None:
    shown = carried_out(studio, "audit", {})
    assert "<dt>declared</dt><dd>1</dd>" in shown
    assert "<dt>transcripts</dt><dd>20</dd>" in shown
    assert "<dt>largest loss</dt>" in shown
    assert "No violation was found" in shown


def test_the_plot_has_its_values_where_the_axes_say() -> None:
    points = [
        SweepPoint(epsilon="1/10", accuracy=0.6, band=0.05),
        SweepPoint(epsilon="1", accuracy=0.7, band=None),
        SweepPoint(epsilon="10", accuracy=0.8, band=0.01),
    ]
    plot = sweep_plot(points, wanted=0.75, commonest=0.5)
    places = [(float(x), float(y)) for x, y in re.findall(r'<circle class="point" cx="([\d.]+)" cy="([\d.]+)"', plot)]
    across, down = zip(*places, strict=True)
    steps = [second - first for first, second in pairwise(across)]
    assert steps[0] == pytest.approx(steps[1], abs=0.2), "equal factors of epsilon are equally far apart"
    assert down[0] - down[1] == pytest.approx(down[1] - down[2], abs=0.2)
    (wanted,) = re.findall(r'<line class="wanted" x1="[\d.]+" y1="([\d.]+)"', plot)
    assert float(wanted) == pytest.approx((down[1] + down[2]) / 2, abs=0.2)
    (commonest,) = re.findall(r'<line class="commonest" x1="[\d.]+" y1="([\d.]+)"', plot)
    assert float(commonest) > down[0]
    assert plot.count('class="whisker"') == 2
    assert "60" in plot.partition('aria-label="')[2].partition('"')[0]
    assert sweep_plot(points[:1], wanted=0.6, commonest=None).count("<circle") == 1


def test_the_commonest_class_of_a_public_table(studio: StudioClient) -> None:
    rows = (studio.folder / "public.csv").read_text("utf-8").splitlines()[1:]
    yes = sum(row.endswith("yes") for row in rows) / len(rows)
    assert commonest_share(studio.folder / "public.csv", parse_schema(SCHEMA)) == pytest.approx(max(yes, 1 - yes))
    assert "--like PUBLIC.csv" in sweep_command(project_of(studio), NO_FIELDS)
