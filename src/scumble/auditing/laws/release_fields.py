"""The fields of a release as values that can be compared: two releases are the same if these are equal."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def plain_fields(release: Any) -> dict[str, object]:
    """The fields of a release, or of another dataclass, by name."""
    return {each.name: _comparable(getattr(release, each.name)) for each in fields(release)}


def _comparable(value: object) -> object:
    match value:
        case np.ndarray():
            return value.dtype.str, value.shape, value.tolist() if value.dtype.kind == "O" else value.tobytes()
        case Mapping():
            return {key: _comparable(below) for key, below in value.items()}
        case _ if is_dataclass(value):
            return type(value).__name__, plain_fields(value)
        case _:
            return value
