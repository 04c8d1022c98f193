"""How arguments are passed to machine code: as numba's calling convention lists the numbers of arrays and tuples.

An array is passed as two empty pointers (to its owner), its size, the size of an item, the address of its first item,
its shape and its strides; a tuple as its elements.
"""

import ctypes
from typing import Any

import numpy as np

Kinds = tuple[Any, ...]
"""The kinds of a function's arguments: hashable, and the same in every process."""


class UnknownKind(TypeError):
    """An argument that is passed by numba only."""


def flatten(arguments: tuple[Any, ...], numbers: list[Any]) -> Kinds:
    """Append the numbers of all arguments to a list. Returns their kinds."""
    return tuple([_flatten(value, numbers) for value in arguments])


def _flatten(value: Any, numbers: list[Any]) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        flags, dtype = value.flags, value.dtype
        if dtype.char not in ITEMS or not dtype.isnative or not flags.aligned:
            raise UnknownKind
        numbers += (
            None,
            None,
            value.size,
            dtype.itemsize,
            value.__array_interface__["data"][0],
            *value.shape,
            *value.strides,
        )
        return dtype.char, value.ndim, flags.c_contiguous
    if kind is int:
        numbers.append(value)
        return "int"
    if kind is bool:
        numbers.append(value)
        return "bool"
    if kind is float:
        numbers.append(value)
        return "float"
    if isinstance(value, np.generic) and value.dtype.char in ITEMS:
        numbers.append(value.item())
        return value.dtype.char
    if isinstance(value, tuple):
        return kind.__qualname__, tuple([_flatten(each, numbers) for each in value])
    raise UnknownKind


ITEMS: dict[str, Any] = {
    "?": ctypes.c_uint8,
    "b": ctypes.c_int8,
    "B": ctypes.c_uint8,
    "h": ctypes.c_int16,
    "H": ctypes.c_uint16,
    "i": ctypes.c_int32,
    "I": ctypes.c_uint32,
    "l": ctypes.c_int64,
    "L": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}
"""The types of items and of single numbers, by numpy's characters on systems with a `long` of 64 bits."""
NUMBERS: dict[str, Any] = {"int": ctypes.c_int64, "bool": ctypes.c_uint8, "float": ctypes.c_double, **ITEMS}


def c_types(kind: Any) -> list[Any]:
    """The types of the numbers that `flatten` lists for an argument of a kind."""
    if isinstance(kind, str):
        return [NUMBERS[kind]]
    if len(kind) == 2:
        return [each for inner in kind[1] for each in c_types(inner)]
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    return [pointer, pointer, size, size, pointer, *([size] * (2 * kind[1]))]
