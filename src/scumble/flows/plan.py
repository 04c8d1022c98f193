"""`plan`: what a release would cost. It reads the schema and the method's parameters, and no data.

Neither Arrow nor an engine is imported here, so a plan is printed without waiting for them.
"""

from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.files.schema_file import read_schema
from scumble.methods import method_and_parameters, usual_method
from scumble.methods.method import Params
from scumble.methods.persons import plan_release
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.plan import Plan
from scumble.model.schema import Schema

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def schema_of(schema: Schema | str | Path) -> Schema:
    """A schema, read from its file where a path is given."""
    return schema if isinstance(schema, Schema) else read_schema(Path(schema))


def refuse_private_rows(schema: Schema) -> None:
    """Refuse an exact number of rows under add-remove, where it is private and would be published with the schema."""
    if schema.unit is Unit.ADD_REMOVE and schema.rows is not None:
        raise InputError(
            f"The schema says `rows: {schema.rows}`. Under `unit: add-remove` the exact number of rows is private. "
            "Delete the line, or write `rows_at_most:` with a public upper bound."
        )


def refuse_alike_booleans(schema: Schema) -> None:
    """Refuse two leaves that differ only in the case of true or false: a typed boolean could mean either."""
    for attribute in schema.attributes:
        if isinstance(attribute.domain, Grid):
            continue
        for word in ("true", "false"):
            alike = [label for label in attribute.domain.finest.labels if label.lower() == word]
            if len(alike) > 1:
                raise InputError(
                    f"{attribute.name!r} has the leaves {' and '.join(map(repr, alike))}, which a typed boolean does "
                    "not distinguish. Keep one of them, or write `boolean: true`."
                )


def refuse_formulas(schema: Schema) -> None:
    """Refuse attribute names that a spreadsheet would run as a formula: they become headers of published tables."""
    for attribute in schema.attributes:
        if attribute.name.startswith(FORMULA_STARTS):
            raise InputError(
                f"The name of the attribute {attribute.name!r} starts like a formula of a spreadsheet. Give it another "
                f"name, and write the name of the column of the table as `column: {attribute.source_column!r}`."
            )


def refuse_doubtful(schema: Schema) -> None:
    """Refuse what an owner may not publish with a new schema. Folders that were published with it still load."""
    refuse_private_rows(schema)
    refuse_alike_booleans(schema)
    refuse_formulas(schema)


def plan(*, schema: Schema | str | Path, method: str | Params | None = None, **parameters: Any) -> Plan:
    """What a release would cost, spend by spend. It reads no data; the table need not exist yet.

    `schema` is a `Schema` or the path of a schema file. `method` is the name of a method, with its parameters as
    keywords, or a value of its parameters, which a type checker checks: `DiffGen(epsilon="1")`; by default `diffgen`,
    or `explore` if the schema has no target. Returns the plan that `release` would reserve. Raises `InputError` if the
    schema, the method or a parameter is wrong.

    >>> from scumble import Attribute, Histograms, Outside, Schema, Tree
    >>> yes = Tree.flat(["no", "yes"])
    >>> attributes = tuple(Attribute(name=name, domain=yes, outside=Outside.DROP) for name in ("smokes", "ill"))
    >>> plan(schema=Schema(attributes=attributes, target="ill"), method=Histograms(epsilon="1"))
    <Plan: PureDP with epsilon 1, 1 spend, unit add-remove>
    """
    public = schema_of(schema)
    chosen, settings = method_and_parameters(method or usual_method(public), parameters)
    refuse_doubtful(public)
    return plan_release(chosen, public, settings)
