"""Join: write the agreement of several owners, see what each party has to run and how far it is, rehearse it here."""

from starlette.requests import Request
from starlette.responses import Response

from scumble.errors import InputError
from scumble.flows.join_plan import write_agreement
from scumble.model.budget import parse_budget
from scumble.studio.commands import PARTY, line, option_words
from scumble.studio.jobs import JobState, jobs_of, last_fact, start
from scumble.studio.joint_runs import agreements_of, parties_from, runs_of
from scumble.studio.pages import (
    NO_FIELDS,
    FormFields,
    Problem,
    at_field,
    page,
    posted,
    project_of,
    redirect,
    redirect_to_job,
)
from scumble.studio.projects import Project

JOIN = "join"
METHOD = "diffgen"
"""The method of an agreement where the project has not chosen one, as on the command line."""
FEWEST_PARTIES, MOST_PARTIES = 2, 7
USUAL_ROWS = 1_000_000
FOLDER = "agreed"


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The form of an agreement, the agreements with their parties, and the cost of the last rehearsal."""
    project = project_of(request)
    parties = typed.text("parties") or last_fact(project, "parties") or "3"
    done = (job for job in jobs_of(project) if job.facts.get("kind") == JOIN and job.state is JobState.DONE)
    last = next(done, None)
    agreements = agreements_of(project)
    known = {run.folder for each in agreements for run in each.runs}
    return page(
        "join.html",
        project=project,
        here="join",
        parties=parties,
        agreements=agreements,
        others=[run for run in runs_of(project) if run.folder not in known],
        method=project.run.method or METHOD,
        epsilon=typed.text("epsilon") or project.run.parameters.get("epsilon", "1"),
        rows_at_most=typed.text("rows_at_most") or str(USUAL_ROWS),
        result=None if last is None else last.result,
        problem=problem,
        typed=typed,
        commands=(_init_command(project, typed), line(*_words(project, parties))),
    )


@posted(show)
def carry_out(request: Request, fields: FormFields) -> Response:
    """Write an agreement, or start a rehearsal."""
    project = project_of(request)
    return _agree(project, fields) if fields.text("action") == "agree" else _rehearse(project, fields)


def _agree(project: Project, fields: FormFields) -> Response:
    """The flow of `scumble join init`: a new folder with the agreement, and a key for each party."""
    with at_field("owners"):
        parties = parties_from(fields.lines("owners"), "")
    with at_field("aggregator"):
        parties = parties_from(fields.lines("owners"), fields.text("aggregator"))
    with at_field("epsilon"):
        parse_budget(fields.text("epsilon"), name="epsilon")
    rows = fields.number("rows_at_most") or USUAL_ROWS
    with at_field("owners"):
        write_agreement(
            project.folder / project.free_name(FOLDER),
            schema=project.schema_path,
            parties=parties,
            parameters={**project.run.parameters, "epsilon": fields.text("epsilon")},
            rows_at_most=rows,
            method=project.run.method or METHOD,
        )
    return redirect(project, JOIN)


def _rehearse(project: Project, fields: FormFields) -> Response:
    """Start a rehearsal with one process for each party."""
    with at_field("parties"):
        number = fields.number("parties") or 3
        if not FEWEST_PARTIES <= number <= MOST_PARTIES:
            raise InputError(f"{number} owners cannot rehearse here. Give {FEWEST_PARTIES} to {MOST_PARTIES}.")
        title, parties = f"Rehearsing a joint release of {number} owners", str(number)
        words = _words(project, parties)
        job = start(project, fields.job, kind=JOIN, title=title, arguments=words, facts={"parties": parties})
    return redirect_to_job(project, job)


def _init_command(project: Project, typed: FormFields) -> str:
    """The command that writes the agreement of the form."""
    run = project.run
    owners = typed.lines("owners") or [PARTY] * 3
    words = ["join", "init", "--schema", run.schema_path, "--out", project.free_name(FOLDER)]
    words += [word for owner in owners for word in ("--party", "=".join(map(str.strip, owner.split("=", 1))))]
    words += ["--aggregator", typed.text("aggregator")] if typed.has("aggregator") else []
    words += ["--rows-at-most", typed.text("rows_at_most") or str(USUAL_ROWS)]
    given = {**run.parameters, "epsilon": typed.text("epsilon") or run.parameters.get("epsilon", "1")}
    return line(*words, *option_words(run.changed(method=run.method or METHOD, parameters=given)))


def _words(project: Project, parties: str) -> list[str]:
    return ["join", "rehearse", "--schema", project.run.schema_path, "--parties", parties, "--rows", "300"]
