"""Edits a schema file: the roles of its columns, and one domain at a time.

A changed domain is `unconfirmed` until its owner states again why it is public: the reason was given for another one.
Comments above columns are kept, others are not. The file is replaced in one step, and only by a text that reads back as
the intended schema.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scumble.errors import InputError
from scumble.files.hierarchy_file import read_hierarchy
from scumble.files.replaced_file import replace_file
from scumble.files.schema_attribute import REASON, AttributePart, attribute_from
from scumble.files.schema_confirm import confirm_domains
from scumble.files.schema_file import parse_schema, read_schema_text, schema_text
from scumble.flows.schema_roles import ColumnRoles, with_roles
from scumble.foreign.files import below
from scumble.foreign.yaml_text import parse_yaml
from scumble.model.domain import Domain
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Tree
from scumble.model.validation import first_problem

COLUMN = re.compile(r"  (?P<name>[^ #].*?):(?: .*)?")
"""A line that begins the entry of a column, as `schema_text` writes it."""


def edit_domain(path: Path, attribute: str, change: Callable[[Tree], Tree]) -> Schema:
    """Change the taxonomy of an attribute. Raises `InputError` if it has none, or if the change is refused."""
    schema, text = _read(path)
    domain = schema[attribute].domain
    if not isinstance(domain, Tree) or domain.splits_anywhere or schema[attribute].notation is not None:
        raise InputError(f"{attribute!r} has no taxonomy that can be edited node by node. Set its whole domain.")
    changed = change(domain)
    return _write(path, text, _with(schema, _unconfirmed(schema[attribute], changed)))


def set_domain(path: Path, attribute: str, entry: Mapping[str, Any]) -> Schema:
    """Give a column a domain, by the keys that it has in a schema file, such as {"numeric": {"low": ..., ...}}.

    An identifier becomes an attribute. The reason of an earlier domain is kept, to be confirmed again.
    """
    schema, text = _read(path)
    old = next((each for each in schema.attributes if each.name == attribute), None)
    kept = {} if old is None or old.column is None else {"column": old.column}
    reason = {} if old is None or old.public_because is None else {REASON: old.public_because}
    try:
        part = AttributePart.model_validate({**kept, **reason, **entry, "unconfirmed": True})
    except ValidationError as error:
        raise InputError(f"{attribute!r}: {first_problem(error)}.") from error
    if part.identifier:
        raise InputError(f"An identifier has no domain. Use `scumble schema roles --identifier {attribute}`.")
    return _write(path, text, _with(schema, attribute_from(attribute, part, schema.unit, path.parent)))


def set_domain_text(path: Path, attribute: str, text: str) -> Schema:
    """Give a column a domain that is written as in a schema file, such as `numeric: {low: 0, high: 90, step: 10}`."""
    entry = parse_yaml(text, "the domain")
    if not isinstance(entry, Mapping):
        raise InputError("A domain is a mapping, such as `numeric: {low: 0, high: 90, step: 10}`.")
    return set_domain(path, attribute, entry)


def import_hierarchy(path: Path, attribute: str, file: str) -> Schema:
    """Give an attribute the taxonomy of a file in ARX's CSV format, which is in the folder of the schema."""
    schema, text = _read(path)
    tree = read_hierarchy(below(path.parent, file))
    return _write(path, text, _with(schema, _unconfirmed(replace(schema[attribute], notation=None), tree)))


def state_reason(path: Path, attribute: str, reason: str) -> Schema:
    """State why the domain of an attribute is public. An unconfirmed domain is confirmed by it."""
    schema, text = _read(path)
    if schema[attribute].unconfirmed:
        return confirm_domains(path, {attribute: reason})
    return _write(path, text, _with(schema, replace(schema[attribute], public_because=reason)))


def set_roles(path: Path, roles: ColumnRoles) -> Schema:
    """State which column is the class, which are never published, which one identifies persons, and the unit."""
    schema, text = _read(path)
    return _write(path, text, with_roles(schema, roles, folder=path.parent, name=str(path)))


def _read(path: Path) -> tuple[Schema, str]:
    text = read_schema_text(path)
    return parse_schema(text, folder=path.parent, name=str(path)), text


def _unconfirmed(attribute: Attribute, domain: Domain) -> Attribute:
    missing = attribute.missing if attribute.missing in (None, *getattr(domain, "labels", ())) else None
    return replace(attribute, domain=domain, unconfirmed=True, missing=missing)


def _with(schema: Schema, attribute: Attribute) -> Schema:
    """The schema with one attribute changed or added."""
    changed = tuple(attribute if each.name == attribute.name else each for each in schema.attributes)
    if attribute.name not in schema.names:
        changed = (*changed, attribute)
    identifiers = tuple(name for name in schema.identifiers if name != attribute.name)
    return replace(schema, attributes=changed, identifiers=identifiers)


def _write(path: Path, old: str, schema: Schema) -> Schema:
    names = {*schema.names, *schema.identifiers}
    heading, comments = _comments(old)
    kept = {name: comment for name, comment in comments.items() if name in names}
    text = schema_text(schema, heading=heading, comments=kept)
    read_back = parse_schema(text, folder=path.parent, name=str(path))
    if read_back != schema:
        raise InputError(f"{path}: this change cannot be written as a schema file. Edit the file by hand.")
    replace_file(path, text)
    return read_back


def column_comments(text: str) -> Mapping[str, str]:
    """The comments above the columns of a schema file: what a draft says about each column."""
    return _comments(text)[1]


def _comments(text: str) -> tuple[str, dict[str, str]]:
    """The comment at the top of a schema file, and those above its columns."""
    lines = text.splitlines()
    first = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    heading = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[:first])
    found: dict[str, str] = {}
    above: list[str] = []
    for line in lines[first:]:
        if line.startswith("  #"):
            above.append(line[3:].strip())
            continue
        column = COLUMN.fullmatch(line)
        if column is not None and above:
            found[column["name"].strip("'\"")] = " ".join(above)
        above = []
    return heading, found
