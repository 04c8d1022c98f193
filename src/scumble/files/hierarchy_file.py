"""Hierarchies in ARX's CSV format: one line per leaf, the leaf first, then its ancestors up to the root.

ARX requires lines of equal length. A leaf above the lowest level repeats its name on the levels below; when read, such
repetitions are one node.
"""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.foreign.files import read_text
from scumble.model.taxonomy import Node, Tree


def read_hierarchy(path: Path) -> Tree:
    """Read a taxonomy from ARX's format. Fields are separated by semicolons, or by commas if there is no semicolon."""
    try:
        text = read_text(path, encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"The hierarchy file {path} does not exist. Paths are relative to the schema file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The hierarchy file {path} cannot be read: {error}. Give a UTF-8 text file.") from error
    try:
        return Tree.nested(_nested(_lines(text)))
    except (InputError, csv.Error) as error:
        raise InputError(f"{path}: {error}") from error


def _lines(text: str) -> list[list[str]]:
    """The fields of every line. Semicolons separate them if the first line has one outside quotes."""
    semicolons, commas = (list(csv.reader(StringIO(text, newline=""), delimiter=each)) for each in ";,")
    return semicolons if semicolons and len(semicolons[0]) > 1 else commas


def _nested(lines: list[list[str]]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    parents: dict[str, str | None] = {}
    leaves: set[str] = set()
    for number, line in enumerate(lines, start=1):
        names = [name for place, name in enumerate(line) if place == 0 or name != line[place - 1]]
        if not names:
            continue
        place = nested
        above: str | None = None
        for name in reversed(names):
            if parents.setdefault(name, above) != above:
                raise InputError(
                    f"line {number}: {name!r} is {_position(above)} here and {_position(parents[name])} elsewhere. "
                    "Give each name one place in the tree."
                )
            if above in leaves:
                raise InputError(
                    f"line {number}: {above!r} has children here and is a leaf in an earlier line. Rename one."
                )
            above = name
            place = place.setdefault(name, {})
        if place:
            raise InputError(
                f"line {number}: {names[0]!r} is a leaf here and has children in an earlier line. Rename one."
            )
        if names[0] in leaves:
            raise InputError(f"line {number}: the leaf {names[0]!r} already has a line. Write one line per leaf.")
        leaves.add(names[0])
    if not nested:
        raise InputError("the file is empty. Write one line per leaf: leaf;parent;...;root.")
    return nested


def _position(parent: str | None) -> str:
    return "the root" if parent is None else f"below {parent!r}"


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
        # Fields with line breaks are quoted, and so is a single field, because its line shows no delimiter.
        writer = csv.writer(
            file, delimiter=";", lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL if height > 1 else csv.QUOTE_ALL
        )
        writer.writerows([line[0]] * (height - len(line)) + line for line in lines)
