"""A trained tree as text, and as an SVG drawing."""

from pathlib import Path

import numpy as np

from scumble.mining.tree_model import LEAF, TreeModel


def tree_text(model: TreeModel) -> str:
    """The tree as indented lines, one per test and leaf."""
    lines: list[str] = []
    stack: list[tuple[int, str, int]] = [(0, "", 0)]
    while stack:
        node, test, depth = stack.pop()
        place = int(model.feature[node])
        indent = "|   " * max(depth - 1, 0) + ("|-- " if depth else "")
        if place == LEAF:
            winner = int(model.shares[node].argmax())
            lines.append(
                f"{indent}{test}{': ' if test else ''}{model.classes[winner]} ({model.shares[node].max():.0%})"
            )
            continue
        if test:
            lines.append(f"{indent}{test}")
        below, above = _tests(model, node)
        stack.append((int(model.right[node]), above, depth + 1))
        stack.append((int(model.left[node]), below, depth + 1))
    return "\n".join(lines)


def _tests(model: TreeModel, node: int) -> tuple[str, str]:
    feature, threshold = model.features[int(model.feature[node])], float(model.threshold[node])
    if feature.values is None:
        return f"{feature.name} < {threshold:g}", f"{feature.name} >= {threshold:g}"
    cut = int(np.ceil(threshold))
    return (
        f"{feature.name} in {{{', '.join(feature.values[:cut])}}}",
        f"{feature.name} in {{{', '.join(feature.values[cut:])}}}",
    )


def draw_tree(model: TreeModel, path: Path, *, deepest: int = 4) -> None:
    """Draw the upper levels as SVG: tests in boxes, leaves in the colour of their class."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    places = _places(model, deepest)
    width = max(x for x, _ in places.values()) + 1
    figure = Figure(figsize=(max(2.2 * width, 4), 1.3 * (deepest + 1)))
    FigureCanvasSVG(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    for node, (x, depth) in places.items():
        inner = model.feature[node] != LEAF
        for child in (int(model.left[node]), int(model.right[node])):
            if inner and child in places:
                axes.plot([x, places[child][0]], [-depth, -depth - 1], color="0.6", zorder=1)
        winner = int(model.shares[node].argmax())
        text = _tests(model, node)[0] if inner else f"{model.classes[winner]}\n{model.shares[node].max():.0%}"
        colour = "white" if inner else f"C{winner % 10}"
        box = {"boxstyle": "round", "facecolor": colour, "edgecolor": "0.4", "alpha": 0.9}
        axes.text(x, -depth, text, ha="center", va="center", fontsize=8, bbox=box, zorder=2)
    axes.set_xlim(-0.7, width - 0.3)
    axes.set_ylim(-deepest - 0.6, 0.6)
    figure.savefig(path, format="svg", metadata={"Date": None})


def _places(model: TreeModel, deepest: int) -> dict[int, tuple[float, int]]:
    """Coordinates of the nodes: leaves side by side, each test centred above its two branches."""
    places: dict[int, tuple[float, int]] = {}
    taken = 0.0

    def put(node: int, depth: int) -> float:
        nonlocal taken
        if model.feature[node] == LEAF or depth == deepest:
            x, taken = taken, taken + 1
        else:
            x = (put(int(model.left[node]), depth + 1) + put(int(model.right[node]), depth + 1)) / 2
        places[node] = (x, depth)
        return x

    put(0, 0)
    return places
