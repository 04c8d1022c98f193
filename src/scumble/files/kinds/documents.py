"""Further documents of a release: plain data by name, each in its own JSON file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scumble.errors import MalformedEntry
from scumble.foreign.documents import read_json
from scumble.foreign.files import inside

DESCRIPTIONS = frozenset({"croissant.json", "datapackage.json"})
"""JSON files that describe the tables for other programs (`scumble.files.descriptions`); they are no documents."""


def write_documents(documents: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Write each document to NAME.json."""
    for name, document in documents.items():
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def read_documents(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Read the documents that release.json lists. Every other JSON file of the folder is a description."""
    written = (name for name in manifest["files"] if name.endswith(".json") and name not in DESCRIPTIONS)
    names = sorted(name.removesuffix(".json") for name in written)
    if manifest["documents"] != names:
        raise MalformedEntry("`documents`", "does not name the JSON files that `files` lists")
    found = {name: read_json(inside(folder, f"{name}.json")) for name in names}
    for name, document in found.items():
        if not isinstance(document, dict):
            raise MalformedEntry(f"the document {name!r}", "is not a JSON object")
    return found
