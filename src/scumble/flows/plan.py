"""`plan`: what a release would cost. It reads the schema and the method's parameters, and no data.

Neither Arrow nor an engine is imported here, so a plan is printed without waiting for them.
"""

from pathlib import Path
from typing import Any

from scumble.files.schema_file import read_schema
from scumble.methods import method_and_parameters
from scumble.methods.method import Params
from scumble.model.plan import Plan
from scumble.model.schema import Schema


def schema_of(schema: Schema | str | Path) -> Schema:
    """A schema, read from its file where a path is given."""
    return schema if isinstance(schema, Schema) else read_schema(Path(schema))


def plan(*, schema: Schema | str | Path, method: str | Params = "diffgen", **parameters: Any) -> Plan:
    """What a release would cost, spend by spend. It reads no data; the table need not exist yet.

    `schema` is a `Schema` or the path of a schema file. `method` is the name of a method, with its parameters as
    keywords, or a value of its parameters, which a type checker checks: `DiffGen(epsilon="1")`. Raises
    `InputError` where the schema, the method or a parameter is wrong.
    """
    chosen, settings = method_and_parameters(method, parameters)
    return chosen.plan(schema_of(schema), settings)
