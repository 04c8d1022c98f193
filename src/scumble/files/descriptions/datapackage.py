"""A Frictionless data package (version 1 of the specification): one resource for each table, with its schema."""

import json
from collections.abc import Sequence
from typing import Any

from scumble.files.descriptions.tables import DescribedTable
from scumble.files.kinds.kind import INTEGER, NUMBER, TEXT, TableColumn
from scumble.model.release import Release

TYPES = {TEXT: "string", NUMBER: "number", INTEGER: "integer"}


def datapackage(release: Release, tables: Sequence[DescribedTable]) -> str:
    """The text of datapackage.json."""
    package = {
        "profile": "tabular-data-package",
        "name": "scumble-release",
        "title": "A table with a privacy guarantee",
        "description": release.plan.guarantee.sentence,
        "resources": [_resource(table) for table in tables],
    }
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def _resource(table: DescribedTable) -> dict[str, Any]:
    return {
        "profile": "tabular-data-resource",
        "name": table.name,
        "path": table.file,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "hash": f"sha256:{table.sha256}",
        "description": table.meaning,
        "schema": {"fields": [_field(column) for column in table.columns], "missingValues": [""]},
    }


def _field(column: TableColumn) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name, "type": TYPES[column.type], "description": column.meaning}
    if column.labels is not None:
        field["constraints"] = {"enum": list(column.labels)}
    return field
