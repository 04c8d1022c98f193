"""The rings of shared secrets: words under addition modulo 2^32 or 2^64, and bytes, eight bits side by side, under
exclusive or."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

UnsignedArray = npt.NDArray[Any]
"""Unsigned integers: public values, or one component of secret values."""


@dataclass(frozen=True, kw_only=True)
class Ring:
    """The ring in which components add up to a secret and secrets are multiplied."""

    add: np.ufunc
    subtract: np.ufunc
    multiply: np.ufunc


WORDS = Ring(add=np.add, subtract=np.subtract, multiply=np.multiply)
BITS = Ring(add=np.bitwise_xor, subtract=np.bitwise_xor, multiply=np.bitwise_and)


def ring_of(dtype: Any) -> Ring:
    """The ring of a data type: bytes are vectors of eight bits, longer words are integers modulo 2^32 or 2^64."""
    return BITS if np.dtype(dtype) == np.uint8 else WORDS


def total(ring: Ring, values: Iterable[UnsignedArray]) -> UnsignedArray:
    first, *rest = values
    for each in rest:
        first = ring.add(first, each)
    return first
