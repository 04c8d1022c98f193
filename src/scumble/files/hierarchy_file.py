"""Hierarchies in ARX's CSV format: one line per leaf, the leaf first, then its ancestors up to the root.

Lines are equally long there. A leaf higher up in our tree repeats its own name on the lower levels; reading takes such
repetitions for one node.
"""

import csv
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.model.taxonomy import Node, Tree


def read_hierarchy(path: Path) -> Tree:
    """Read a taxonomy from ARX's format, fields separated by semicolons (or by commas where there is no semicolon)."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"There is no hierarchy file {path}. Paths are relative to the schema file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The hierarchy file {path} cannot be read: {error}. Give a UTF-8 text file.") from error
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    nested: dict[str, Any] = {}
    parents: dict[str, str | None] = {}
    for number, line in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), start=1):
        names = [name for place, name in enumerate(line) if place == 0 or name != line[place - 1]]
        if not names:
            continue
        place = nested
        above: str | None = None
        for name in reversed(names):
            if parents.setdefault(name, above) != above:
                raise InputError(
                    f"{path}, line {number}: {name!r} stands below {above!r} here and below {parents[name]!r} before. "
                    "Each name has one place in the tree."
                )
            above = name
            place = place.setdefault(name, {})
        if place or sum(1 for _ in _walk(nested, names[0])) != 1:
            raise InputError(f"{path}, line {number}: {names[0]!r} is a leaf here and has children elsewhere.")
    if not nested:
        raise InputError(f"The hierarchy file {path} is empty. Write one line per leaf: leaf;parent;...;root.")
    return Tree.nested(nested)


def _walk(nested: dict[str, Any], name: str) -> Any:
    """Every place where a name stands."""
    for key, below in nested.items():
        if key == name:
            yield below
        yield from _walk(below, name)


def write_hierarchy(tree: Tree, path: Path) -> None:
    """Write a taxonomy in ARX's format."""
    lines: list[list[str]] = []

    def descend(node: Node, above: list[str]) -> None:
        if not node.children:
            lines.append([node.label, *above])
        for child in node.children:
            descend(child, [node.label, *above])

    descend(tree.root, [])
    height = max(len(line) for line in lines)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerows([line[0]] * (height - len(line)) + line for line in lines)
