"""Makes estimates more precise by what several tables count in common.

Two tables that share attributes count the same records in the cells of their common coarsening, so the difference of
the two counts of such a cell is nothing but noise. Subtracting from an estimate what such a difference predicts about
its noise (linear regression, as in generalized least squares) keeps it unbiased and lowers its variance. The
coefficients follow from the bins and variances alone, never from the counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scumble.model.counts import Integers
from scumble.model.measured_tables import MeasuredTable
from scumble.querying.estimates import Linear, covariance
from scumble.querying.values import Values

MOST_ENTRIES = 200_000
"""Larger tables are not compared with others."""
LEAST_GAIN = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class CommonCells:
    """The cells of the common coarsening of two tables: the cell of every entry of each, flat."""

    of_one: Integers
    of_other: Integers
    number: int


@dataclass(frozen=True, kw_only=True, eq=False)
class CommonCounts:
    """The common cells of all pairs of tables, and the public number of records if there is one."""

    tables: Sequence[MeasuredTable]
    values: Mapping[str, Values]
    public_records: int | None = None

    @cached_property
    def _found(self) -> dict[tuple[int, int], CommonCells | None]:
        return {}

    def common(self, one: int, other: int) -> CommonCells | None:
        """The common cells of two tables; None if a table is too large to compare, or its noise is not independent."""
        if (one, other) not in self._found:
            pair = self.tables[one], self.tables[other]
            small = all(table.counts.size <= MOST_ENTRIES and table.inferred is None for table in pair)
            self._found[one, other] = common_cells(*pair, self.values) if small else None
        return self._found[one, other]

    def apply(self, estimate: Linear) -> Linear:
        """The estimate, adjusted by the common cells of the tables it uses with all others."""
        for one in sorted(estimate.weights):
            if self.public_records is not None:
                estimate = self._adjusted_to_records(estimate, one)
            for other in range(len(self.tables)):
                cells = self.common(one, other) if one != other else None
                if cells is not None:
                    estimate = self._adjusted(estimate, one, other, cells)
        return estimate

    def _adjusted(self, estimate: Linear, one: int, other: int, cells: CommonCells) -> Linear:
        """Subtract the regression on the differences of the two tables in each cell, which are independent."""
        tables = self.tables[one], self.tables[other]
        first, second = tables[0].entry_variance, tables[1].entry_variance
        sizes = np.bincount(cells.of_one, minlength=cells.number), np.bincount(cells.of_other, minlength=cells.number)
        variance = first * sizes[0] + second * sizes[1]
        covariance = first * np.bincount(cells.of_one, estimate.weights[one].ravel(), minlength=cells.number)
        if other in estimate.weights:
            weights = estimate.weights[other].ravel()
            covariance -= second * np.bincount(cells.of_other, weights, minlength=cells.number)
        factor = np.divide(covariance, variance, out=np.zeros(cells.number), where=variance > 0)
        if float(np.abs(factor * covariance).sum()) <= LEAST_GAIN * estimate.variance:
            return estimate
        change = {
            one: -factor[cells.of_one].reshape(tables[0].counts.shape),
            other: factor[cells.of_other].reshape(tables[1].counts.shape),
        }
        return estimate.plus(Linear(tables=self.tables, weights=change))

    def _adjusted_to_records(self, estimate: Linear, one: int) -> Linear:
        """The same with the public number of records, which has no noise."""
        total = Linear(tables=self.tables, weights={one: np.ones(self.tables[one].counts.shape)})
        if total.variance <= 0:
            return estimate
        factor = covariance(estimate, total) / total.variance
        return estimate.plus(total, -factor).plus(self._records, factor)

    @property
    def _records(self) -> Linear:
        return Linear(tables=self.tables, weights={}, constant=float(self.public_records or 0))


def common_cells(one: MeasuredTable, other: MeasuredTable, values: Mapping[str, Values]) -> CommonCells:
    """The finest cells that both tables can count: of their shared attributes, in bins that are unions of bins of both.

    Without a shared attribute, there is one cell with all records.
    """
    of_one = np.zeros(one.counts.shape, dtype=np.int64)
    of_other = np.zeros(other.counts.shape, dtype=np.int64)
    number = 1
    for axis, bins in enumerate(one.bins):
        place = other.attributes.index(bins.attribute) if bins.attribute in other.attributes else None
        if place is None:
            continue
        own = values[bins.attribute]
        mine, theirs = joined_bins(own.bins(bins), bins.size, own.bins(other.bins[place]), other.bins[place].size)
        parts = int(mine.max()) + 1
        of_one = of_one * parts + _along(mine, axis, len(one.bins))
        of_other = of_other * parts + _along(theirs, place, len(other.bins))
        number *= parts
    return CommonCells(of_one=of_one.ravel(), of_other=of_other.ravel(), number=number)


def _along(digits: Integers, axis: int, axes: int) -> Integers:
    return digits.reshape([-1 if place == axis else 1 for place in range(axes)])


def joined_bins(first: Integers, sizes: int, second: Integers, others: int) -> tuple[Integers, Integers]:
    """The common coarsening of two divisions of the same values: for each bin of either, its part.

    >>> mine, theirs = joined_bins(np.array([0, 1, 1, 2, 3]), 4, np.array([0, 0, 1, 2, 2]), 3)
    >>> mine.tolist(), theirs.tolist()
    ([0, 0, 1, 1], [0, 0, 1])
    """
    mine, theirs = np.arange(sizes), np.full(others, sizes)
    while True:
        before = mine.copy()
        np.minimum.at(theirs, second, mine[first])
        np.minimum.at(mine, first, theirs[second])
        if np.array_equal(before, mine):
            break
    labels, mine = np.unique(mine, return_inverse=True)
    return mine.ravel(), np.searchsorted(labels, np.minimum(theirs, labels[-1]))
