"""What a method is audited and checked on: small public schemas, and parameters worth trying.

A method says nothing about audits unless it wants to. It may have `audited`, a tuple of parameters beside epsilon (one
for each of its modes), and `pairs(schema, parameters)`, which yields (shared records, the record that comes, the record
that goes under `replace`, why), all in codes.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods import METHODS
from scumble.methods.method import Method, Params
from scumble.model.guarantee import Guarantee, PureDP, Unit, Unproven
from scumble.model.schema import Outside, Schema

ROWS = 40
"""How many rows a table has where their number is public."""
SMALLEST_GROUP = 20
"""What a whole number without a default is set to: of all such parameters there are, the size of a group."""

WITH_CLASS = """\
scumble: schema/1
target: class
attributes:
  number: {numeric: {low: 0, high: 4, step: 1}}
  group: {taxonomy: {Any: {a: , b: }}}
  class: {classes: [x, y]}
"""
NUMBERS_ALONE = """\
scumble: schema/1
attributes:
  width: {numeric: {low: 0, high: 101, step: 1}}
  height: {numeric: {low: 0, high: 101, step: 1}}
"""


def small_schemas() -> list[Schema]:
    """Small public domains, in the order they are tried: with a class and without, both units."""
    schemas = [parse_schema(text, name="the audit's schema") for text in (WITH_CLASS, NUMBERS_ALONE)]
    return [under for schema in schemas for under in (schema, _replacing(schema))]


def _replacing(schema: Schema) -> Schema:
    clamped = tuple(replace(attribute, outside=Outside.CLAMP) for attribute in schema.attributes)
    return replace(schema, unit=Unit.REPLACE, rows=ROWS, attributes=clamped)


def served_schema(method: Method, parameters: Params) -> Schema:
    """The first small schema that the method accepts."""
    refusals = []
    for schema in small_schemas():
        try:
            method.plan(schema, parameters)
        except InputError as refusal:
            refusals.append(str(refusal))
        else:
            return schema
    raise InputError(f"{method.name} serves none of the audit's schemas: {refusals[0]} Give one with --schema.")


def settings_of(method: Method) -> tuple[dict[str, Any], ...]:
    """Parameters beside epsilon for each of the method's modes: its own proposals, or the least it asks for."""
    proposed: tuple[dict[str, Any], ...] = getattr(method, "audited", ())
    required = {
        name: SMALLEST_GROUP
        for name, field in method.parameters.model_fields.items()
        if field.is_required() and field.annotation is int
    }
    return proposed or (required,)


def parameters_for(method: Method, epsilon: object, settings: dict[str, Any]) -> Params:
    """Parameters with an epsilon where the method has one."""
    has_epsilon = "epsilon" in method.parameters.model_fields
    return method.parameters(**{**settings, **({"epsilon": epsilon} if has_epsilon else {})})


def declared_epsilon(guarantee: Guarantee) -> Fraction | None:
    """What a guarantee says about neighbouring tables, proved or not; None where it says nothing."""
    match guarantee:
        case PureDP(epsilon=epsilon) | Unproven(claim=PureDP(epsilon=epsilon)):
            return epsilon
        case _:
            return None


def audited_modes() -> list[tuple[Method, dict[str, Any]]]:
    """Every method that declares an epsilon, in each mode it wants audited."""
    modes = [(method, settings) for method in METHODS for settings in settings_of(method)]
    return [each for each in modes if _declares(*each)]


def _declares(method: Method, settings: dict[str, Any]) -> bool:
    parameters = parameters_for(method, 1, settings)
    return declared_epsilon(method.plan(served_schema(method, parameters), parameters).guarantee) is not None
