"""Releases are compared field by field, whatever the fields contain."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scumble.auditing.laws.release_fields import plain_fields


@dataclass(frozen=True)
class Inner:
    numbers: Any


@dataclass(frozen=True)
class Outer:
    inner: Inner
    columns: dict[str, Any] = field(default_factory=dict)


def test_arrays_are_compared_by_type_shape_and_content() -> None:
    whole = Outer(Inner(np.array([1, 2])), {"a": np.array(["x", None], dtype=object)})
    same = Outer(Inner(np.array([1, 2])), {"a": np.array(["x", None], dtype=object)})
    assert plain_fields(whole) == plain_fields(same)
    for other in (np.array([1, 3]), np.array([1.0, 2.0]), np.array([[1, 2]]), (1, 2)):
        assert plain_fields(whole)["inner"] != plain_fields(Outer(Inner(other)))["inner"]
    assert plain_fields(whole)["columns"] != plain_fields(Outer(Inner(0), {"a": np.array(["y", None], dtype=object)}))
