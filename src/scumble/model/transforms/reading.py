"""Transforms read from documents of a release, which may come from anyone."""

from collections.abc import Mapping
from typing import Any

from scumble.model.transforms.hierarchy import Hierarchy
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.model.transforms.transform import Identity, Transform
from scumble.model.transforms.walsh import Walsh
from scumble.model.transforms.wavelets import Haar, Nominal


def read_transform(data: Mapping[str, Any], values: int) -> Transform:
    """The transform of so many values that `Transform.to_json` describes. Raises `ValueError` if it is none."""
    kind = data["kind"]
    if kind in (Hierarchy.kind, Nominal.kind):
        tree = IntervalTree(children=tuple(data["children"]))
        found: Transform = Hierarchy(tree=tree) if kind == Hierarchy.kind else Nominal(tree=tree, scale=data["scale"])
        if found.values != values:
            raise ValueError(f"a transform of {found.values} values is stated for {values}")
        return found
    for each in (Identity, Haar, Walsh):
        if kind == each.kind:
            return each(size=values)
    raise ValueError(f"{kind!r} is not a transform")
