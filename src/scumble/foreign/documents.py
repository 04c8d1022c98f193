"""JSON from elsewhere, bounded in size, depth and number of values."""

import json
import re
from pathlib import Path
from typing import Any

from scumble.foreign.files import LARGEST_DOCUMENT, read_bytes

DEEPEST = 200
MOST_VALUES = 20_000_000


class TooLargeDocument(ValueError):
    """A document that is nested too deeply or has too many values."""


def read_json(path: Path, *, follow_links: bool = False, finite: bool = True) -> Any:
    """The document in a JSON file. Raises `OSError` or `ValueError`."""
    return parse_json(read_bytes(path, follow_links=follow_links), finite=finite)


def parse_json(text: str | bytes, *, finite: bool = True) -> Any:
    """The document in a text. Raises `ValueError`, for `NaN` and `Infinity` too unless `finite` is False.

    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    if len(text) > LARGEST_DOCUMENT:
        raise TooLargeDocument(f"it is larger than {LARGEST_DOCUMENT >> 20} MiB")
    try:
        data = json.loads(text, parse_constant=_refuse if finite else None)
    except RecursionError:
        raise TooLargeDocument("it is nested too deeply") from None
    check_size(data)
    _check_text(text, data)
    return data


def check_size(data: Any, *, deepest: int = DEEPEST, most: int = MOST_VALUES) -> None:
    """Refuse nested data with too many levels or values. What is mentioned twice, by a YAML alias, counts twice."""
    level = [data]
    values = 0
    for _ in range(deepest):
        values += len(level)
        if values > most:
            raise TooLargeDocument(f"it has more than {most:,} values")
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
            if len(below) > most:
                break
        if not below:
            return
        level = below
    raise TooLargeDocument(f"it has more than {deepest} levels")


def _check_text(text: str | bytes, data: Any) -> None:
    """Refuse half of a pair of surrogates, which JSON can write and no output can."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if re.search(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]", raw):
        json.dumps(data, ensure_ascii=False).encode()  # raises `UnicodeEncodeError`, which is a `ValueError`


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
