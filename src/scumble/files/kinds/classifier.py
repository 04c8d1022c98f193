"""Releases of one trained classifier and no table: a decision tree in model.json, in the format tree/1."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scumble.errors import CheckError, MalformedEntry
from scumble.files.kinds.kind import ReleaseKind
from scumble.files.schema_file import schema_data
from scumble.foreign.documents import read_json
from scumble.model.release import ClassifierRelease
from scumble.model.schema import Schema
from scumble.sources.source import RowProgress

FILE = "model.json"
COLUMNS = ("feature", "threshold", "left", "right", "missing_left", "shares")


class ClassifierKind(ReleaseKind[ClassifierRelease]):
    """A decision tree. Its nodes are parallel lists, parents before their children."""

    name = "classifier"
    release_class = ClassifierRelease
    loader = "load_classifier"
    report_template = "classifier.html"
    readme_template = "classifier.md"

    def write(
        self, release: ClassifierRelease, folder: Path, *, table: bool, progress: RowProgress | None
    ) -> dict[str, Any]:
        """The schema is added if reading true rows needs its notations, such as dates."""
        notated = any(attribute.notation is not None for attribute in release.schema.attributes)
        model = {**release.model, **({"schema": schema_data(release.schema)} if notated else {})}
        text = json.dumps(model, ensure_ascii=False, allow_nan=False) + "\n"
        (folder / FILE).write_text(text, encoding="utf-8")
        return {"leaves": release.leaves}

    def read(self, folder: Path, manifest: Mapping[str, Any], common: Mapping[str, Any]) -> ClassifierRelease:
        document = read_json(folder / FILE)
        fault = _fault(document, common["schema"]) if isinstance(document, dict) else "is not a JSON object"
        if fault is not None:
            raise MalformedEntry(FILE, fault)
        model = {name: value for name, value in document.items() if name != "schema"}
        return ClassifierRelease(model=model, **common)

    def verify(self, folder: Path, manifest: Mapping[str, Any], release: ClassifierRelease) -> Iterator[str]:
        if manifest["leaves"] != release.leaves:
            raise CheckError(f"The leaves of {FILE} are not those of release.json. Do not trust this folder.")
        yield f"{FILE} is a tree with the stated {release.leaves:,} leaves, over the attributes of schema.yaml"

    def report_context(self, release: ClassifierRelease) -> dict[str, Any]:
        return {"lines": tree_lines(release.model), "leaves": release.leaves}

    def readme_context(self, release: ClassifierRelease, recommended: str) -> dict[str, Any]:
        return {"recommended": recommended, "leaves": release.leaves}

    def size(self, release: ClassifierRelease) -> dict[str, int]:
        return {"leaves": release.leaves}

    def recommended_file(self, release: ClassifierRelease, files: Any) -> str:
        return FILE

    def faults(self, release: ClassifierRelease) -> Iterator[str]:
        fault = _fault(release.model, release.schema)
        if fault is not None:
            yield f"a model (model.json) that {fault}"


def _fault(model: Mapping[str, Any], schema: Schema) -> str | None:
    """What is wrong with a tree, as the end of a sentence; None if it is a tree over the schema."""
    if [feature["name"] for feature in model["features"]] != [attribute.name for attribute in schema.predictors]:
        return "has other features than schema.yaml"
    if list(model["classes"]) != list(schema.classes) or model["target"] != schema.target:
        return "predicts another class than schema.yaml"
    nodes = model["nodes"]
    size = len(nodes["feature"])
    if not size or any(len(nodes[name]) != size for name in COLUMNS):
        return "has lists of nodes of different lengths"
    for node in range(size):
        feature, left, right = (nodes[name][node] for name in ("feature", "left", "right"))
        if not all(type(each) is int for each in (feature, left, right)) or feature >= len(model["features"]):
            return "has a node with an unknown feature"
        if feature >= 0 and not (node < left < size and node < right < size):
            return "has nodes that do not form a tree"
        shares = nodes["shares"][node]
        if len(shares) != len(schema.classes) or any(share < 0 for share in shares) or abs(sum(shares) - 1) > 1e-9:
            return "has a node whose class shares are not shares of one"
    return None


def tree_lines(model: Mapping[str, Any], *, most: int = 200) -> list[str]:
    """The tree as indented lines, one for each test and leaf; no more than `most`."""
    nodes = model["nodes"]
    lines: list[str] = []
    stack = [(0, "", 0)]
    while stack and len(lines) < most:
        node, test, depth = stack.pop()
        feature = nodes["feature"][node]
        shares = nodes["shares"][node]
        best = max(range(len(shares)), key=lambda place: shares[place])
        leaf = f"{': ' if test else ''}{model['classes'][best]} ({shares[best]:.0%})" if feature < 0 else ""
        lines.append(f"{'  ' * max(depth - 1, 0)}{test}{leaf}")
        if feature >= 0:
            below, above = _conditions(model["features"][feature], nodes["threshold"][node])
            stack += [(nodes["right"][node], above, depth + 1), (nodes["left"][node], below, depth + 1)]
    if stack:
        lines.append("... the rest is in model.json")
    return [line for line in lines if line]


def _conditions(feature: Mapping[str, Any], threshold: float) -> tuple[str, str]:
    name, values = feature["name"], feature.get("values")
    if values is None:
        return f"{name} < {threshold:g}", f"{name} >= {threshold:g}"
    cut = int(threshold)
    return f"{name} up to {values[cut - 1]}", f"{name} from {values[cut]}"


CLASSIFIER = ClassifierKind()
