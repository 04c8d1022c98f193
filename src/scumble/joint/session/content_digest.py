"""A digest of everything that a release will publish, except the receipt of the party that publishes it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np


def content_digest(value: Any, without: type | None = None) -> bytes:
    """The SHA-256 of a value: two values have the same digest if all their fields are equal, floats bit by bit.

    Fields of the type `without` are left out.

    >>> content_digest({"a": (1, 0.5)}) == content_digest({"a": [1, 0.5]}), content_digest(1.0) == content_digest(1)
    (True, False)
    """
    digest = hashlib.sha256()
    for part in _parts(value, without):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def _parts(value: Any, without: type | None) -> Iterator[bytes]:
    if without is not None and isinstance(value, without):
        return
    match value:
        case None | bool() | int() | str() | Fraction() | Enum():
            yield f"{type(value).__name__} {value!s}".encode()
        case bytes():
            yield value
        case float():
            yield value.hex().encode()
        case np.generic():
            yield from _parts(value.item(), without)
        case np.ndarray() if value.dtype != object:
            yield f"array {value.dtype.str} {value.shape}".encode()
            yield value.tobytes()
        case Mapping():
            yield f"mapping {len(value)}".encode()
            for key in value:
                yield from _parts(key, without)
                yield from _parts(value[key], without)
        case Set():
            yield f"set {sorted(map(repr, value))}".encode()
        case np.ndarray() | Sequence():
            yield f"sequence {len(value)}".encode()
            for item in value:
                yield from _parts(item, without)
        case _ if is_dataclass(value):
            yield type(value).__name__.encode()
            for field in fields(value):
                yield from _parts(getattr(value, field.name), without)
        case _:
            yield f"{type(value).__name__} {value!r}".encode()
