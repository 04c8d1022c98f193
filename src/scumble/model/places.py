"""Places in a table of many dimensions, in row-major order, and their digits; numpy stops at 64 dimensions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Integers


def digits_of(places: npt.NDArray[np.integer[Any]], shape: Sequence[int]) -> tuple[Integers, ...]:
    """For every dimension the digit of each place.

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
    """The places with these digits.

    >>> places_of([np.array([0, 0, 1]), np.array([0, 1, 2])], (2, 3)).tolist()
    [0, 1, 5]
    """
    places = np.zeros(np.shape(digits[0]) if len(digits) else (), dtype=np.int64)
    for digit, size in zip(digits, shape, strict=True):
        places = places * size + digit
    return places
