"""Bounds on the number of cells, from the schema alone."""

from fractions import Fraction
from math import prod

from scumble.errors import InputError
from scumble.model.cut import Cut
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node


def descend(cut: Cut) -> Cut:
    """Replace every value of the cut that has a single child by that child, which contains the same records."""
    return Cut(
        schema=cut.schema, nodes={name: tuple(_only_child(node) for node in nodes) for name, nodes in cut.nodes.items()}
    )


def _only_child(node: Node) -> Node:
    while len(node.children) == 1:
        node = node.children[0]
    return node


def most_cells(schema: Schema, rounds: int, max_cells: int) -> int:
    """An upper bound on the number of cells after some rounds, at most `max_cells`."""
    if max_cells < 2:
        raise InputError(f"max_cells is {max_cells}, which allows no specialization. Set it to 2 or more.")
    sizes = {attribute.name: attribute.domain.size for attribute in schema.predictors}
    widths = {attribute.name: _width(attribute.domain.root) for attribute in schema.predictors}
    values = dict.fromkeys(sizes, 1)

    def grown(name: str) -> int:
        return min(values[name] + widths[name] - 1, sizes[name])

    for _ in range(rounds):
        # The growth factor of an attribute falls with each step, so taking the largest gives the largest product.
        best = max(values, key=lambda name: Fraction(grown(name), values[name]))
        values[best] = grown(best)
        if prod(values.values()) >= max_cells:
            return max_cells
    return prod(values.values())


def _width(node: Node) -> int:
    """The largest number of children of any node; two for an interval."""
    if not node.children:
        return 2 if node.high - node.low > 1 else 1
    return max(len(node.children), *(_width(child) for child in node.children))


def leaf_cells(schema: Schema, max_cells: int) -> int:
    sizes = {attribute.name: attribute.domain.size for attribute in schema.predictors}
    cells = prod(sizes.values())
    if cells > max_cells:
        largest = max(sizes, key=lambda name: sizes[name])
        raise InputError(
            f"The full table has {cells:,} cells, more than max_cells = {max_cells:,}. Raise --max-cells, remove "
            f"--leaves, or coarsen the schema: the largest attribute is {largest!r} with {sizes[largest]:,} values."
        )
    return cells
