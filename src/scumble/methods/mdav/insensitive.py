"""I-MDAV: insensitive microaggregation (Soria-Comas, Domingo-Ferrer, Sánchez, Martínez 2014).

MDAV with a distance that is consistent with a total order of all possible records. The record farthest from any average
is then the first or the last in that order, its nearest neighbours are adjacent to it, and groups are blocks of fixed
ranks, taken from both ends. So replacing one record exchanges at most one member of each block, whatever the others
are.

The order is by Euclidean distance from the lowest corner of the public domain, with each attribute divided by its
public range; ties are broken by the codes. The order does not depend on the rows. If it used their standard deviations,
one record could reorder all others.
"""

from collections.abc import Sequence

import numpy as np

from scumble.model.counts import Integers


def insensitive_order(amounts: Integers, largest: Sequence[int]) -> Integers:
    """The row numbers in the public total order. `largest` are the public upper ends of the columns' ranges."""
    scaled = amounts / np.maximum(np.array(largest, dtype=np.float64), 1)
    distance = np.zeros(len(amounts))
    for column in scaled.T:
        distance += column * column
    return np.lexsort((*amounts.T[::-1], distance))


def insensitive_mdav(amounts: Integers, largest: Sequence[int], k: int) -> Integers:
    """The group of each row. Groups are numbered along the order; all but the middle one have k records.

    >>> insensitive_mdav(np.array([[9], [1], [2], [8], [5]]), [10], 2).tolist()
    [1, 0, 0, 1, 1]
    """
    labels = np.empty(len(amounts), dtype=np.int64)
    sizes = insensitive_sizes(len(amounts), k)
    labels[insensitive_order(amounts, largest)] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def insensitive_sizes(rows: int, k: int) -> Integers:
    """The sizes of the blocks along the order: k each, but k to 2k - 1 for the middle one.

    MDAV takes k records from the first end, then k from the last, and so on; the remaining group is in the middle.

    >>> insensitive_sizes(11, 3).tolist(), insensitive_sizes(8, 3).tolist(), insensitive_sizes(4, 3).tolist()
    ([3, 5, 3], [3, 5], [4])
    """
    number = max(1, rows // k) if rows else 0
    sizes = np.full(number, k, dtype=np.int64)
    if number:
        sizes[number // 2] = rows - k * (number - 1)
    return sizes
