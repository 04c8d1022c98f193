"""Table and roles: the columns of the table, which of them is the class, and who is one unit of privacy."""

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from scumble.flows.schema_edit import set_roles
from scumble.model.schema import Schema
from scumble.studio.commands import line
from scumble.studio.jobs import start
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

ROLES = (
    ("predictor", "published"),
    ("class", "the class to predict"),
    ("identifier", "never published"),
    ("person", "identifies a person"),
)


class ColumnRole(NamedTuple):
    """A column of the table or of the schema, and its role."""

    name: str
    declared: str
    """The type that the file declares, if it does."""
    role: str
    described: bool
    """Whether the schema has a domain for it."""


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The columns, from the header of the table alone."""
    project = project_of(request)
    schema = project.schema
    return page(
        "table.html",
        project=project,
        here="table",
        columns=_columns(project, schema),
        roles=ROLES,
        schema=schema,
        problem=problem,
        typed=typed,
        commands=_commands(project, schema),
    )


@posted(show)
def save(request: Request, fields: FormFields) -> Response:
    """Record the roles in the schema; or draft one first, from the rows, as a job."""
    project = project_of(request)
    columns = project.source().columns()
    chosen = {name: fields.text(f"role:{place}", "predictor") for place, name in enumerate(columns)}
    classes = [name for name, role in chosen.items() if role == "class"]
    persons = [name for name, role in chosen.items() if role == "person"]
    with at_field("roles"):
        _at_most_one(classes, "class")
        _at_most_one(persons, "column of persons")
    target = classes[0] if classes else None
    schema = project.schema
    if schema is None:
        words = ["schema", "draft", project.run.data, "--out", project.run.schema_path]
        words += [] if target is None else ["--target", target]
        job = start(
            project,
            fields.job,
            kind="draft",
            title="Drafting a schema from the rows",
            arguments=words,
        )
        return redirect_to_job(project, job)
    with at_field("roles"):
        set_roles(
            project.schema_path,
            target=_attribute(schema, target),
            identifiers=[name for name, role in chosen.items() if role == "identifier"],
            person=persons[0] if persons else None,
            rows_each_at_most=fields.number("rows_each_at_most") or (1 if persons else None),
            rows_at_most=fields.number("rows_at_most"),
        )
    return redirect(project, "domains")


def _at_most_one(names: list[str], what: str) -> None:
    from scumble.errors import InputError

    if len(names) > 1:
        raise InputError(f"{', '.join(map(repr, names))} are each chosen as the {what}. Choose one at most.")


def _attribute(schema: Schema, column: str | None) -> str | None:
    """The attribute that reads a column, which may have another name."""
    return next((each.name for each in schema.attributes if each.source_column == column), column)


def _columns(project: Project, schema: Schema | None) -> list[ColumnRole]:
    source = project.source()
    kinds = source.kinds()
    found = []
    for name in source.columns():
        attribute = None if schema is None else next((a for a in schema.attributes if a.source_column == name), None)
        role = "predictor" if schema is None or attribute is not None else "identifier"
        if schema is not None and attribute is not None and attribute.name == schema.target:
            role = "class"
        if schema is not None and name == schema.person:
            role = "person"
        declared = "" if kinds is None else str(kinds.field(name).type)
        found.append(ColumnRole(name=name, declared=declared, role=role, described=attribute is not None))
    return found


def _commands(project: Project, schema: Schema | None) -> tuple[str, ...]:
    if schema is None:
        return (line("schema", "draft", project.run.data, "--target", "CLASS", "--out", project.run.schema_path),)
    words: list[object] = ["schema", "roles", project.run.schema_path]
    words += [] if schema.target is None else ["--target", schema.target]
    words += [word for name in schema.identifiers for word in ("--identifier", name)]
    if schema.person is not None:
        words += ["--person", schema.person, "--rows-each-at-most", schema.rows_each_at_most]
    words += [] if schema.rows_at_most is None else ["--rows-at-most", schema.rows_at_most]
    return (line(*words),)
