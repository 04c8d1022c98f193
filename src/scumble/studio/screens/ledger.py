"""Ledger: the statement of all datasets, a new ceiling with its reason, and the check of the chain."""

from starlette.requests import Request
from starlette.responses import Response

from scumble.errors import InputError
from scumble.flows.ledger_check import check_ledger
from scumble.model.budget import parse_budget, parse_delta
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_place import default_path
from scumble.privacy.ledger_statement import LedgerStatement
from scumble.studio.commands import CEILING, REASON, ledger_words, line
from scumble.studio.pages import NO_FIELDS, FormFields, Problem, at_field, page, posted, project_of, redirect
from scumble.studio.projects import Project
from scumble.studio.screens.budget import dataset_of


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The statement; with `?verify=1` in the address, also the checks."""
    project = project_of(request)
    path = project.ledger or default_path()
    statement, notices, checks = LedgerStatement(path=path), tuple[str, ...](), list[str]()
    if path.exists():
        with Ledger.open(path, witness=project.witness, reading=True) as opened:
            statement, notices = opened.statement(), opened.notices
            if "verify" in request.query_params:
                checks = check_ledger(opened, project.releases)
    words, names = ledger_words(project), [folder.name for folder in project.releases]
    return page(
        "ledger.html",
        project=project,
        here="ledger",
        statement=statement,
        notices=notices,
        checks=checks,
        dataset=dataset_of(project),
        problem=problem,
        typed=typed,
        commands=(
            line("ledger", "show", *words),
            line("ledger", "verify", *words, *(word for name in names for word in ("--release", name))),
            *_grant_commands(project, statement, typed),
        ),
    )


def _grant_commands(project: Project, statement: LedgerStatement, typed: FormFields) -> tuple[str, ...]:
    """The command of the form, which needs an account."""
    if not statement.accounts:
        return ()
    name = typed.text("dataset") or dataset_of(project)
    stated = ["--reason", typed.text("reason") or REASON]
    stated += ["--delta", typed.text("delta")] if typed.has("delta") else []
    return (line("ledger", "grant", name, typed.text("ceiling") or CEILING, *stated, *ledger_words(project)),)


@posted(show)
def grant(request: Request, fields: FormFields) -> Response:
    """Raise a ceiling."""
    project = project_of(request)
    path = project.ledger or default_path()
    with at_field("ceiling"):
        ceiling = parse_budget(fields.text("ceiling"), name="the ceiling")
    delta = None
    if fields.has("delta"):
        with at_field("delta"):
            delta = parse_delta(fields.text("delta"), name="the ceiling of delta")
    with at_field("dataset"):
        if not path.exists():
            raise InputError("The ledger is empty. The first release opens the account of its dataset.")
        place = "ceiling" if fields.has("reason") else "reason"
        with Ledger.open(path, witness=project.witness) as opened, at_field(place):
            opened.grant(fields.text("dataset"), ceiling, fields.text("reason"), delta=delta)
    return redirect(project, "ledger")
