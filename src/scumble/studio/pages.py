"""Pages: the templates, the fields of forms, and errors shown at the field that caused them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from scumble.errors import InputError, ScumbleError
from scumble.files.report.text import environment as report_environment
from scumble.studio.commands import has_blanks
from scumble.studio.guard import FORM
from scumble.studio.jobs import Job, next_number, running
from scumble.studio.projects import Project, Workspace

SEE_OTHER = 303
WRONG_FORM = 422

STEPS: Sequence[tuple[str, str]] = (
    ("table", "Table and roles"),
    ("domains", "Domains"),
    ("method", "Method"),
    ("budget", "Budget"),
    ("rehearsal", "Rehearsal"),
    ("publish", "Publish"),
    ("releases", "Releases"),
)
TOOLS: Sequence[tuple[str, str]] = (
    ("ledger", "Ledger"),
    ("audit", "Audit"),
    ("compare", "Compare"),
    ("join", "Join"),
)


KEPT: Mapping[str, str] = {
    "table": "The roles and the unit are kept in the schema, {schema}.",
    "domains": "Domains and their reasons are kept in the schema, {schema}.",
    "method": "The method and its options are kept in run.yaml.",
    "budget": "The budget is kept in run.yaml.",
    "publish": "The account and what you accept are kept in run.yaml, the charge in the ledger.",
    "ledger": "Grants are kept in the ledger.",
    "rehearsal": "It changes neither run.yaml nor the schema.",
    "audit": "It changes neither run.yaml nor the schema.",
    "join": "An agreement is a folder of its own. It changes neither run.yaml nor the schema.",
}
"""Where the choices of a screen are kept."""


@cache
def environment() -> Environment:
    """The templates of the studio, with the style sheet, the parts and the filters of reports."""
    made = report_environment().overlay(
        loader=ChoiceLoader(
            [PackageLoader("scumble.studio", "templates"), PackageLoader("scumble.files.report", "templates")]
        )
    )
    made.globals |= {"steps": STEPS, "tools": TOOLS}
    return made


@dataclass(frozen=True, kw_only=True)
class FormFields:
    """The fields of a form, as they were typed."""

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Request) -> "FormFields":
        """The fields of a request, which the guard has read."""
        return cls(values=request.scope.get(FORM, {}))

    def text(self, name: str, default: str = "") -> str:
        """A field without spaces at its ends; the default if it was not sent."""
        return self.values.get(name, [default])[0].strip()

    def all(self, name: str) -> list[str]:
        """All values of a field that may be chosen several times."""
        return list(self.values.get(name, []))

    def number(self, name: str) -> int | None:
        """A whole number; None if the field is empty."""
        text = self.text(name).replace(",", "")
        if not text:
            return None
        if not text.isdecimal() or len(text) > 18:
            with at_field(name):
                raise ScumbleError(f"{text!r} is not a whole number. Give digits only.")
        return int(text)

    @property
    def job(self) -> int:
        """The number of the job that the form starts, from its hidden field `job`. Raises at that field."""
        text = self.text("job")
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            with at_field("job"):
                raise InputError(f"{text!r} is not the number of a job. Open this page again, then send its form.")
        return int(text)

    def lines(self, name: str) -> list[str]:
        """A field with one entry on each line, without empty lines."""
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]

    def has(self, name: str) -> bool:
        """Whether the field was sent with a value."""
        return bool(self.text(name))


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong with a form, and at which field."""

    text: str
    field: str = ""


NO_FIELDS = FormFields()
Show = Callable[..., Response]


@contextmanager
def at_field(name: str) -> Iterator[None]:
    """Attach errors of this block to a field of the form."""
    try:
        yield
    except ScumbleError as error:
        if not hasattr(error, "field"):
            error.field = name  # type: ignore[attr-defined]
        raise


def posted(show: Show) -> Callable[[Callable[[Request, FormFields], Response]], Callable[[Request], Response]]:
    """Turn a function that carries out a form into an endpoint. An error shows the form again, at the wrong field."""

    def decorate(carry_out: Callable[[Request, FormFields], Response]) -> Callable[[Request], Response]:
        def endpoint(request: Request) -> Response:
            fields = FormFields.of(request)
            try:
                return carry_out(request, fields)
            except ScumbleError as error:
                problem = Problem(text=str(error), field=getattr(error, "field", ""))
                response = show(request, problem=problem, typed=fields)
                response.status_code = WRONG_FORM
                return response

        endpoint.__name__ = carry_out.__name__
        return endpoint

    return decorate


def workspace_of(request: Request) -> Workspace:
    """The folder of the studio."""
    found: Workspace = request.app.state.workspace
    return found


def project_of(request: Request) -> Project:
    """The project that the address names."""
    return workspace_of(request).project(request.path_params["project"])


def page(template: str, *, project: Project | None = None, status: int = 200, **context: Any) -> HTMLResponse:
    """A page of the studio, with its navigation."""
    shown = {"problem": None, "typed": NO_FIELDS, "here": "", "commands": (), "command_note": "", **context}
    if project is not None:
        kept = KEPT.get(str(shown["here"]), "").format(schema=project.run.schema_path)
        shown |= {"next_job": next_number(project), "running": running(project), "kept": kept}
    shown["blanks"] = any(map(has_blanks, shown["commands"]))
    text = environment().get_template(template).render(project=project, **shown)
    return HTMLResponse(text, status_code=status)


def redirect(project: Project, place: str) -> Response:
    """Lead the browser to a page of a project with a new request, so that reloading sends no form again."""
    return RedirectResponse(f"{project.address}/{place}", status_code=SEE_OTHER)


def redirect_to_job(project: Project, job: Job) -> Response:
    """Lead the browser to the progress of a job."""
    return redirect(project, f"jobs/{job.number}")
