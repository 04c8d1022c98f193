"""The cases for audits and laws: small public schemas, and the parameters to test a method with.

A method may help its own audit in two optional ways. The attribute `audited` is a tuple of parameters without epsilon,
one entry for each mode of the method. The function `pairs(schema, parameters)` yields interesting neighbouring pairs as
(shared records, added record, record that it replaces under `replace`, description). Records are tuples of codes.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods import METHODS
from scumble.methods.method import Method, Params
from scumble.model.guarantee import ApproxDP, Guarantee, PureDP, Unit, Unproven
from scumble.model.schema import Outside, Schema

ROWS = 40
"""The number of rows under `replace`, where it is public."""
SMALLEST_GROUP = 20
"""The value of an integer parameter without a default. The only such parameter of today's methods is a group size."""

WITH_CLASS = """\
scumble: schema/1
target: class
attributes:
  number: {numeric: {low: 0, high: 4, step: 1}}
  group: {taxonomy: {Any: {a: , b: }}}
  class: {classes: [x, y]}
"""
WITHOUT_CLASS = """\
scumble: schema/1
attributes:
  stay: {numeric: {low: 0, high: 5, step: 1}, missing: "?"}
  pain: {ordered: [none, mild, severe], missing: unknown}
  ward: {taxonomy: {Any: {north: {n1: , n2: }, south: {s1: , s2: , s3: }}}}
"""
NUMBERS_ALONE = """\
scumble: schema/1
attributes:
  width: {numeric: {low: 0, high: 101, step: 1}}
  height: {numeric: {low: 0, high: 101, step: 1}}
"""


def small_schemas() -> list[Schema]:
    """Small schemas, in the order in which they are tried: with a class, numbers alone, and a mixed table
    without a class, each under both units."""
    schemas = [parse_schema(text, name="the audit's schema") for text in (WITH_CLASS, NUMBERS_ALONE, WITHOUT_CLASS)]
    return [under for schema in schemas for under in (schema, under_replace(schema))]


def under_replace(schema: Schema) -> Schema:
    """The same schema with the unit `replace` and a public number of rows."""
    clamped = tuple(replace(attribute, outside=Outside.CLAMP) for attribute in schema.attributes)
    return replace(schema, unit=Unit.REPLACE, rows=ROWS, attributes=clamped)


def served_schema(method: Method, parameters: Params) -> Schema:
    """The first of the small schemas that the method accepts."""
    refusals = []
    for schema in small_schemas():
        try:
            method.plan(schema, parameters)
        except InputError as refusal:
            refusals.append(str(refusal))
        else:
            return schema
    raise InputError(
        f"{method.name} accepts none of the built-in audit schemas: {refusals[0]} Give a schema with --schema."
    )


def settings_of(method: Method) -> tuple[dict[str, Any], ...]:
    """Parameters without epsilon for each mode of a method: those it proposes, or only the required ones."""
    proposed: tuple[dict[str, Any], ...] = getattr(method, "audited", ())
    required = {
        name: SMALLEST_GROUP
        for name, field in method.parameters.model_fields.items()
        if field.is_required() and field.annotation is int
    }
    return proposed or (required,)


def parameters_for(method: Method, epsilon: object, settings: dict[str, Any]) -> Params:
    """The parameters of a mode, with epsilon if the method has this parameter."""
    has_epsilon = "epsilon" in method.parameters.model_fields
    return method.parameters(**{**settings, **({"epsilon": epsilon} if has_epsilon else {})})


def declared_epsilon(guarantee: Guarantee) -> Fraction | None:
    """The epsilon of a guarantee, proven or not; None if it declares none."""
    match guarantee:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon) | Unproven(claim=PureDP(epsilon=epsilon)):
            return epsilon
        case _:
            return None


def audited_modes() -> list[tuple[Method, dict[str, Any]]]:
    """Every method that declares an epsilon, in each of its modes."""
    modes = [(method, settings) for method in METHODS for settings in settings_of(method)]
    return [each for each in modes if _declares(*each)]


def _declares(method: Method, settings: dict[str, Any]) -> bool:
    parameters = parameters_for(method, 1, settings)
    return declared_epsilon(method.plan(served_schema(method, parameters), parameters).guarantee) is not None
