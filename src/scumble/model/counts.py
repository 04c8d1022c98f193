"""Count tables: the request that an engine answers, and its answer; and indices of tables of many dimensions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.model.cut import Cut

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Block = tuple[npt.NDArray[np.unsignedinteger[Any]], ...]
"""Some coded rows: a column for each attribute, in the order of the schema."""


@dataclass(frozen=True, kw_only=True)
class Tabulation:
    """A request for counts: the cells of a cut by class and, for each attribute in `fine`, the same cells with that
    attribute at its finest level instead."""

    cut: Cut
    fine: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Exact counts. Only the holder sees them.

    `cells` has shape (cells, classes); `fine[a]` has shape (cells of the attributes before a, codes of a, cells of the
    attributes after a, classes).
    """

    cells: Integers
    fine: Mapping[str, Integers]


def fine_shape(cut: Cut, attribute: str) -> tuple[int, int, int, int]:
    """The shape of `Counts.fine[attribute]`."""
    outer, inner = cut.outer_inner(attribute)
    return outer, cut.schema[attribute].domain.size, inner, len(cut.schema.classes)


def digits_of(places: npt.NDArray[np.integer[Any]], shape: Sequence[int]) -> tuple[Integers, ...]:
    """The index along each dimension of flat, row-major indices (numpy's own function is limited to 64 dimensions).

    >>> [digit.tolist() for digit in digits_of(np.array([0, 1, 5]), (2, 3))]
    [[0, 0, 1], [0, 1, 2]]
    """
    left = places.astype(np.int64)
    digits: list[Integers] = []
    for size in reversed(shape):
        left, digit = np.divmod(left, size)
        digits.append(digit)
    return tuple(reversed(digits))


def places_of(digits: Sequence[npt.NDArray[np.integer[Any]]], shape: Sequence[int]) -> Integers:
    """The flat, row-major indices of given indices along each dimension.

    >>> places_of([np.array([0, 0, 1]), np.array([0, 1, 2])], (2, 3)).tolist()
    [0, 1, 5]
    """
    places = np.zeros(np.shape(digits[0]) if len(digits) else (), dtype=np.int64)
    for digit, size in zip(digits, shape, strict=True):
        places = places * size + digit
    return places
