"""Assigns each perturbed value to an interval, so that the intervals get the reconstructed numbers of values.

Agrawal & Srikant (2000, section 4.2) sort the values and assign the N(I1) lowest to the first interval, and so on.
Categories have no order: as many values as possible keep their category, and the surplus of one category fills those
that lack values. The assignment does not estimate any person's value; only the counts are meaningful.
"""

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Floats, Integers


def whole_counts(shares: Floats, total: int) -> Integers:
    """Integers that sum to the total, each within one of its share (largest remainder method).

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
    """The interval of each value, the lowest values in the first interval."""
    result = np.empty(len(values), dtype=np.int64)
    counts = whole_counts(shares, len(values))
    result[np.argsort(values, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return result


def by_category(values: npt.NDArray[np.integer], shares: Floats) -> Integers:
    """The category of each value: its own while there is room, otherwise the first one that lacks values.

    `values` are indices into `shares`.
    """
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
