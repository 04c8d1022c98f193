"""The roles of the columns of a table, and who is one unit of privacy: stated for a schema file or for a draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.files.schema_file import schema_data, schema_from
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema


@dataclass(frozen=True, kw_only=True)
class ColumnRoles:
    """Which column is the class, which are never published, which one identifies persons, and who is one unit.

    `rows` is the exact number of rows, which is public under `Unit.REPLACE` and only there. A `unit` that is None stays
    as it is in the schema, with its number of rows.
    """

    target: str | None = None
    identifiers: Sequence[str] = ()
    person: str | None = None
    rows_each_at_most: int | None = None
    rows_at_most: int | None = None
    unit: Unit | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.rows is not None and self.unit is not Unit.REPLACE:
            raise InputError(
                "The exact number of rows is private unless the unit is `replace`. State the unit `replace`, or leave "
                "the number out."
            )

    @property
    def unpublished(self) -> tuple[str, ...]:
        """The columns that have no domain: identifiers, and the column of persons."""
        return (*dict.fromkeys([*self.identifiers, *([self.person] if self.person else [])]),)


def with_roles(schema: Schema, roles: ColumnRoles, *, folder: Path | None = None, name: str = "the schema") -> Schema:
    """A schema with other roles. Domains of columns that are not published any more are removed.

    A column that is no longer an identifier needs a domain: `set_domain` gives it one.
    """
    data = schema_data(schema)
    stated: dict[str, Any] = {
        "target": roles.target,
        "person": roles.person,
        "rows_each_at_most": roles.rows_each_at_most if roles.person else None,
        "rows_at_most": roles.rows_at_most,
    }
    if roles.unit is not None:
        stated |= {"unit": roles.unit.value, "rows": roles.rows}
    data = {key: value for key, value in data.items() if key not in stated}
    data |= {key: value for key, value in stated.items() if value is not None}
    described = {each: entry for each, entry in data.pop("attributes").items() if entry != {"identifier": True}}
    kept = {each: entry for each, entry in described.items() if each not in roles.unpublished}
    if roles.target is not None and roles.target not in kept:
        raise InputError(
            f"The class {roles.target!r} has no domain. Describe its domain first, or choose another column."
        )
    identifiers = [each for each in dict.fromkeys(roles.identifiers) if each != roles.person]
    data["attributes"] = {**kept, **{each: {"identifier": True} for each in identifiers}}
    return schema_from(_as_text(data), folder=folder, name=name)


def _as_text(data: Any) -> Any:
    """Plain data with every scalar as text, as a schema file is read."""
    if isinstance(data, Mapping):
        return {str(key): _as_text(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_as_text(value) for value in data]
    return data if data is None or isinstance(data, bool) else str(data)
