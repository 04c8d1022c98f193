"""MDAV, maximum distance to average vector (Domingo-Ferrer & Torra 2005): groups of k, alternately at two far ends.

While at least 3k records are left: r is the one farthest from the average of those left, s the one farthest from r; r
with its k - 1 nearest forms a group, then s with its k - 1 nearest. Of what is left, if 2k or more, the one farthest
from the average forms a group with its k - 1 nearest, and the last k to 2k - 1 records are a group.

Tie rule: among records at equal distances the one with the lowest row number goes first. Coordinates are whole numbers
(`Layout.standardized`), so the sum of those left is exact in whatever order records leave, and with it the average.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.errors import InputError
from scumble.methods.mdav.kd_tree import addresses, farthest, nearest, plant, take
from scumble.model.counts import Integers


def check_group_size(k: int, rows: int | None) -> None:
    """Refuse a k that no grouping can serve. `rows` is the schema's public number; None where it gives none."""
    if k < 2:
        raise InputError(f"k is {k}: a group of one hides nobody. Give 2 or more.")
    if rows is not None and k > rows:
        raise InputError(f"k is {k}, and the table has {rows} rows. Give a k of at most half of them.")
    if rows is not None and rows < 2 * k:
        raise InputError(f"k is {k}, and {rows} rows make a single group. Give a k of at most {rows // 2}.")


def mdav(coordinates: Integers, k: int) -> Integers:
    """The group of each row, numbered as they are formed. Each has k records but the last, which has up to 2k - 1.

    A table of fewer than 2k rows is one group; an empty one has none.

    >>> mdav(np.array([[0], [1], [2], [50], [51], [52], [53]]), 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    points = np.ascontiguousarray(coordinates, dtype=np.float64)
    labels: Integers = np.zeros(len(points), dtype=np.int64)
    if len(points) >= 2 * k:
        tree = plant(points)
        _form_groups(tree, *addresses(tree), coordinates.sum(axis=0, dtype=np.int64), points, k, labels)
    return labels


def group_sizes(rows: int, k: int) -> Integers:
    """The sizes of MDAV's groups, which follow from the number of rows and k alone.

    >>> group_sizes(11, 3).tolist(), group_sizes(5, 3).tolist(), group_sizes(0, 3).tolist()
    ([3, 3, 5], [5], [])
    """
    number = max(1, rows // k) if rows else 0
    sizes = np.full(number, k, dtype=np.int64)
    sizes[-1:] = rows - k * (number - 1)
    return sizes


@compiled
def _form_groups(tree, leaf_of, place_of, total, originals, k, labels):  # type: ignore[no-untyped-def]
    rows, alive = tree[1], tree[4]
    distances, places = np.empty(k), np.empty(k, dtype=np.int64)
    taken = np.empty(k, dtype=np.int64)
    centre = np.empty(len(total))
    group = 0
    while alive[0] >= 2 * k:
        for side in range(len(total)):
            centre[side] = np.float64(total[side]) / np.float64(alive[0])
        ends = 2 if alive[0] >= 3 * k else 1
        seeds = np.empty(2, dtype=np.int64)
        seeds[0] = rows[farthest(tree, centre)]
        if ends == 2:
            seeds[1] = rows[farthest(tree, originals[seeds[0]])]
        for end in range(ends):
            # Where all records left are alike, one may be its own farthest: then the next lowest row is the second.
            seed = seeds[end] if labels[seeds[end]] >= 0 else rows[farthest(tree, originals[seeds[0]])]
            nearest(tree, originals[seed], k, distances, places)
            for entry in range(k):
                taken[entry] = rows[places[entry]]
            for row in taken:
                labels[row] = -1 - group
                for side in range(len(total)):
                    total[side] -= np.int64(originals[row, side])
                take(tree, leaf_of, place_of, row)
            group += 1
    for row in range(len(labels)):
        labels[row] = -1 - labels[row] if labels[row] < 0 else group


def within_group_squares(values: npt.NDArray[Any], labels: Integers) -> float:
    """SSE: the sum of squared distances of records to the average of their group."""
    sizes = np.bincount(labels)
    total = 0.0
    for column in np.asarray(values, dtype=np.float64).T:
        centres = np.bincount(labels, column) / np.maximum(sizes, 1)
        total += float(((column - centres[labels]) ** 2).sum())
    return total
