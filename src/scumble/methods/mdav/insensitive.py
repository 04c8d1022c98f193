"""I-MDAV: insensitive microaggregation (Soria-Comas, Domingo-Ferrer, Sánchez, Martínez 2014).

MDAV whose distance follows a total order of all records there can be: then the farthest from any average is the first
or the last in that order, its nearest are those beside it, and groups are blocks of fixed ranks, taken from both ends.
So one record replaced moves every block by at most one member, whatever the others are.

The order is by Euclidean distance from the lowest corner of the public domain, each attribute divided by its public
range, and by the codes themselves among equals. Nothing in it is read off the rows: a standard deviation of the rows
would let one record reorder all others.
"""

from collections.abc import Sequence

import numpy as np

from scumble.model.counts import Integers


def insensitive_order(amounts: Integers, largest: Sequence[int]) -> Integers:
    """The rows from first to last in the public total order. `largest` are the public ends of the columns' ranges."""
    scaled = amounts / np.maximum(np.array(largest, dtype=np.float64), 1)
    distance = np.zeros(len(amounts))
    for column in scaled.T:
        distance += column * column
    return np.lexsort((*amounts.T[::-1], distance))


def insensitive_mdav(amounts: Integers, largest: Sequence[int], k: int) -> Integers:
    """The group of each row. Groups are numbered along the order; all have k records but the one in the middle.

    >>> insensitive_mdav(np.array([[9], [1], [2], [8], [5]]), [10], 2).tolist()
    [1, 0, 0, 1, 1]
    """
    labels = np.empty(len(amounts), dtype=np.int64)
    sizes = insensitive_sizes(len(amounts), k)
    labels[insensitive_order(amounts, largest)] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def insensitive_sizes(rows: int, k: int) -> Integers:
    """The sizes of the blocks along the order: the two ends give k each in turn, the middle keeps k to 2k - 1.

    MDAV takes the first end, then the last, and so on; the group left over lies after half of those, rounded up.

    >>> insensitive_sizes(11, 3).tolist(), insensitive_sizes(8, 3).tolist(), insensitive_sizes(4, 3).tolist()
    ([3, 5, 3], [3, 5], [4])
    """
    number = max(1, rows // k) if rows else 0
    sizes = np.full(number, k, dtype=np.int64)
    if number:
        sizes[number // 2] = rows - k * (number - 1)
    return sizes
