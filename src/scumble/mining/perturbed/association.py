"""Which interval each blurred value is taken to lie in, so that the intervals hold as many as were reconstructed.

The paper sorts the values and gives the N(1) lowest to the first interval, and so on. Categories have no order: as many
as possible keep the value they have, and what an outcome has too many of goes to values that lack some. Neither is an
estimate of one person's value: only the numbers mean something.
"""

import numpy as np
import numpy.typing as npt

from scumble.mining.reconstruction.iteration import Floats
from scumble.model.counts import Integers


def whole_counts(shares: Floats, total: int) -> Integers:
    """Whole numbers that add up to the total, each within one of its share (largest remainders first).

    >>> whole_counts(np.array([0.5, 0.25, 0.25]), 7)
    array([3, 2, 2])
    """
    exact = shares * total
    counts = np.floor(exact).astype(np.int64)
    left_over = total - int(counts.sum())
    order = np.argsort(counts - exact, kind="stable")
    counts[order[:left_over]] += 1
    return counts


def by_rank(values: npt.NDArray[np.integer], shares: Floats) -> Integers:
    """The interval of each value, the lowest values in the first."""
    result = np.empty(len(values), dtype=np.int64)
    counts = whole_counts(shares, len(values))
    result[np.argsort(values, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return result


def by_kind(values: npt.NDArray[np.integer], shares: Floats) -> Integers:
    """The category of each value: its own as far as there is room, then, in order, one that lacks some."""
    size = len(shares)
    wanted = whole_counts(shares, len(values))
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    seen = np.bincount(ordered, minlength=size)
    place = np.arange(len(values)) - np.repeat(np.cumsum(seen) - seen, seen)
    keeps = place < wanted[ordered]
    result = np.where(keeps, ordered, 0)
    result[~keeps] = np.repeat(np.arange(size), np.maximum(wanted - seen, 0))
    back = np.empty_like(result)
    back[order] = result
    return back
