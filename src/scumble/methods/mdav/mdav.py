"""MDAV, maximum distance to average vector (Domingo-Ferrer & Torra 2005): forms groups of k similar records.

While at least 3k records are left, let r be the record farthest from the average of those left, and s the record
farthest from r. r and its k - 1 nearest neighbours form a group, then s and its k - 1 nearest neighbours. If at least
2k records are left after that, the one farthest from the average forms a group with its k - 1 nearest neighbours. The
last k to 2k - 1 records form a group.

Tie rule: among records at equal distances the lowest row number comes first. Coordinates are integers
(`Layout.standardized`), so the sum of the records left is exact, in whatever order records are removed.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.errors import InputError
from scumble.methods.mdav.kd_tree import addresses, build_tree, farthest, nearest, remove
from scumble.model.counts import Integers


def check_group_size(k: int, rows: int | None) -> None:
    """Raise `InputError` for a k that allows no useful grouping. `rows` is the public number of rows, if there is
    one."""
    if k < 2:
        raise InputError(f"k is {k}: a group of one hides nobody. Set k to 2 or more.")
    if rows is not None and k > rows:
        raise InputError(f"k is {k}, but the table has only {rows} rows. Set k to at most half of them.")
    if rows is not None and rows < 2 * k:
        raise InputError(f"k is {k}, so {rows} rows make a single group. Set k to at most {rows // 2}.")


def mdav(coordinates: Integers, k: int) -> Integers:
    """The group of each row, in the order of formation. Each has k records, except the last, which has up to 2k - 1.

    A table of fewer than 2k rows is one group; an empty table has none.

    >>> mdav(np.array([[0], [1], [2], [50], [51], [52], [53]]), 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    points = np.ascontiguousarray(coordinates, dtype=np.float64)
    labels: Integers = np.zeros(len(points), dtype=np.int64)
    if len(points) >= 2 * k:
        tree = build_tree(points)
        _form_groups(tree, *addresses(tree), coordinates.sum(axis=0, dtype=np.int64), points, k, labels)
    return labels


def group_sizes(rows: int, k: int) -> Integers:
    """The sizes of MDAV's groups, which depend only on the number of rows and k.

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
            # If all records left are equal, both seeds are the same row: the next lowest row becomes the second.
            seed = seeds[end] if labels[seeds[end]] >= 0 else rows[farthest(tree, originals[seeds[0]])]
            nearest(tree, originals[seed], k, distances, places)
            for entry in range(k):
                taken[entry] = rows[places[entry]]
            for row in taken:
                labels[row] = -1 - group
                for side in range(len(total)):
                    total[side] -= np.int64(originals[row, side])
                remove(tree, leaf_of, place_of, row)
            group += 1
    for row in range(len(labels)):
        labels[row] = -1 - labels[row] if labels[row] < 0 else group


def within_group_squares(values: npt.NDArray[Any], labels: Integers) -> float:
    """The sum of squared errors (SSE): squared distances of records to the average of their group."""
    sizes = np.bincount(labels)
    total = 0.0
    for column in np.asarray(values, dtype=np.float64).T:
        centres = np.bincount(labels, column) / np.maximum(sizes, 1)
        total += float(((column - centres[labels]) ** 2).sum())
    return total
