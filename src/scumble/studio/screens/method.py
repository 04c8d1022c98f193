"""Method: whom the people in the table trust, and what each method promises, in words."""

from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from scumble.errors import ScumbleError
from scumble.flows.plan import plan
from scumble.methods import METHODS, method_named, usual_method
from scumble.methods.method import Method
from scumble.model.guarantee import ApproxDP, PureDP
from scumble.model.schema import Schema
from scumble.studio.commands import plan_command
from scumble.studio.pages import NO_FIELDS, FormFields, Problem, at_field, page, posted, project_of, redirect

BUDGET = ("epsilon", "delta")
"""Parameters that the Budget screen asks for, and that are kept when another method is chosen."""
SHOWN_EPSILON = "1"
"""The epsilon with which the promise of a method is stated if none was chosen yet."""


class MethodCard(NamedTuple):
    """A method and what it promises for this schema."""

    name: str
    summary: str
    promise: str
    private: bool
    """Whether the promise is differential privacy."""
    refusal: str
    """Why the method does not fit this schema; empty if it does."""


class MethodOption(NamedTuple):
    """A parameter of the chosen method, for its form."""

    name: str
    description: str
    value: str
    default: str
    flag: bool


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The cards, and the options of the chosen method."""
    project = project_of(request)
    schema = project.schema_or_raise()
    run = project.run
    chosen = run.method or usual_method(schema)
    cards = [_card(method, schema, run.parameters) for method in METHODS]
    return page(
        "method.html",
        project=project,
        here="method",
        cards=[card for card in cards if not card.refusal or card.name == chosen],
        unfit=[card for card in cards if card.refusal and card.name != chosen],
        chosen=chosen,
        options=_options(method_named(chosen), run.parameters),
        problem=problem,
        typed=typed,
        commands=(plan_command(project),),
    )


@posted(show)
def save(request: Request, fields: FormFields) -> Response:
    """Record the method; or, in the second form, its options."""
    project = project_of(request)
    run = project.run
    if fields.text("action") == "options":
        method = method_named(run.method or usual_method(project.schema_or_raise()))
        given = {
            option.name: "true" if option.flag else fields.text(f"option:{option.name}")
            for option in _options(method, {})
            if fields.has(f"option:{option.name}")
        }
        kept = {name: value for name, value in run.parameters.items() if name in BUDGET}
        shown = {"epsilon": SHOWN_EPSILON} if "epsilon" in method.parameters.model_fields else {}
        with at_field("options"):
            plan(schema=project.schema_path, method=method.name, **{**shown, **kept, **given})
        project.change(method=method.name, parameters={**kept, **given})
        return redirect(project, "budget")
    with at_field("method"):
        method = method_named(fields.text("method"))
        names = method.parameters.model_fields
        same = method.name == run.method
        kept = {name: value for name, value in run.parameters.items() if name in names and (same or name in BUDGET)}
        project.change(method=method.name, parameters=kept)
    return redirect(project, "method#options")


def _card(method: Method, schema: Schema, parameters: dict[str, str]) -> MethodCard:
    needed = (
        {"epsilon": parameters.get("epsilon", SHOWN_EPSILON)} if "epsilon" in method.parameters.model_fields else {}
    )
    required = {
        name: str(parameters.get(name, 5))
        for name, field in method.parameters.model_fields.items()
        if field.is_required() and name != "epsilon"
    }
    try:
        guarantee = plan(schema=schema, method=method.name, **needed, **required).guarantee
    except ScumbleError as error:
        return MethodCard(method.name, method.summary, "", False, str(error))
    private = isinstance(guarantee, PureDP | ApproxDP)
    return MethodCard(method.name, method.summary, guarantee.sentence, private, "")


def _options(method: Method, parameters: dict[str, str]) -> list[MethodOption]:
    found = []
    for name, field in method.parameters.model_fields.items():
        if name in BUDGET:
            continue
        default: Any = "" if field.is_required() else getattr(field.default, "value", field.default)
        flag = field.annotation is bool
        found.append(MethodOption(name, field.description or "", parameters.get(name, ""), str(default), flag))
    return found
