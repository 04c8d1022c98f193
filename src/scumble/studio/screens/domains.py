"""Domains: a status for every column, and the reason why each domain is public."""

from enum import StrEnum
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from scumble.model.schema import Attribute
from scumble.studio.commands import dialect_words, line
from scumble.studio.pages import NO_FIELDS, FormFields, Problem, page, project_of
from scumble.studio.pictures import domain_picture


class Light(StrEnum):
    """How far a domain is from being published."""

    PUBLIC = "public"
    NO_REASON = "no reason"
    DRAFT = "draft"


LIGHTS = {
    Light.PUBLIC: "public",
    Light.NO_REASON: "no reason stated",
    Light.DRAFT: "not confirmed",
}


class ListedDomain(NamedTuple):
    """A column with its light and a picture of its domain."""

    attribute: Attribute
    light: Light
    words: str
    picture: object
    is_class: bool


def light_of(attribute: Attribute) -> Light:
    """The status of a domain."""
    if attribute.unconfirmed:
        return Light.DRAFT
    return Light.NO_REASON if attribute.public_because is None else Light.PUBLIC


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """All columns of the schema."""
    project = project_of(request)
    schema = project.schema_or_raise()
    listed = [
        ListedDomain(
            attribute=each,
            light=light_of(each),
            words=LIGHTS[light_of(each)],
            picture=domain_picture(each),
            is_class=each.name == schema.target,
        )
        for each in schema.attributes
    ]
    return page(
        "domains.html",
        project=project,
        here="domains",
        listed=listed,
        schema=schema,
        waiting=sum(each.light is Light.DRAFT for each in listed),
        unexplained=sum(each.light is Light.NO_REASON for each in listed),
        problem=problem,
        typed=typed,
        commands=(line("schema", "check", project.run.schema_path, project.run.data, *dialect_words(project.run)),),
    )
