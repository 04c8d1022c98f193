"""Table and roles: the columns of the table, which of them is the class, and who is one unit of privacy."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from scumble.errors import InputError
from scumble.flows.schema_edit import set_roles
from scumble.flows.schema_roles import ColumnRoles
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Schema
from scumble.studio.commands import dialect_words, line
from scumble.studio.jobs import jobs_of, start
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

DRAFT = "draft"
ROLES = (
    ("predictor", "published"),
    ("class", "the class to predict"),
    ("identifier", "never published"),
    ("person", "identifies a person"),
)
UNITS = (
    (Unit.ADD_REMOVE, "one row: the guarantee hides whether it is in the table"),
    (Unit.REPLACE, "the values of one row: the guarantee hides what it says, and the number of rows is public"),
)
NUMBERS = ("rows", "rows_each_at_most", "rows_at_most")


class ColumnRole(NamedTuple):
    """A column of the table or of the schema, and its role."""

    name: str
    kind: str
    """The kind of its values by the schema, or else the type that the file declares; empty if neither says."""
    role: str
    described: bool
    """Whether the schema has a domain for it."""


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The columns, from the header of the table alone."""
    project = project_of(request)
    schema = project.schema
    columns = _columns(project, schema)
    return page(
        "table.html",
        project=project,
        here="table",
        columns=columns,
        roles=ROLES,
        units=UNITS,
        unit=typed.text("unit") or _stated(project, schema)["unit"],
        numbers={name: typed.text(name) or _stated(project, schema)[name] for name in NUMBERS},
        schema=schema,
        problem=problem,
        typed=typed,
        commands=(_command(project, schema, columns),),
    )


@posted(show)
def save(request: Request, fields: FormFields) -> Response:
    """Record the roles in the schema; or draft one first, from the rows, as a job."""
    project = project_of(request)
    schema = project.schema
    columns = _columns(project, schema)
    chosen = {each.name: fields.text(f"role:{place}") or each.role for place, each in enumerate(columns)}
    numbers = {name: fields.number(name) for name in NUMBERS}
    unit = fields.text("unit") or _stated(project, schema)["unit"]
    with at_field("unit"):
        if unit not in list(Unit):
            raise InputError(f"Unknown unit {unit!r}. Available: {', '.join(Unit)}.")
    with at_field("rows"):
        roles = _roles(project, chosen, unit=Unit(unit), **numbers)
    if schema is None:
        facts = {"roles": chosen, "unit": unit, **{name: fields.text(name) for name in NUMBERS}}
        words, title = _draft_words(project, roles), "Drafting a schema from the rows"
        return redirect_to_job(
            project, start(project, fields.job, kind=DRAFT, title=title, arguments=words, facts=facts)
        )
    with at_field("roles"):
        undescribed = [each.name for each in columns if chosen[each.name] == "predictor" and not each.described]
        if undescribed:
            raise InputError(
                f"{undescribed[0]!r} is to be published and has no domain yet. Describe its domain first, by the link "
                "in its row. Nothing was saved."
            )
    with at_field("rows" if roles.unit is Unit.REPLACE and roles.rows is None else "roles"):
        set_roles(project.schema_path, roles)
    return redirect(project, "domains")


def _roles(project: Project, chosen: Mapping[str, str], *, unit: Unit, **numbers: int | None) -> ColumnRoles:
    """The choices of the form. Raises at its fields if they contradict each other."""
    names = {role: [name for name, each in chosen.items() if each == role] for role, _ in ROLES}
    with at_field("roles"):
        unknown = [each for each in chosen.values() if each not in names]
        if unknown:
            raise InputError(f"Unknown role {unknown[0]!r}. Available: {', '.join(names)}.")
        target, person = _one_of(names["class"], "class"), _one_of(names["person"], "column of persons")
    numbers["rows_each_at_most"] = (numbers["rows_each_at_most"] or 1) if person else None
    return ColumnRoles(
        target=_attribute_name(project.schema, target),
        identifiers=names["identifier"],
        person=person,
        unit=unit,
        **numbers,
    )


def _one_of(names: Sequence[str], what: str) -> str | None:
    if len(names) > 1:
        raise InputError(f"{', '.join(map(repr, names))} are each chosen as the {what}. Choose one at most.")
    return names[0] if names else None


def _attribute_name(schema: Schema | None, column: str | None) -> str | None:
    """The attribute that reads a column, which may have another name."""
    found = None if schema is None else _attribute(schema, column)
    return column if found is None else found.name


def _attribute(schema: Schema, column: str | None) -> Attribute | None:
    return next((each for each in schema.attributes if each.source_column == column), None)


def _columns(project: Project, schema: Schema | None) -> list[ColumnRole]:
    source = project.source()
    kinds = source.kinds()
    drafted = _last_draft(project).get("roles", {}) if schema is None else {}
    found = []
    for name in source.columns():
        attribute = None if schema is None else _attribute(schema, name)
        declared = "" if kinds is None else str(kinds.field(name).type)
        role = drafted.get(name, "predictor") if schema is None else _role(schema, name, attribute)
        kind = declared if attribute is None else attribute.kind
        found.append(ColumnRole(name=name, kind=kind, role=role, described=attribute is not None))
    return found


def _role(schema: Schema, column: str, attribute: Attribute | None) -> str:
    if column == schema.person:
        return "person"
    if attribute is None:
        return "identifier"
    return "class" if attribute.name == schema.target else "predictor"


def _last_draft(project: Project) -> Mapping[str, Any]:
    """What was chosen when a draft was last asked for: a draft that failed does not lose it."""
    return next((job.facts for job in jobs_of(project) if job.facts.get("kind") == DRAFT), {})


def _stated(project: Project, schema: Schema | None) -> dict[str, str]:
    """The unit and the public numbers of rows, by the schema or by the last draft."""
    if schema is not None:
        numbers = {name: getattr(schema, name) for name in NUMBERS}
        return {"unit": schema.unit.value} | {name: str(number or "") for name, number in numbers.items()}
    facts = _last_draft(project)
    return {"unit": facts.get("unit", Unit.ADD_REMOVE.value)} | {name: facts.get(name, "") for name in NUMBERS}


def _draft_words(project: Project, roles: ColumnRoles) -> list[str]:
    run = project.run
    stated = _role_words(roles)
    return ["schema", "draft", run.data, *dialect_words(run), *stated, "--out", run.schema_path]


def _role_words(roles: ColumnRoles) -> list[str]:
    words = [] if roles.target is None else ["--target", roles.target]
    words += [word for name in roles.identifiers for word in ("--identifier", name)]
    words += [] if roles.person is None else ["--person", roles.person]
    for name in ("unit", "rows", "rows_each_at_most", "rows_at_most"):
        value = getattr(roles, name)
        words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    return words


def _command(project: Project, schema: Schema | None, columns: Sequence[ColumnRole]) -> str:
    """The command that states what the page shows."""
    stated = _stated(project, schema)
    numbers = {name: int(stated[name]) if stated[name].isdecimal() else None for name in NUMBERS}
    roles = _roles(project, {each.name: each.role for each in columns}, unit=Unit(stated["unit"]), **numbers)
    if schema is None:
        return line(*_draft_words(project, roles))
    return line("schema", "roles", project.run.schema_path, *_role_words(roles))
