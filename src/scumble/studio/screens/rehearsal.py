"""Rehearsal: the whole release on generated rows. It costs nothing, and says so."""

from starlette.requests import Request
from starlette.responses import Response

from scumble.demo.release_rehearsal import FREE
from scumble.flows.run import plan_run
from scumble.studio.commands import line, parameter_words
from scumble.studio.jobs import JobState, jobs_of, last_fact, start
from scumble.studio.pages import (
    NO_FIELDS,
    FormFields,
    Problem,
    at_field,
    page,
    posted,
    project_of,
    redirect_to_job,
)
from scumble.studio.projects import Project
from scumble.studio.screens.wanted_accuracy import start_sweep, sweep_command, sweep_shown

REHEARSAL = "rehearsal"
USUAL_ROWS = "10000"


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The form, and the result of the last rehearsal."""
    project = project_of(request)
    rows = typed.text("rows") or last_fact(project, "rehearsed_rows") or USUAL_ROWS
    done = [job for job in jobs_of(project) if job.facts.get("kind") == REHEARSAL and job.state is JobState.DONE]
    last = next((job for job in done if "like" not in job.facts), None)
    return page(
        "rehearsal.html",
        project=project,
        here="rehearsal",
        rows=rows,
        free=FREE,
        result=None if last is None else last.result,
        problem=problem,
        typed=typed,
        commands=(line(*_words(project, rows)), sweep_command(project, typed)),
        **sweep_shown(project, typed),
    )


@posted(show)
def rehearse(request: Request, fields: FormFields) -> Response:
    """Start a rehearsal as a job."""
    project = project_of(request)
    if fields.has("sweep"):
        return start_sweep(project, fields, screen=REHEARSAL)
    rows = fields.number("rows") or int(USUAL_ROWS)
    with at_field("rows"):
        plan_run(project.run, project.folder)
        words = _words(project, str(rows))
        facts = {"rehearsed_rows": str(rows)}
        job = start(project, fields.job, kind=REHEARSAL, title="Rehearsing", arguments=words, facts=facts)
    return redirect_to_job(project, job)


def _words(project: Project, rows: str) -> list[str]:
    return ["rehearse", "--schema", project.run.schema_path, *parameter_words(project), "--rows", rows]
