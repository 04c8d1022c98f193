"""From a wanted accuracy to an epsilon: the form on Budget and Rehearsal, and the sweep of epsilons as a plot."""

from pathlib import Path
from typing import Any

import numpy as np
from starlette.responses import Response

from scumble.errors import InputError, ScumbleError
from scumble.flows.public_rows import code_rows
from scumble.model.schema import Schema
from scumble.sources import open_source
from scumble.studio.commands import PUBLIC, ledger_words, line, parameter_words
from scumble.studio.computed import when_ready
from scumble.studio.jobs import JobState, jobs_of, last_fact, start
from scumble.studio.pages import FormFields, at_field, redirect_to_job
from scumble.studio.projects import Project
from scumble.studio.sweep_plot import SweepPoint, sweep_plot


def sweep_shown(project: Project, typed: FormFields) -> dict[str, Any]:
    """What the template `wanted_accuracy.html` shows: the form as it was typed, and the last sweep that ended."""
    done = (job for job in jobs_of(project) if "like" in job.facts and job.state is JobState.DONE)
    last = next(done, None)
    sweep = None if last is None else last.result
    wanted, like = _asked(project, typed)
    shown = {"like": like, "wanted": wanted, "sweep": sweep}
    if last is None or sweep is None:
        return shown
    commonest = _commonest(project, last.facts["like"])
    points = [SweepPoint(**each) for each in sweep["sweep"]]
    plot = sweep_plot(points, wanted=sweep["wanted"], commonest=commonest)
    return {**shown, "swept_table": last.facts["like"], "commonest": commonest, "plot": plot}


def sweep_command(project: Project, typed: FormFields) -> str:
    """The command that does the same as the form."""
    wanted, like = _asked(project, typed)
    return line(*_words(project, wanted or "84%", _from_project(project, like) if like else PUBLIC))


def _asked(project: Project, typed: FormFields) -> tuple[str, str]:
    """The wanted accuracy and the public table: as typed, or else as in the last sweep."""
    return (
        typed.text("wanted") or last_fact(project, "wanted"),
        typed.text("like") or last_fact(project, "like"),
    )


def start_sweep(project: Project, fields: FormFields, *, screen: str) -> Response:
    """Start the sweep as a job, which leads back to the screen when it has ended."""
    # Imported late: the classifiers of a comparison are an extra.
    from scumble.comparison.wanted_accuracy import share_of

    with at_field("wanted"):
        share_of(fields.text("wanted"))
    with at_field("like"):
        table = _public_table(project, fields.text("like"))
    words = _words(project, fields.text("wanted"), table)
    facts = {"like": fields.text("like"), "wanted": fields.text("wanted")}
    job = start(project, fields.job, kind=screen, title="Trying several epsilons", arguments=words, facts=facts)
    return redirect_to_job(project, job)


def commonest_share(table: Path, schema: Schema) -> float | None:
    """The share of the commonest class in a public table: the accuracy of always predicting that class."""
    if schema.target is None:
        return None
    numbers = np.bincount(code_rows(open_source(str(table)), schema).columns[schema.target])
    return float(numbers.max() / numbers.sum()) if numbers.sum() else None


def _commonest(project: Project, stated: str) -> float | None:
    """The same for the table of a sweep; None while it is being read, and if it cannot be read any more."""
    try:
        path, schema = _inside(project, stated), project.schema_or_raise()
        changed = path.stat().st_mtime_ns
        return when_ready((path, f"{changed} {schema.target}"), lambda: commonest_share(path, schema))
    except (OSError, ScumbleError):
        return None


def _inside(project: Project, stated: str) -> Path:
    path = (project.home / stated).resolve()
    if not path.is_relative_to(project.home):
        raise InputError(f"{stated} is outside the folder {project.home}. Put the public table into this folder.")
    return path


def _public_table(project: Project, stated: str) -> str:
    """The path of a table inside the folder of the studio, as seen from the project. Its header is read."""
    if not stated:
        raise InputError("Name a public table of the same shape: the path of a file in the folder of the studio.")
    path = _inside(project, stated)
    open_source(str(path)).columns()
    return _from_project(project, stated)


def _from_project(project: Project, stated: str) -> str:
    """A path in the folder of the studio, as seen from the project. A path that leads elsewhere stays as it is."""
    path = (project.home / stated).resolve()
    return str(Path("..") / path.relative_to(project.home)) if path.is_relative_to(project.home) else stated


def _words(project: Project, wanted: str, like: str) -> list[str]:
    chosen = ["--schema", project.run.schema_path, *parameter_words(project), *ledger_words(project)]
    return ["plan", *chosen, "--wanted-accuracy", wanted, "--like", like]
