"""The operators that compare splits: integer worths of groups of records, with proved bounds (PROOF.md, section 2).

The score of a split is the total worth of the groups that it makes. The operators are those of Friedman and Schuster:

- `max`: the records of a group's most frequent class;
- `gini`: the sum of squared class counts divided by the group's size, in units of 2^-16 (`purity`);
- `infogain`: minus the entropy of the group's classes times its size, in units of 2^-10. A constant times the number of
  records is added, which is the same for all splits of a node and makes the score monotone.
"""

from enum import StrEnum
from functools import cache
from typing import NamedTuple

import numpy as np

from scumble.methods.diffgen.scores import PURITY_SCALE, purity
from scumble.model.counts import Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import Sensitivity, majority

ENTROPY_UNITS = 1 << 10
SINGLE = 1 << 11
"""Steps of `EntropySteps` are computed for single records up to this size, then for ranges of 1/1024 of an octave."""
OCTAVES = 40
MOST_RECORDS = 1 << 32
"""The bound on the records of a class if the schema states none. More are counted as so many."""


class Operator(StrEnum):
    """How splits of a node are compared."""

    MAX = "max"
    GINI = "gini"
    INFOGAIN = "infogain"


class EntropySteps(NamedTuple):
    """A convex integer function that approximates x log2 x: its slope on each range [start, next start)."""

    starts: Integers
    slopes: Integers
    totals: Integers

    def total(self, counts: Integers) -> Integers:
        """The function of each count. It is linear on each range, so every value is an exact integer."""
        place = np.searchsorted(self.starts, counts, side="right") - 1
        return self.totals[place] + (counts - self.starts[place]) * self.slopes[place]

    def slope(self, count: int) -> int:
        """The increase from `count` to `count + 1`. It never decreases with the count."""
        return int(self.slopes[np.searchsorted(self.starts, count, side="right") - 1])


@cache
def entropy_steps() -> EntropySteps:
    """The increases of x log2 x at the start of each range, rounded down and made non-decreasing."""
    octaves = [2**octave + np.arange(1024) * 2 ** (octave - 10) for octave in range(11, OCTAVES)]
    starts = np.concatenate([np.arange(SINGLE), *octaves]).astype(np.int64)
    exact = starts.astype(np.float64)
    # Written so that nothing cancels: (x + 1) log2(x + 1) - x log2 x = log2(x + 1) + x log2(1 + 1/x).
    rise = np.log2(exact + 1) + exact * np.log1p(1 / np.maximum(exact, 1)) / np.log(2)
    slopes = np.maximum.accumulate(np.floor(ENTROPY_UNITS * rise).astype(np.int64))
    totals = np.concatenate([[0], np.cumsum(slopes[:-1] * np.diff(starts))])
    return EntropySteps(starts, slopes, totals)


def worth(operator: Operator, groups: Integers, *, limit: int) -> Integers:
    """The worth of each group, whose class counts lie on the last axis; counts are clipped to `limit`."""
    match operator:
        case Operator.MAX:
            return majority(groups)
        case Operator.GINI:
            return purity(groups)
        case Operator.INFOGAIN:
            steps, counts = entropy_steps(), np.minimum(groups, limit)
            size = counts.sum(axis=-1)
            return steps.total(counts).sum(axis=-1) - steps.total(size) + _largest(limit, groups.shape[-1]) * size


def worth_sensitivity(operator: Operator, unit: Unit, *, limit: int, classes: int) -> Sensitivity:
    """How far one record changes the total worth of the groups that a split makes. It lies in one of them.

    `max`: adding a record raises the group's largest class count by 0 or 1: bound 1, monotone. Replacing one changes
    the total by -1, 0 or 1.

    `gini`: as in `scumble.methods.diffgen.scores.PartitionScores`: the change lies in [-2^16, 2^16], twice that if a
    record is replaced. Not monotone.

    `infogain`: let f be the function of `EntropySteps`, s(x) = f(x + 1) - f(x) its non-decreasing slope, and m the
    slope at the largest size, classes x limit. Adding a record of class j to a group with class counts n_c and n
    records changes its worth, sum f(n_c) - f(n) + m n, by s(n_j) - s(n) + m. As 0 <= s(n_j) <= s(n) <= m, this lies in
    [0, m]; it is 0 if n_j is clipped. So the bound is m, and the score is monotone. Replacing is removing and adding:
    the change lies in [-m, m].
    """
    match operator:
        case Operator.MAX:
            return Sensitivity(bound=1, monotone=True)
        case Operator.GINI:
            return Sensitivity(bound=PURITY_SCALE * (1 if unit is Unit.ADD_REMOVE else 2))
        case Operator.INFOGAIN:
            return Sensitivity(bound=_largest(limit, classes), monotone=True)


def _largest(limit: int, classes: int) -> int:
    return entropy_steps().slope(limit * classes)
