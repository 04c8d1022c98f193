"""The tree as plain data in the format tree/1, which `scumble mine predict` reads.

The format is binary: a value below the threshold goes left. A test with a branch for every category becomes a chain of
tests on the order of the categories, which sends every value to the same leaf.
"""

from collections.abc import Set
from typing import Any

from scumble.methods.diffp_c45.branching import Branching
from scumble.model.counts import Floats
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema

FORMAT = "tree/1"
LEAF = -1


def tree_document(schema: Schema, tree: Branching, kept: Set[int], shares: Floats) -> dict[str, Any]:
    """The pruned tree: tests at the nodes in `kept`, and the class shares of every node."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("feature", "threshold", "left", "right", "missing_left", "shares")
    }
    places = {attribute.name: place for place, attribute in enumerate(schema.predictors)}
    waiting: list[tuple[int, int, tuple[int, ...]]] = []

    def put(node: int, branches: tuple[int, ...]) -> int:
        """Add a node of the tree, or a part of its branches; returns its number."""
        number = len(columns["feature"])
        if len(branches) == 1:
            return put(branches[0], tuple(tree.branches(branches[0])) if branches[0] in kept else ())
        for name, value in (("feature", LEAF), ("threshold", 0.0), ("left", LEAF), ("right", LEAF)):
            columns[name].append(value)
        columns["missing_left"].append(False)
        columns["shares"].append([float(share) for share in shares[node]])
        if branches:
            waiting.append((number, node, branches))
        return number

    put(0, tuple(tree.branches(0)) if 0 in kept else ())
    while waiting:
        number, node, branches = waiting.pop(0)
        half = len(branches) // 2
        side = tree.side[node]
        attribute = schema.attributes[side]
        columns["feature"][number] = places[attribute.name]
        columns["threshold"][number] = _threshold(attribute, tree.boxes[branches[half]][side][0])
        columns["left"][number] = put(node, branches[:half])
        columns["right"][number] = put(node, branches[half:])
    return {
        "scumble": FORMAT,
        "features": [_feature(attribute) for attribute in schema.predictors],
        "target": schema.target,
        **({} if schema[str(schema.target)].column is None else {"target_column": schema[str(schema.target)].column}),
        "classes": list(schema.classes),
        "nodes": columns,
    }


def _threshold(attribute: Attribute, code: int) -> float:
    domain = attribute.domain
    return float(domain.edge_floats[min(code, domain.cells)]) if isinstance(domain, Grid) else float(code)


def _feature(attribute: Attribute) -> dict[str, Any]:
    values = {} if isinstance(attribute.domain, Grid) else {"values": list(attribute.domain.labels)}
    missing = {} if attribute.missing is None else {"missing": attribute.missing}
    column = {} if attribute.column is None else {"column": attribute.column}
    return {"name": attribute.name, **values, **missing, **column}
