"""Budget: what epsilon means in a sentence, what the ledger has left, the spends, the epsilon of a wanted accuracy."""

from fractions import Fraction
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from scumble.errors import ScumbleError
from scumble.files.report.guarantee import DrawnBelief, drawn_belief
from scumble.files.report.svg import box, drawing
from scumble.files.run_file import RunFile
from scumble.flows.run import plan_run
from scumble.methods import method_named, usual_method
from scumble.model.budget import parse_budget, parse_delta
from scumble.model.guarantee import epsilon_of
from scumble.model.plan import Plan
from scumble.model.suspicion import highest_text, suspicion_text
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_place import default_path
from scumble.privacy.ledger_statement import StatedAccount
from scumble.studio.commands import ledger_words, line, plan_command
from scumble.studio.pages import (
    NO_FIELDS,
    FormFields,
    Problem,
    at_field,
    environment,
    page,
    posted,
    project_of,
    redirect,
)
from scumble.studio.projects import Project
from scumble.studio.screens.wanted_accuracy import start_sweep, sweep_command, sweep_shown

PRESETS = ("0.1", "0.25", "0.5", "1", "2", "4")
"""Budgets to choose from, the most private first."""


class Preview(NamedTuple):
    """What a choice of epsilon would mean; `refusal` says why there is no plan."""

    plan: Plan | None = None
    meaning: str = ""
    """The sentence of the command line about a suspicion; empty if the guarantee is not differential privacy."""
    drawn: DrawnBelief | None = None
    """The same as a picture."""
    bar: Markup | None = None
    """The spends as parts of the budget."""
    refusal: str = ""


def account_of(project: Project) -> StatedAccount | None:
    """The account that a release of this project would charge; None if it does not exist yet. Nothing is written."""
    path = project.ledger or default_path()
    if not path.exists():
        return None
    with Ledger.open(path, witness=project.witness, reading=True) as opened:
        statement = opened.statement()
    name = dataset_of(project)
    return next((account for account in statement.accounts if account.name == name), None)


def dataset_of(project: Project) -> str:
    """The name of the account in the ledger."""
    stated = project.run.dataset
    return project.source().name if stated is None else stated


def preview_of(run: RunFile, project: Project) -> Preview:
    """The plan of a run and what it means, without reading any data."""
    try:
        planned = plan_run(run, project.folder)
    except ScumbleError as error:
        return Preview(refusal=str(error))
    meaning, epsilon = suspicion_text(planned.guarantee), epsilon_of(planned.guarantee)
    drawn = drawn_belief(epsilon, 0.5) if meaning and epsilon is not None else None
    return Preview(plan=planned, meaning=meaning, drawn=drawn, bar=_bar(planned))


def _bar(planned: Plan) -> Markup | None:
    totals = [spend.total(planned.unit) for spend in planned.spends]
    whole = sum(totals, Fraction(0))
    if not whole:
        return None
    shapes, left = [], 0.0
    for place, total in enumerate(totals):
        share = float(total / whole)
        shapes.append(box(f"t{place % 6}", left, share * 0.995, height=26))
        left += share
    words = ", ".join(f"{spend.label}" for spend in planned.spends)
    return drawing(f"The budget divided: {words}", *shapes)


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The choice, its meaning, the account and the plan."""
    project = project_of(request)
    project.schema_or_raise()
    run = project.run
    rises = _rises(run, project)
    return page(
        "budget.html",
        project=project,
        here="budget",
        presets=[(each, highest_text(Fraction(each)) if rises else "") for each in PRESETS],
        takes_epsilon=_takes(project, "epsilon"),
        takes_delta=_takes(project, "delta"),
        run=run,
        account=account_of(project),
        dataset=dataset_of(project),
        problem=problem,
        typed=typed,
        commands=(
            plan_command(project),
            line("ledger", "show", *ledger_words(project)),
            sweep_command(project, typed),
        ),
        **_shown(run, project),
        **sweep_shown(project, typed),
    )


def _shown(run: RunFile, project: Project) -> dict[str, Any]:
    preview = preview_of(run, project)
    spends = [] if preview.plan is None else preview.plan.summary.listings[0].complete
    return {"preview": preview, "spends": spends}


def _rises(run: RunFile, project: Project) -> bool:
    """Whether an epsilon bounds a suspicion: only if the promise of the method is differential privacy."""
    shown = run.changed(parameters={**run.parameters, "epsilon": PRESETS[0]})
    return bool(preview_of(shown, project).meaning)


def _takes(project: Project, parameter: str) -> bool:
    """Whether the chosen method has a parameter."""
    method = project.run.method or usual_method(project.schema_or_raise())
    return parameter in method_named(method).parameters.model_fields


def _typed_run(project: Project, epsilon: str, delta: str | None) -> RunFile:
    """The run with the typed budget, which is read exactly; a delta that is None is kept. Raises at the field."""
    delta = project.run.parameters.get("delta", "") if delta is None else delta.strip()
    if not _takes(project, "epsilon"):
        return project.run
    kept = {name: value for name, value in project.run.parameters.items() if name not in ("epsilon", "delta")}
    with at_field("epsilon"):
        parse_budget(epsilon, name="epsilon")
    given = {"epsilon": epsilon}
    if delta:
        with at_field("delta"):
            parse_delta(delta)
        given["delta"] = delta
    return project.run.changed(parameters={**given, **kept})


def meaning(request: Request) -> Response:
    """The part of the page that follows from epsilon, while it is typed."""
    project = project_of(request)
    parameters = request.query_params
    try:
        run = _typed_run(project, parameters.get("epsilon", "").strip(), parameters.get("delta"))
        shown = _shown(run, project)
    except ScumbleError as error:
        shown = {"preview": Preview(refusal=str(error)), "spends": []}
    template = environment().get_template("budget_meaning.html")
    return HTMLResponse(template.render(project=project, account=account_of(project), **shown))


@posted(show)
def save(request: Request, fields: FormFields) -> Response:
    """Record the budget, or start the search for the epsilon of a wanted accuracy."""
    project = project_of(request)
    if fields.has("sweep"):
        return start_sweep(project, fields, screen="budget")
    delta = fields.text("delta") if "delta" in fields.values else None
    run = _typed_run(project, fields.text("preset") or fields.text("epsilon"), delta)
    with at_field("epsilon"):
        plan_run(run, project.folder)
    project.change(parameters=run.parameters)
    return redirect(project, "budget" if fields.has("preset") else "publish")
