"""Publish: a summary, a confirmation, live progress, and cancelling, whose cost is said before."""

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from scumble.errors import InputError, ScumbleError
from scumble.files.run_file import RunFile
from scumble.flows.charge import WEAKER
from scumble.flows.release import check_before_reading
from scumble.flows.run import confirmation_of, plan_run
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_place import default_path
from scumble.studio.commands import ledger_words, line, release_commands, run_words
from scumble.studio.jobs import JobState, job_of, running, sent_before, start
from scumble.studio.pages import (
    NO_FIELDS,
    FormFields,
    Problem,
    at_field,
    environment,
    page,
    posted,
    project_of,
    redirect_to_job,
)
from scumble.studio.projects import Project
from scumble.studio.screens.budget import account_of, dataset_of, preview_of

RELEASE = "release"


def obstacles(project: Project) -> list[str]:
    """Why a release would be refused before its charge, as sentences. No row is read and nothing is written."""
    found = []
    try:
        schema = project.schema_or_raise()
        check_before_reading(project.source(), schema, project.run.engine)
        planned = plan_run(project.run, project.folder)
        path = project.ledger or default_path()
        if path.exists():
            with Ledger.open(path, witness=project.witness) as opened:
                opened.check_room(
                    dataset=dataset_of(project), unit=schema.unit, guarantee=planned.guarantee, session="studio"
                )
    except ScumbleError as error:
        found.append(str(error))
    return found


def shown_run(project: Project) -> str:
    """A hash of what the page shows: the run, its schema and its plan, without what its form states itself."""
    try:
        return _confirmation(project, project.run.changed(dataset=None, accept=[]))
    except ScumbleError:
        return ""  # there is no plan, and the page says why


def _confirmation(project: Project, recorded: RunFile) -> str:
    return confirmation_of(recorded, project.schema_or_raise(), plan_run(recorded, project.folder))


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """What will be published, and at what price."""
    project = project_of(request)
    run = project.run
    preview = preview_of(run, project)
    guarantee = None if preview.plan is None else preview.plan.guarantee
    weaker = next((name for name, kind in WEAKER.items() if isinstance(guarantee, kind)), None)
    out = project.free_name(run.out)
    return page(
        "publish.html",
        project=project,
        here="publish",
        run=run,
        preview=preview,
        schema=project.schema,
        obstacles=obstacles(project),
        account=account_of(project),
        dataset=dataset_of(project),
        weaker=weaker,
        out=out,
        shown=shown_run(project),
        problem=problem,
        typed=typed,
        commands=release_commands(project, out),
    )


@posted(show)
def publish(request: Request, fields: FormFields) -> Response:
    """Start the release as a job. The form has the number of its job: sent twice, it starts one."""
    project = project_of(request)
    before = sent_before(project, fields.job, RELEASE)
    if before is not None:
        return redirect_to_job(project, before)
    with at_field("confirmed"):
        if fields.text("shown") != shown_run(project):
            raise InputError(
                "The method, the budget, the table or the schema has changed since this page was shown. Nothing was "
                "charged. The page now shows what would be published: read it, then confirm again."
            )
    with at_field("dataset"):
        if fields.text("dataset") != (project.run.dataset or ""):
            project.change(dataset=fields.text("dataset") or None)
    accepted = fields.all("accept")
    if accepted != project.run.accept:
        project.change(accept=accepted)
    with at_field("confirmed"):
        if not fields.has("confirmed"):
            raise InputError("Confirm that the charge is permanent, then publish.")
        busy = running(project, RELEASE)
        if busy is not None:
            raise InputError(
                f"Another release of this project is running (job {busy.number}). Wait until it has ended."
            )
        refused = obstacles(project)
        if refused:
            raise InputError(refused[0])
        out = project.free_name(project.run.out)
        words = [*run_words(project, out), "--confirmed", _confirmation(project, project.run)]
        job = start(project, fields.job, kind=RELEASE, title="Publishing", arguments=words, facts={"out": out})
    return redirect_to_job(project, job)


def job(request: Request) -> Response:
    """The progress or the end of a job."""
    project = project_of(request)
    found = job_of(project, int(request.path_params["number"]))
    here = {"draft": "table", RELEASE: "publish"}.get(found.facts.get("kind", ""), found.facts.get("kind", ""))
    return page(
        "job.html",
        project=project,
        here=here,
        commands=(line(*found.facts["command"]),),
        **_state(project, found.number),
    )


def progress(request: Request) -> Response:
    """The part of the page that changes while a job runs."""
    project = project_of(request)
    number = int(request.path_params["number"])
    shown = _state(project, number)
    response = HTMLResponse(environment().get_template("job_progress.html").render(project=project, **shown))
    if shown["state"] is not JobState.RUNNING:
        response.headers["HX-Refresh"] = "true"
    return response


def cancel(request: Request) -> Response:
    """Interrupt a job."""
    project = project_of(request)
    found = job_of(project, int(request.path_params["number"]))
    found.cancel()
    return redirect_to_job(project, found)


def _state(project: Project, number: int) -> dict[str, Any]:
    found = job_of(project, number)
    out = found.facts.get("out")
    published = isinstance(out, str) and any(path.name == out for path in project.releases)
    return {
        "job": found,
        "state": found.state,
        "progress": found.progress,
        "result": found.result,
        "messages": found.messages,
        "is_release": found.facts.get("kind") == RELEASE,
        "out": out if published else None,
        "account": account_of(project) if found.facts.get("kind") == RELEASE else None,
        "ledger_command": line("ledger", "show", *ledger_words(project)),
    }
