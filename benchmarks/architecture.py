"""Draws docs/architecture.svg: the rooms of the package by level of their imports.

    python benchmarks/architecture.py          write the picture
    python benchmarks/architecture.py FILE     write it elsewhere

A room is a folder or a module directly below the package. It stands one level below the lowest room that imports it. An
arrow points from a room to one that it imports; it is left out where a longer chain of arrows says the same. The small
text in a box is the complete list of its imports.

The layout is Sugiyama's: levels, a narrow lane in every level that a long arrow crosses, and a few sweeps that put
everything near the mean place of its neighbours.
"""

import ast
import sys
from collections.abc import Mapping
from html import escape
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

from scumble.picture_style import PAPER, SOFT

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "scumble"
PICTURE = ROOT / "docs" / "architecture.svg"
ENTRIES = {"__init__": "scumble (Python)", "cli": "cli (command line)"}
LEFT_OUT = {"__main__"}
"""Three lines that call `cli`."""

WIDTH, MARGIN, GAP, WIDEST, LANE = 1180, 20, 14, 430, 8
LINE, PADDING, BETWEEN = 13, 8, 40
SWEEPS = 6
CHARACTER = 5.3
"""About the width of a character of the small text."""

Imports = Mapping[str, frozenset[str]]
Box = tuple[float, float, float, float]
"""Left, top, width and height."""


def room_imports(package: Path) -> Imports:
    """For every room, the other rooms that one of its modules imports, wherever in the module that is."""
    modules = {path.relative_to(package).parts: path for path in package.rglob("*.py")}
    rooms = {Path(parts[0]).stem for parts in modules}
    found: dict[str, set[str]] = {room: set() for room in rooms - LEFT_OUT}
    for parts, path in modules.items():
        here = Path(parts[0]).stem
        if here in found:
            names = imported_names(ast.parse(path.read_text("utf-8")), package.name)
            found[here] |= {name if name in rooms else "__init__" for name in names} - {here}
    return {room: frozenset(found[room]) for room in sorted(found)}


def imported_names(tree: ast.AST, package: str) -> set[str]:
    """What follows the package's name in imports: `model` of `from scumble.model.cut import Cut`."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [each.name for each in names]
            case ast.ImportFrom(module=str(module), names=names):
                modules = [f"{module}.{each.name}" for each in names]
            case _:
                continue
        parts = [module.split(".") for module in modules]
        found |= {(*part, "__init__")[1] for part in parts if part[0] == package}
    return found


def levels(imports: Imports) -> dict[str, int]:
    """How far below the top a room stands: one level below the lowest of the rooms that import it."""
    importers = {room: {other for other in imports if room in imports[other]} for room in imports}
    found: dict[str, int] = {}
    while len(found) < len(imports):
        ready = [room for room in imports if room not in found and importers[room] <= found.keys()]
        if not ready:
            raise ValueError(f"rooms import each other in a circle: {sorted(imports.keys() - found.keys())}")
        found |= {room: max((found[each] + 1 for each in importers[room]), default=0) for room in ready}
    return found


def arrows(imports: Imports) -> list[tuple[str, str]]:
    """The imports that no longer chain of imports implies."""

    def reached(room: str) -> set[str]:
        return set(imports[room]).union(*(reached(each) for each in imports[room]))

    below = {room: reached(room) for room in imports}
    return [
        (room, each)
        for room in imports
        for each in sorted(imports[room])
        if not any(each in below[other] for other in imports[room])
    ]


def picture(imports: Imports) -> str:
    """The drawing as the text of an SVG file."""
    rows, chains = _layout(imports)
    boxes: dict[str, Box] = {}
    parts: list[str] = []
    top = float(MARGIN)
    for row in rows:
        rooms = [item for item in row if item in imports]
        lanes = len(row) - len(rooms)
        width = min((WIDTH - 2 * MARGIN - GAP * (len(row) - 1) - LANE * lanes) / len(rooms), WIDEST)
        texts = {room: wrap(_sentence(imports[room]), int((width - 2 * PADDING) / CHARACTER)) for room in rooms}
        height = 2 * PADDING + 18 + LINE * max(len(lines) for lines in texts.values())
        left = (WIDTH - len(rooms) * width - LANE * lanes - GAP * (len(row) - 1)) / 2
        for item in row:
            boxes[item] = (left, top, width if item in imports else LANE, height)
            left += boxes[item][2] + GAP
        parts += [_box(ENTRIES.get(room, room), texts[room], boxes[room]) for room in rooms]
        top += height + BETWEEN
    lines = [_arrow([boxes[item] for item in chain]) for chain in chains]
    return "\n".join(
        [HEAD.format(paper=PAPER, soft=SOFT, width=WIDTH, height=top - BETWEEN + MARGIN), *lines, *parts, "</svg>", ""]
    )


def _layout(imports: Imports) -> tuple[list[list[str]], list[list[str]]]:
    """The rooms and lanes of every level, from the top and from left to right; and each arrow as a chain of them."""
    level = levels(imports)
    rows = [[room for room in imports if level[room] == each] for each in range(max(level.values()) + 1)]
    chains = []
    for room, each in arrows(imports):
        lanes = {place: f"{room} > {each} at {place}" for place in range(level[room] + 1, level[each])}
        for place, lane in lanes.items():
            rows[place].append(lane)
        chains.append([room, *lanes.values(), each])
    pairs = [pair for chain in chains for pair in pairwise(chain)]
    for _ in range(SWEEPS):
        for above, row in pairwise(rows):
            _sort(row, above, [(low, high) for high, low in pairs])
        for row, below in pairwise(reversed(rows)):
            _sort(below, row, pairs)
    return rows, chains


def _sort(row: list[str], beside: list[str], pairs: list[tuple[str, str]]) -> None:
    """Put every item of a row near the mean place of those beside it that it is joined to."""
    place = {item: (number + 1) / (len(beside) + 1) for number, item in enumerate(beside)}
    own = {item: (number + 1) / (len(row) + 1) for number, item in enumerate(row)}

    def wanted(item: str) -> float:
        joined = [place[other] for each, other in pairs if each == item and other in place]
        return round(sum(joined) / len(joined), 6) if joined else own[item]

    row.sort(key=lambda item: (wanted(item), item))


def _sentence(rooms: frozenset[str]) -> str:
    names = sorted("scumble" if room == "__init__" else room for room in rooms)
    return f"imports {', '.join(names)}" if names else "imports no other room"


HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" font-family="sans-serif">
<title>The rooms of scumble and their imports; each room imports only rooms below it</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0 L8 4 L0 8 z" fill="{soft}"/></marker></defs>
<rect width="{width}" height="{height:.0f}" fill="{paper}"/>"""
TITLE = '<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="15" font-weight="bold">{text}</text>'
SMALL = '<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="10.5" fill="' + SOFT + '">{text}</text>'
FRAME = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="6" fill="white" stroke="' + SOFT + '"/>'


def _box(title: str, lines: list[str], box: Box) -> str:
    x, y, width, _ = box
    middle = x + width / 2
    texts = [TITLE.format(x=middle, y=y + PADDING + 14, text=escape(title))]
    for number, line in enumerate(lines, start=1):
        texts.append(SMALL.format(x=middle, y=y + PADDING + 16 + LINE * number, text=escape(line)))
    return "\n".join([FRAME.format(*box), *texts])


def _arrow(chain: list[Box]) -> str:
    """A curve from the first box down to the last, straight through the lanes between them."""
    x, y, width, height = chain[0]
    at, down = x + width / 2, y + height
    path = f"M{at:.1f} {down:.1f}"
    for x, y, width, height in chain[1:]:
        middle, bend = x + width / 2, (y - down) / 2
        path += f" C{at:.1f} {down + bend:.1f} {middle:.1f} {y - bend:.1f} {middle:.1f} {y - 1:.1f}"
        if (x, y, width, height) != chain[-1]:
            path += f" V{y + height:.1f}"
        at, down = middle, y + height
    return f'<path d="{path}" fill="none" stroke="{SOFT}" stroke-width="1.2" marker-end="url(#head)"/>'


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    target.write_text(picture(room_imports(PACKAGE)), encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main()
