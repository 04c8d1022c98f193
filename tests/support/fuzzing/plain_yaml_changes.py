"""Changes of YAML by its values, written as plain YAML, which scumble reads quickly.

ruamel.yaml takes most of the time of a reader of YAML. Most inputs are therefore written so that it is not needed, and
test what happens to the values; the others are changed as text.
"""

import json
from copy import deepcopy
from functools import lru_cache
from random import Random
from typing import Any

from fuzzing import mutation
from scumble.errors import InputError
from scumble.foreign.yaml_text import parse_yaml

PLAIN = 0.7
"""The share of inputs that are written as plain YAML."""


def plain_or_text(random: Random, data: bytes) -> bytes:
    """Change one to four values of a mapping in YAML and write it plainly; or change the text."""
    tree = _mapping(data) if random.random() < PLAIN else None
    if tree is None:
        return mutation.text(random, data)
    box = [deepcopy(tree)]
    for _ in range(random.choice((1, 1, 2, 4))):
        mutation.change_value(random, box)
    try:
        lines = _lines(box[0]) if isinstance(box[0], dict) else [_flow(box[0])]
    except (ValueError, OverflowError, RecursionError):  # a number of too many digits, or too many levels
        return data
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")[: mutation.LONGEST]


@lru_cache(maxsize=1000)
def _mapping(data: bytes) -> dict[str, Any] | None:
    try:
        tree = parse_yaml(data.decode("utf-8"), "the input")
    except (InputError, ValueError):
        return None
    return tree if isinstance(tree, dict) else None


def _lines(tree: dict[str, Any], indent: str = "") -> list[str]:
    found = []
    for key, value in tree.items():
        start = f"{indent}{_scalar(key)}:"
        if isinstance(value, dict) and value:
            found += [start, *_lines(value, f"{indent}  ")]
        elif isinstance(value, list) and value and not any(isinstance(each, dict | list) for each in value):
            found += [start, *(f"{indent}  - {_scalar(each)}" for each in value)]
        else:
            found.append(f"{start} {_flow(value) if isinstance(value, dict | list) else _scalar(value)}")
    return found


def _scalar(value: Any) -> str:
    """A text on one line, in quotes that need no escapes; numbers as they are."""
    if not isinstance(value, str):
        return json.dumps(value)
    return "'" + " ".join(value.replace("'", " ").split("\n")) + "'"


def _flow(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
