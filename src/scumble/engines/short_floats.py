"""Short floats (single and half precision) of a declared type, read by their shortest decimal.

The shortest decimal of a short float is the shortest one that rounds to it: 0.7 in single precision reads as 0.7,
although the stored number is 0.699999988. This is the reading of `scumble.model.raw_value`. Instead of writing the
decimal of every row, `thresholds` moves the edges of a grid, once for each column.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.model.values import number_of

Doubles = npt.NDArray[np.float64]


def is_short(kind: pa.DataType) -> bool:
    return pa.types.is_float32(kind) or pa.types.is_float16(kind)


def shortest_decimals(values: Doubles, kind: pa.DataType) -> Doubles:
    """Stored short floats as the doubles nearest to their shortest decimals.

    >>> shortest_decimals(np.array([0.699999988079071]), pa.float32()).tolist()
    [0.7]
    """
    distinct, places = np.unique(values.astype(_precision(kind)), return_inverse=True)
    readings = distinct.astype(np.float64)
    fractional = np.isfinite(readings) & (readings != np.trunc(readings))
    readings[fractional] = [number_of(value) for value in distinct[fractional]]
    return readings[places]


def thresholds(edges: Doubles, kind: pa.DataType) -> Doubles:
    """Edges for stored short floats: a stored value reaches a threshold exactly if its decimal reaches the edge.

    Let v be the short float nearest to the edge. Every decimal that reads as a larger short float lies above the edge,
    and every decimal that reads as a smaller one below it, because rounding is monotone. So only the decimal of v is
    compared: if it reaches the edge, v is the threshold, else the next short float.

    >>> thresholds(np.array([0.7]), pa.float32()).tolist()
    [0.699999988079071]
    """
    with np.errstate(over="ignore", under="ignore"):
        nearest = edges.astype(_precision(kind))
        above = np.nextafter(nearest, np.array(np.inf, nearest.dtype))
    reaches = shortest_decimals(nearest.astype(np.float64), kind) >= edges
    return np.where(reaches, nearest, above).astype(np.float64)


def stored_as(number: float, kind: pa.DataType) -> float:
    """The short float whose decimal is the number; NaN, which equals nothing, where there is none."""
    with np.errstate(over="ignore", under="ignore"):
        nearest = np.array([number]).astype(_precision(kind)).astype(np.float64)
    return float(nearest[0]) if shortest_decimals(nearest, kind)[0] == number else np.nan


def _precision(kind: pa.DataType) -> "type[np.float16 | np.float32]":
    return np.float16 if pa.types.is_float16(kind) else np.float32
