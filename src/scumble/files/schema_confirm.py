"""Confirms domains of a schema file: replaces `unconfirmed: true` by the reason why the domain is public.

Only the entry itself changes: the position of each entry is taken from the YAML parser, so that comments, order and
spelling of the rest of the file stay as they are. The edited text is read back, and written only if it is the same
schema with the domains confirmed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node

from scumble.errors import InputError
from scumble.files.replaced_file import replace_file
from scumble.files.schema_attribute import REASON
from scumble.files.schema_file import parse_schema, read_schema_text
from scumble.model.schema import Schema

REASON_KEYS = (REASON, "public_because")


class _Edit(NamedTuple):
    """A piece of the text, from one position to another, and what takes its place."""

    start: int
    end: int
    text: str


def confirm_domains(path: Path, reasons: Mapping[str, str]) -> Schema:
    """Confirm the domains of attributes, each with the reason why it is public. The file is replaced atomically.

    Raises `InputError` if an attribute is unknown or not marked `unconfirmed`, or if a reason is empty.
    """
    text = read_schema_text(path)
    confirmed = confirmed_text(text, reasons, folder=path.parent, name=str(path))
    replace_file(path, confirmed)
    return parse_schema(confirmed, folder=path.parent, name=str(path))


def confirmed_text(text: str, reasons: Mapping[str, str], *, folder: Path | None = None, name: str) -> str:
    """The text of a schema file with the domains of some attributes confirmed."""
    schema = parse_schema(text, folder=folder, name=name)
    check_unconfirmed(schema, reasons)
    for attribute, reason in reasons.items():
        if not reason.strip() or not reason.isprintable():
            raise InputError(
                f"{attribute!r}: a domain copied from the rows is not public. State in one line why this one is, such "
                'as --because "code book of the census 2021".'
            )
    expected = replace(
        schema,
        attributes=tuple(
            replace(each, unconfirmed=False, public_because=reasons[each.name]) if each.name in reasons else each
            for each in schema.attributes
        ),
    )
    edits = {edit for attribute, reason in reasons.items() for edit in _edits(text, attribute, reason)}
    edited = text
    for edit in sorted(edits, reverse=True):
        edited = edited[: edit.start] + edit.text + edited[edit.end :]
    if not _is(edited, expected, folder):
        raise InputError(
            f"{name}: the entries of {', '.join(reasons)} cannot be edited on their own. In the file, replace "
            f'`unconfirmed: true` by `{REASON}: "..."`.'
        )
    return edited


def check_unconfirmed(schema: Schema, names: Iterable[str]) -> None:
    """Refuse attributes whose domain needs no confirmation."""
    for name in names:
        if not schema[name].unconfirmed:
            raise InputError(
                f"{name!r} is not marked `unconfirmed`. To state or change its reason, edit `{REASON}:` in the schema."
            )


def _is(text: str, expected: Schema, folder: Path | None) -> bool:
    with suppress(InputError):
        return parse_schema(text, folder=folder) == expected
    return False


def _edits(text: str, attribute: str, reason: str) -> Iterator[_Edit]:
    entry = _value(_value(_composed(text), "attributes"), attribute)
    if entry is None:
        return
    quoted = json.dumps(reason, ensure_ascii=False)
    for key, value in entry.value:
        if key.value in REASON_KEYS:
            yield _Edit(value.start_mark.index, value.end_mark.index, quoted)
        elif key.value == "unconfirmed":
            stated = any(other.value in REASON_KEYS for other, _ in entry.value)
            yield _Edit(
                key.start_mark.index,
                value.end_mark.index,
                "unconfirmed: false" if stated else f"{REASON}: {quoted}",
            )


def _composed(text: str) -> Node | None:
    yaml = YAML()
    yaml.composer.warn_double_anchors = False
    return yaml.compose(text)


def _value(node: Node | None, name: str) -> MappingNode | None:
    if not isinstance(node, MappingNode):
        return None
    found = next((value for key, value in node.value if key.value == name), None)
    return found if isinstance(found, MappingNode) else None
