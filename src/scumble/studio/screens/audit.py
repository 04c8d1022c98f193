"""Audit: the declared epsilon against what an experiment on made-up tables finds."""

from starlette.requests import Request
from starlette.responses import Response

from scumble.flows.run import plan_run
from scumble.studio.commands import line, parameter_words
from scumble.studio.jobs import JobState, jobs_of, start
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

AUDIT = "audit"
TRANSCRIPTS = "20"


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The form, and the result of the last audit."""
    project = project_of(request)
    ended = (JobState.DONE, JobState.FAILED)
    last = next((job for job in jobs_of(project) if job.facts.get("kind") == AUDIT and job.state in ended), None)
    return page(
        "audit.html",
        project=project,
        here="audit",
        method=project.run.method or "the default method",
        result=None if last is None else last.result,
        messages=[] if last is None else last.messages,
        problem=problem,
        typed=typed,
        commands=(line(*_words(project)),),
    )


@posted(show)
def audit(request: Request, fields: FormFields) -> Response:
    """Start an audit as a job."""
    project = project_of(request)
    with at_field("audit"):
        plan_run(project.run, project.folder)
        job = start(project, fields.job, kind=AUDIT, title="Auditing", arguments=_words(project))
    return redirect_to_job(project, job)


def _words(project: Project) -> list[str]:
    return ["audit", *parameter_words(project), "--transcripts", TRANSCRIPTS]
