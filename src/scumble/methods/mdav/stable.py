"""S-MDAV: stable microaggregation (Iftikhar, Wang, Lin, EDBT 2019), Algorithm 1 as published.

The algorithm takes *both* neighbouring tables X and Y and derives Y's groups from X's, so that at most two groups
differ, by one record each. That is a statement about a pair of tables. A data owner has one table. Run on one table, as
the framework of Figure 3 must be, the algorithm is MDAV, and MDAV's groups are not stable. PROOF.md states the
consequences.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Integers

Partitioner = Callable[[Integers], Integers]
"""A microaggregation algorithm: maps coordinates to the group of each row."""


def stable_pair(x: Integers, row: int, replacement: Integers, partition: Partitioner) -> tuple[Integers, Integers]:
    """Algorithm 1: the groups C_X of a table and C_Y of its neighbour, in which `row` is `replacement`.

    Where the paper leaves a choice: `dist` is the Euclidean distance, `I_loss` is the within-group sum of squares of Y,
    and ties go to the first in order. Lines 12 to 14 add the distance between the representatives of c_i and c_j.
    """
    groups_x = partition(x)  # line 1
    y = x.copy()
    y[row] = replacement
    groups_y = groups_x.copy()  # line 2: r' takes the place of r
    centres = group_averages(x, groups_x)
    to_replacement = _distances(centres, replacement)  # lines 4-5
    own = int(groups_x[row])
    if int(to_replacement.argmin()) == own:  # lines 6-8
        return groups_x, groups_y
    total = to_replacement + _distances(centres, centres[own])  # lines 12-14
    total[own] = np.inf  # line 11
    nearest = int(total.argmin())  # line 15
    if not np.isfinite(total[nearest]):
        return groups_x, groups_y
    best, best_loss = groups_y, np.inf
    for other in np.flatnonzero(groups_y == nearest):  # lines 16-19
        swapped = groups_y.copy()
        swapped[row], swapped[other] = nearest, own
        loss = _squares(y, swapped, own) + _squares(y, swapped, nearest)
        if loss < best_loss:
            best, best_loss = swapped, loss
    return groups_x, best  # lines 20-22


def group_averages(
    coordinates: npt.NDArray[np.integer] | npt.NDArray[np.float64], groups: Integers
) -> npt.NDArray[np.float64]:
    """The average of each group, its representative record."""
    sizes = np.bincount(groups)
    return np.stack([np.bincount(groups, column) / sizes for column in coordinates.T], axis=1)


def _distances(points: npt.NDArray[np.float64], target: npt.NDArray[np.number]) -> npt.NDArray[np.float64]:
    return np.sqrt(((points - target) ** 2).sum(axis=1))


def _squares(y: Integers, groups: Integers, group: int) -> float:
    """The within-group sum of squares of one group. A swap changes only two groups, so the others are not needed."""
    members = y[groups == group].astype(np.float64)
    return float(((members - members.mean(axis=0)) ** 2).sum())
