"""Pictures of domains: the cells of a grid as a strip, a taxonomy as a tree, a published cut in either."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from scumble.files.report.attributes import label_of
from scumble.files.report.svg import box, drawing
from scumble.model.display import plural
from scumble.model.grid import Grid
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Node, Tree

MOST_CELLS = 120
"""Cells that are drawn one by one; more are drawn as so many bands."""
MOST_NODES = 400
"""Nodes that are drawn; a larger tree is cut off, and the picture says so."""
STRIP = 18


class Branch(NamedTuple):
    """A node of a drawn tree."""

    label: str
    leaves: int
    published: bool
    """Whether the node is in the published cut."""
    hidden: int
    """How many nodes below it are not drawn."""
    children: Sequence["Branch"]


def domain_picture(attribute: Attribute) -> Markup:
    """A small picture of a domain: its cells, or its leaves by top-level branch."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        return grid_picture(domain)
    if domain.splits_anywhere or not domain.root.children:
        return _strip(f"{plural(domain.size, 'value')} in order", [1.0] * min(domain.size, MOST_CELLS))
    parts = [(child.label, child.high - child.low) for child in domain.root.children]
    words = ", ".join(f"{label} ({leaves})" if leaves > 1 else label for label, leaves in parts[:12])
    return _strip(words, [float(leaves) for _, leaves in parts[:MOST_CELLS]])


def grid_picture(grid: Grid) -> Markup:
    """The cells of a grid, each as wide as its interval."""
    cells = grid.cells
    if cells > MOST_CELLS:
        widths = [1.0] * MOST_CELLS
        words = f"{cells:,} cells from {grid.edge(0)} to {grid.edge(cells)}, drawn as {MOST_CELLS} bands"
    else:
        edges = [float(grid.edge(place)) for place in range(cells + 1)]
        widths = [high - low for low, high in pairwise(edges)]
        words = f"{plural(cells, 'cell')} from {grid.edge(0)} to {grid.edge(cells)}"
    return _strip(words, widths)


def _strip(words: str, widths: Sequence[float]) -> Markup:
    whole = sum(widths) or 1.0
    shapes, left = [], 0.0
    for place, width in enumerate(widths):
        share = width / whole
        shapes.append(box(f"t{1 + place % 2}", left, share * 0.985, height=STRIP))
        left += share
    return drawing(words, *shapes)


def tree_picture(tree: Tree) -> Branch:
    """A taxonomy as nested branches. A published tree shows its cut inside the taxonomy of the public schema."""
    cut = {leaf.label for leaf in tree.root.leaves()} if tree.origin is not None else set()
    left = MOST_NODES

    def drawn(node: Node) -> Branch:
        nonlocal left
        left -= 1
        children = [drawn(child) for child in node.children if left > 0]
        hidden = sum(1 for _ in node.walk()) - 1 if len(children) < len(node.children) else 0
        return Branch(node.label, node.high - node.low, node.label in cut, hidden, children)

    return drawn(tree.finest.root)


class PublishedValue(NamedTuple):
    """A published value and the share of the domain that it covers."""

    label: str
    left: float
    width: float


def published_intervals(attribute: Attribute) -> list[PublishedValue]:
    """The published intervals of a grid, each with its place in the whole range."""
    domain = attribute.domain
    assert isinstance(domain, Grid)
    edges = [float(domain.edge(place)) for place in range(domain.cells + 1)]
    whole = edges[-1] - edges[0]
    return [
        PublishedValue(label_of(attribute, cell), (low - edges[0]) / whole, (high - low) / whole)
        for cell, (low, high) in enumerate(pairwise(edges))
    ]


def interval_picture(attribute: Attribute) -> Markup:
    """The published intervals as a strip."""
    values = published_intervals(attribute)
    if len(values) > MOST_CELLS:
        assert isinstance(attribute.domain, Grid)
        return grid_picture(attribute.domain)
    words = ", ".join(value.label for value in values[:40])
    shapes = [box(f"t{place % 3}", value.left, value.width * 0.985, height=STRIP) for place, value in enumerate(values)]
    return drawing(words, *shapes)
