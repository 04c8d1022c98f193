"""A trained tree as text, and as an SVG drawing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill, wrap

import numpy as np

from scumble.installation import needing
from scumble.mining.tree_model import LEAF, TreeModel
from scumble.picture_style import PAPER, SETTINGS, SOFT

DEEPEST = 4
"""How many levels of tests are drawn."""
LINE_WIDTH, MOST_LINES = 26, 3
"""Characters of a line, and lines, of a test in the drawing."""
LEVEL_WIDTH, ROW_HEIGHT = 2.3, 0.55
"""Inches between the levels, and between two boxes at the end of branches."""
CHARACTERS, LINE_HEIGHT, TITLE_SIZE = 11, 0.2, 10
"""Of the words above the tree: characters for each inch, inches of a line, points of the title."""
COLOURS = ("#BBDDF0", "#F9D5BC", "#BFE3D6", "#EFD6E3", "#F8E3B0", "#D6ECF8", "#D9D9D9", "#E0D5BE")
"""The palette of `charts`, lightened so that black text on it is readable."""

PossibleValues = Mapping[int, tuple[int, int]]
"""The categories that the tests above a node have left, by feature: a range of indices."""


@dataclass(frozen=True, kw_only=True)
class NodeTests:
    """The two tests of a node: what goes left (`yes`) and what goes right (`no`)."""

    yes: str
    no: str
    paths: tuple[PossibleValues, PossibleValues]
    """The categories left on each side."""


def branches(model: TreeModel, node: int, path: PossibleValues) -> NodeTests:
    """The tests of a node. A set of categories contains only those that the tests above have left."""
    place = int(model.feature[node])
    feature, threshold = model.features[place], float(model.threshold[node])
    if feature.values is None:
        below, above = f"{feature.name} < {threshold:g}", f"{feature.name} >= {threshold:g}"
        return NodeTests(yes=below, no=above, paths=(path, path))
    first, last = path.get(place, (0, len(feature.values)))
    cut = min(max(int(np.ceil(threshold)), first), last)
    low, high = feature.values[first:cut], feature.values[cut:last]
    return NodeTests(
        yes=_in_set(feature.name, low, high),
        no=_in_set(feature.name, high, low),
        paths=({**path, place: (first, cut)}, {**path, place: (cut, last)}),
    )


def _in_set(name: str, inside: tuple[str, ...], outside: tuple[str, ...]) -> str:
    """Whichever set is shorter is written."""
    if len(outside) < len(inside) and outside:
        return f"{name} not in {{{', '.join(outside)}}}"
    return f"{name} in {{{', '.join(inside)}}}"


def tree_text(model: TreeModel) -> str:
    """The tree as indented lines, one per test and leaf."""
    lines: list[str] = []
    stack: list[tuple[int, str, int, PossibleValues]] = [(0, "", 0, {})]
    while stack:
        node, test, depth, path = stack.pop()
        indent = "|   " * max(depth - 1, 0) + ("|-- " if depth else "")
        if model.feature[node] == LEAF:
            lines.append(f"{indent}{test}{': ' if test else ''}{_decision(model, node)}")
            continue
        if test:
            lines.append(f"{indent}{test}")
        found = branches(model, node, path)
        stack.append((int(model.right[node]), found.no, depth + 1, found.paths[1]))
        stack.append((int(model.left[node]), found.yes, depth + 1, found.paths[0]))
    return "\n".join(lines)


def _decision(model: TreeModel, node: int) -> str:
    return f"{model.classes[int(model.shares[node].argmax())]} ({model.shares[node].max():.0%})"


@dataclass(frozen=True, kw_only=True)
class DrawnNode:
    """One box of the drawing. Boxes at the end of branches are one row apart; each test is centred beside its two."""

    node: int
    row: float
    level: int
    text: str
    children: tuple["DrawnNode", ...] = ()
    """What follows if the test is true, and if it is not; empty at a leaf and where the drawing ends."""
    below: int = 0
    """The number of leaves that are not drawn below this box."""


def layout(model: TreeModel, deepest: int = DEEPEST) -> DrawnNode:
    """The boxes of the upper levels."""
    rows = 0

    def place(node: int, level: int, path: PossibleValues) -> DrawnNode:
        nonlocal rows
        text = _decision(model, node)
        if model.feature[node] != LEAF and level < deepest:
            found = branches(model, node, path)
            sides = zip((int(model.left[node]), int(model.right[node])), found.paths, strict=True)
            children = tuple(place(child, level + 1, left) for child, left in sides)
            row = sum(child.row for child in children) / 2
            return DrawnNode(node=node, row=row, level=level, text=_wrapped(found.yes), children=children)
        below = _leaves_below(model, node) if model.feature[node] != LEAF else 0
        if below:
            text = f"{text}\n… {below} leaves below"
        rows += 1
        return DrawnNode(node=node, row=rows - 1, level=level, text=text, below=below)

    return place(0, 0, {})


def _wrapped(test: str) -> str:
    """A test in a few lines."""
    lines = wrap(f"{test}?", LINE_WIDTH, break_long_words=True)
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "… ?"])


def _leaves_below(model: TreeModel, node: int) -> int:
    leaves, stack = 0, [node]
    while stack:
        here = stack.pop()
        if model.feature[here] == LEAF:
            leaves += 1
        else:
            stack += [int(model.left[here]), int(model.right[here])]
    return leaves


def draw_tree(model: TreeModel, path: Path, *, deepest: int = DEEPEST) -> None:
    """Draw the upper levels as SVG, from left to right: tests in white boxes, leaves in the colour of their class.

    A dashed box stands for a part that is not drawn; it names the majority class there and the number of leaves.
    """
    with needing("charts"):
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

    root = layout(model, deepest)
    boxes = _all(root)
    levels, rows = max(box.level for box in boxes) + 1, int(max(box.row for box in boxes)) + 1
    with mpl.rc_context(SETTINGS):
        words = [
            fill(line, int(CHARACTERS * LEVEL_WIDTH * levels)) for line in (tree_title(model), tree_caption(boxes))
        ]
        above = 1 + sum(text.count("\n") + 1 for text in words)
        figure = Figure(figsize=(LEVEL_WIDTH * levels, ROW_HEIGHT * (rows + 1) + LINE_HEIGHT * above))
        FigureCanvasSVG(figure)
        height = figure.get_figheight()
        axes = figure.add_axes((0, 0, 1, 1 - LINE_HEIGHT * above / height))
        axes.set_axis_off()
        axes.set_xlim(-0.5, levels - 0.5)
        axes.set_ylim(-rows, 1)
        place = 1 - LINE_HEIGHT / 2 / height
        title = figure.text(0.5, place, words[0], ha="center", va="top", fontweight="bold", parse_math=False)
        title.set_fontsize(TITLE_SIZE)
        place -= LINE_HEIGHT * (words[0].count("\n") + 1) / height
        figure.text(0.5, place, words[1], ha="center", va="top", fontsize=7.5, color=SOFT, parse_math=False)
        for box in boxes:
            for child, answer in zip(box.children, ("yes", "no"), strict=False):
                axes.plot([box.level, child.level], [-box.row, -child.row], color=SOFT, linewidth=0.8, zorder=1)
                x, y = box.level + 0.54, -box.row + 0.54 * (box.row - child.row)
                label = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
                axes.text(x, y, answer, ha="center", va="center", fontsize=7, color=SOFT, bbox=label, zorder=2)
            winner = int(model.shares[box.node].argmax())
            style = {
                "boxstyle": "round",
                "facecolor": "white" if box.children else COLOURS[winner % len(COLOURS)],
                "edgecolor": SOFT,
                "linestyle": "--" if box.below else "-",
            }
            axes.text(
                box.level,
                -box.row,
                box.text,
                ha="center",
                va="center",
                fontsize=7.5,
                bbox=style,
                zorder=3,
                parse_math=False,
            )
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": "scumble"})


def tree_title(model: TreeModel) -> str:
    """What the tree predicts, and how large it is."""
    leaves = _leaves_below(model, 0)
    purpose = f" that predicts {model.target}" if model.target else ""
    return f"A tree{purpose}: {leaves:,} {'leaf' if leaves == 1 else 'leaves'}"


def tree_caption(boxes: Sequence[DrawnNode]) -> str:
    """How to read what is drawn."""
    dashed = " A dashed box stands for leaves that are not drawn." if any(box.below for box in boxes) else ""
    return f"From left to right; the colour of a box is that of its class.{dashed}"


def _all(box: DrawnNode) -> list[DrawnNode]:
    return [box, *(below for child in box.children for below in _all(child))]
