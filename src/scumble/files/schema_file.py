"""`schema.yaml`: reading, writing, and the JSON Schema of the format.

Every scalar is read as text, so that names stay exact (`no` is not false) and decimals are not rounded.
"""

import difflib
import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, SingleQuotedScalarString

from scumble.errors import InputError
from scumble.files.schema_attribute import KINDS, AttributePart, MissingPart, attribute_data, attribute_from
from scumble.files.schema_kinds import BooleanPart, DatePart, EntryPart, NumbersPart, NumericPart, PrefixPart
from scumble.foreign.files import read_text
from scumble.foreign.text import printable
from scumble.foreign.yaml_text import parse_yaml
from scumble.model.guarantee import Unit
from scumble.model.notation import PLAIN
from scumble.model.schema import Schema
from scumble.model.validation import deepest, first_problem

FORMAT = "schema/1"
NOT_PLAIN_TEXT = re.compile(r"|[-+.]?[0-9].*|[-+]?\.(inf|nan)|~|null|y|n|yes|no|true|false|on|off|=|<<", re.IGNORECASE)
"""Texts that a reader of YAML 1.1 or 1.2 may take for a number, a date, a boolean, null or a merge key."""


ATTRIBUTE_KEY = 3
"""The depth of a key of an attribute: `attributes`, the attribute's name, the key."""
PARTS: dict[str, type[EntryPart]] = {
    "numeric": NumericPart,
    "date": DatePart,
    "boolean": BooleanPart,
    "prefix": PrefixPart,
    "numbers": NumbersPart,
    "missing": MissingPart,
}
"""The parts below keys of an attribute, and below `numbers` of the whole file."""


class SchemaPart(EntryPart):
    """The whole file."""

    scumble: Literal["schema/1"]
    unit: Unit = Unit.ADD_REMOVE
    rows: Annotated[int, Field(ge=0)] | None = None
    rows_at_most: Annotated[int, Field(ge=0)] | None = None
    person: Annotated[
        str | None,
        Field(description="The column that identifies persons, never published. Epsilon then protects a person."),
    ] = None
    rows_each_at_most: Annotated[
        int | None, Field(ge=1, description="With `person`: how many rows of each person are used.")
    ] = None
    target: str | None = None
    numbers: Annotated[
        NumbersPart | None, Field(description="How numbers are written, for attributes that do not say so themselves.")
    ] = None
    attributes: dict[str, AttributePart]


def json_schema() -> dict[str, Any]:
    """The format as a JSON Schema, for editors and other tools."""
    return SchemaPart.model_json_schema()


def read_schema(path: Path) -> Schema:
    """Read a schema file. Paths of hierarchy files are relative to it.

    Raises `InputError`, which names the file and the wrong entry.
    """
    return parse_schema(read_schema_text(path), folder=path.parent, name=str(path))


def read_published_schema(path: Path) -> Schema:
    """Read a schema file of a release folder: not through a link, and it may not name other files."""
    return parse_schema(read_schema_text(path, follow_links=False), name=str(path))


def read_schema_text(path: Path, *, follow_links: bool = True) -> str:
    """The text of a schema file, with its line ends. Raises `InputError` if it cannot be read."""
    try:
        return read_text(path, follow_links=follow_links)
    except FileNotFoundError:
        raise InputError(f"The schema file {path} does not exist. `scumble schema draft DATA` drafts one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The schema file {path} cannot be read: {error}. Give a UTF-8 text file.") from error


def parse_schema(text: str, *, folder: Path | None = None, name: str = "the schema") -> Schema:
    """Read a schema from text. Files that it names are in `folder`; without a folder it may not name any."""
    data = parse_yaml(text, name)
    if not isinstance(data, Mapping):
        raise InputError(f"{name} is not a mapping. Start it with `scumble: {FORMAT}`.")
    return schema_from(data, folder=folder, name=name)


def schema_from(data: Mapping[str, Any], *, folder: Path | None = None, name: str = "the schema") -> Schema:
    """Read a schema from the result of `parse_yaml`, which may be part of a larger file."""
    try:
        part = SchemaPart.model_validate(data)
    except ValidationError as error:
        raise InputError(
            f"{name}: {first_problem(error)}. {_advice(error)}See docs/schema.md, or `scumble schema format`."
        ) from error
    try:
        return _to_schema(part, folder)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except RecursionError:
        raise InputError(f"{name}: a taxonomy is nested too deeply. Write a flatter one.") from None


def _advice(error: ValidationError) -> str:
    """For an unknown key: the key that was probably meant, or else, for an attribute, the kinds of attributes."""
    problem = deepest(error)
    if problem["type"] != "extra_forbidden":
        return ""
    place = [str(part) for part in problem["loc"]]
    fields = _part_at(place).model_fields
    meant = difflib.get_close_matches(place[-1], [field.alias or name for name, field in fields.items()], n=1)
    if meant:
        return f"Did you mean `{meant[0]}`? "
    if len(place) != ATTRIBUTE_KEY:
        return ""
    return (
        f"Kinds of attributes: {', '.join(KINDS)}. Free text and unique keys have no public domain: leave the column "
        "out, or write `identifier: true`. "
    )


def _part_at(place: list[str]) -> type[EntryPart]:
    """The part of the file that has, or should not have, the key at a place."""
    if len(place) == 1:
        return SchemaPart
    if len(place) == ATTRIBUTE_KEY and place[0] == "attributes":
        return AttributePart
    return PARTS[place[2] if place[0] == "attributes" else place[0]]


def _to_schema(part: SchemaPart, folder: Path | None) -> Schema:
    numbers = PLAIN if part.numbers is None else part.numbers.notation()
    return Schema(
        unit=part.unit,
        rows=part.rows,
        rows_at_most=part.rows_at_most,
        person=part.person,
        rows_each_at_most=part.rows_each_at_most,
        target=part.target,
        attributes=tuple(
            attribute_from(name, column, part.unit, folder, numbers)
            for name, column in part.attributes.items()
            if not column.identifier
        ),
        identifiers=tuple(name for name, column in part.attributes.items() if column.identifier),
    )


def schema_text(schema: Schema, *, heading: str = "", comments: Mapping[str, str] | None = None) -> str:
    """The schema as YAML, with comments above the columns that `comments` names. `parse_schema` reads it back."""
    data = schema_data(schema)
    columns = CommentedMap(_exact(data["attributes"]))
    for name, comment in (comments or {}).items():
        if comment:
            columns.yaml_set_comment_before_after_key(name, before=comment, indent=2)
    return yaml_text({**data, "attributes": columns}, heading=heading)


def schema_data(schema: Schema) -> dict[str, Any]:
    """The schema as plain data. `schema_from` reads it back after it was written and loaded as YAML."""
    data: dict[str, Any] = {"scumble": FORMAT, "unit": schema.unit.value}
    for key in ("rows", "rows_at_most", "person", "rows_each_at_most", "target"):
        if getattr(schema, key) is not None:
            data[key] = getattr(schema, key)
    data["attributes"] = {a.name: attribute_data(a, schema) for a in schema.attributes}
    data["attributes"] |= {name: {"identifier": True} for name in schema.identifiers}
    return data


def yaml_text(data: Mapping[str, Any], *, heading: str = "") -> str:
    """Plain data as YAML, below a heading of comments. Every text in it is read back exactly.

    Characters that a terminal would obey are in quoted texts, where they are written as escapes.
    """
    yaml = YAML()
    yaml.width = 120
    stream = StringIO()
    yaml.dump(_exact(data), stream)
    return printable("".join(f"# {line}\n" for line in heading.splitlines()) + stream.getvalue())


def _exact(data: Any) -> Any:
    """The same data, with quotes around every text that a reader of YAML 1.1 or 1.2 could take for something else."""
    if isinstance(data, CommentedMap):
        return data
    if isinstance(data, Mapping):
        return {_exact(key): _exact(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_exact(value) for value in data]
    if not isinstance(data, str):
        return data
    if not data.isprintable():
        return DoubleQuotedScalarString(data)
    return SingleQuotedScalarString(data) if NOT_PLAIN_TEXT.fullmatch(data) else data


def write_schema(schema: Schema, path: Path, *, heading: str = "") -> None:
    """Write a schema file, with an optional heading of comments. `read_schema` reads it back."""
    path.write_text(schema_text(schema, heading=heading), encoding="utf-8")
