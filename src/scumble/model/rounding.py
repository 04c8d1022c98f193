"""From noisy counts to the counts of a table: non-negative integers. Deterministic post-processing."""

import hashlib
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Integers


class Rounding(StrEnum):
    """How published counts follow from measured ones."""

    NEAREST = "nearest"
    """Each to the nearest non-negative integer, as in the paper on DiffGen. Adds rows to empty cells on average."""
    PROJECT = "project"
    """The nearest non-negative counts with the measured total of each class, then rounded so that totals are kept."""

    def apply(self, measured: Integers, resolution: int) -> Integers:
        """Published counts, of the same shape (cells, classes)."""
        if self is Rounding.NEAREST:
            return np.maximum((2 * measured + resolution) // (2 * resolution), 0)
        columns = [_project(column, resolution) for column in measured.T]
        return np.stack(columns, axis=1) if columns else measured.copy()


def project(column: Integers | npt.NDArray[np.float64], total: int) -> npt.NDArray[np.float64]:
    """The nearest non-negative vector with a given positive total: one amount is subtracted from every entry that stays
    above zero (Duchi et al. 2008).

    >>> project(np.array([5, 4, -9]), 7)
    array([4., 3., 0.])
    """
    descending = np.sort(column)[::-1]
    excess = (np.cumsum(descending) - total) / np.arange(1, len(column) + 1)
    above = descending > excess
    above[0] = True  # the largest entry stays above zero, even if that is lost in rounding huge numbers
    amount = excess[np.flatnonzero(above)[-1]]
    return np.maximum(column - amount, 0.0)


def _project(measured: Integers, resolution: int) -> Integers:
    """Euclidean projection onto the non-negative vectors with the measured total, in exact integer arithmetic.

    The projection subtracts one common amount, shortfall / positive, from every entry that stays above zero (Duchi et
    al. 2008). What rounding down leaves over is distributed, one each, in the order of the remainders; ties are broken
    by a hash of the measured vector, so that no position is preferred and anyone can repeat it.
    """
    total = max(0, (2 * int(measured.sum()) + resolution) // (2 * resolution)) * resolution
    if total == 0:
        return np.zeros_like(measured)
    descending = np.sort(measured)[::-1]
    shortfall = np.cumsum(descending) - total
    number = np.arange(1, len(measured) + 1)
    positive = int(np.flatnonzero(descending * number > shortfall)[-1]) + 1
    taken = int(shortfall[positive - 1])
    scaled = np.maximum(measured * positive - taken, 0)
    unit = positive * resolution
    counts = scaled // unit
    left_over = total // resolution - int(counts.sum())
    remainder = scaled % unit
    order = np.lexsort((_tie_breakers(measured), -remainder))
    counts[order[:left_over]] += 1
    return counts


def _tie_breakers(measured: Integers) -> Integers:
    """A pseudo-random number for each entry, derived from a hash of all entries."""
    seed = hashlib.sha256(measured.astype("<i8").tobytes()).digest()
    stream = hashlib.shake_256(seed).digest(8 * len(measured))
    return np.frombuffer(stream, dtype="<i8").astype(np.int64)
