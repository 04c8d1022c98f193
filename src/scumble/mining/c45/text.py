"""A C4.5 tree as text, in the notation of Quinlan's program."""

from collections.abc import Sequence
from typing import Any

from scumble.mining.c45.tree import C45Node, C45Tree


def tree_text(
    tree: C45Tree,
    *,
    features: Sequence[str],
    classes: Sequence[Any],
    categories: Sequence[Sequence[str] | None] | None = None,
) -> str:
    """One line for each branch; a leaf has its class, its cases and, after a slash, those of other classes.

    `categories` has for each feature the names of its categories by value; without them the values are shown.
    """
    if not tree.root.branches:
        return _leaf(tree.root, tree.root, classes)
    lines = []
    stack = [(tree.root, branch, 0) for branch in reversed(range(len(tree.root.branches)))]
    while stack:
        node, place, depth = stack.pop()
        branch = node.branches[place]
        test = f"{'|   ' * depth}{features[node.feature]} {_condition(tree, node, place, categories)}"
        lines.append(f"{test}:" if branch.branches else f"{test}: {_leaf(branch, node, classes)}")
        stack.extend((branch, below, depth + 1) for below in reversed(range(len(branch.branches))))
    return "\n".join(lines)


def _condition(tree: C45Tree, node: C45Node, place: int, categories: Sequence[Sequence[str] | None] | None) -> str:
    values = tree.values[node.feature]
    if not tree.categorical[node.feature]:
        return f"{'<=' if place == 0 else '>'} {values[node.cut]:g}"
    names = None if categories is None else categories[node.feature]
    return f"= {values[place]:g}" if names is None else f"= {names[int(values[place])]}"


def _leaf(node: C45Node, parent: C45Node, classes: Sequence[Any]) -> str:
    counts = node.counts if node.size > 0 else parent.counts
    best = int(counts.argmax())
    wrong = node.size - float(node.counts[best])
    return f"{classes[best]} ({node.size:.1f}{f'/{wrong:.1f}' if wrong > 0.05 else ''})"
