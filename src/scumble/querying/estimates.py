"""Linear estimates from measured tables: sums of noisy counts with their variances, and intervals for the noise.

An estimate keeps the weight of every noisy count it uses, so that the covariance of two estimates from the same tables
is known. Ratios (shares and means) have the interval of Fieller (1954).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scumble.model.counts import Floats
from scumble.model.measured_tables import MeasuredTable
from scumble.querying.noise_sums import cornish_fisher, excess_kurtosis, half_width

Interval = tuple[float, float]
Weights = Mapping[int, Floats]
"""The weight of every entry of a table, by the number of the table."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear:
    """A constant plus weighted noisy counts of some tables."""

    tables: Sequence[MeasuredTable]
    weights: Weights
    constant: float = 0.0

    @property
    def value(self) -> float:
        """The estimate, which is unbiased."""
        return self.constant + sum(float((w * self.tables[t].counts).sum()) for t, w in self.weights.items())

    @cached_property
    def noise(self) -> Mapping[int | str, tuple[MeasuredTable, Floats]]:
        """The weights of independent noise: by the number of a table or, if counts were inferred, by their source."""
        found: dict[int | str, tuple[MeasuredTable, Floats]] = {}
        for number, weights in self.weights.items():
            table = self.tables[number]
            key = number if table.inferred is None else table.inferred.source
            own = table.independent(weights)
            found[key] = (table, found[key][1] + own if key in found else own)
        return found

    @cached_property
    def variance(self) -> float:
        """The variance of the noise."""
        return covariance(self, self)

    @property
    def kurtosis(self) -> float:
        """The excess kurtosis of the noise."""
        variance = self.variance
        if variance <= 0:
            return 0.0
        fourth = 0.0
        for table, weights in self.noise.values():
            each = excess_kurtosis(table.kind, table.variance * table.unit**2) / table.terms
            fourth += each * table.entry_variance**2 * float((weights**4).sum())
        return fourth / variance**2

    def plus(self, other: "Linear", factor: float = 1.0) -> "Linear":
        """This estimate plus a multiple of another one."""
        weights = dict(self.weights)
        for number, added in other.weights.items():
            weights[number] = weights[number] + factor * added if number in weights else factor * added
        return Linear(tables=self.tables, weights=weights, constant=self.constant + factor * other.constant)

    def times(self, factor: float) -> "Linear":
        """A multiple of the estimate."""
        scaled = {number: factor * weights for number, weights in self.weights.items()}
        return Linear(tables=self.tables, weights=scaled, constant=factor * self.constant)

    @property
    def half_width(self) -> float:
        """How far the estimate is from the true value, with a probability of 95 %."""
        equal = self._equally_weighted()
        if equal is None:
            return math.sqrt(self.variance) * cornish_fisher(self.kurtosis)
        table, weight, entries = equal
        return weight / table.unit * half_width(table.kind, table.variance * table.unit**2, table.terms * entries)

    def _equally_weighted(self) -> tuple[MeasuredTable, float, int] | None:
        """The table, the weight and the number of its entries, if all used entries have the same weight."""
        if len(self.weights) != 1:
            return None
        ((number, weights),) = self.weights.items()
        if self.tables[number].inferred is not None:
            return None
        used = np.abs(weights[weights != 0])
        if not len(used) or (used != used[0]).any():
            return None
        return self.tables[number], float(used[0]), len(used)

    @property
    def interval(self) -> Interval:
        """The 95 % interval for the noise."""
        value, width = self.value, self.half_width
        return value - width, value + width


def covariance(one: Linear, other: Linear) -> float:
    """The covariance of the noise of two estimates from the same tables."""
    mine, theirs = one.noise, other.noise
    return sum(
        table.entry_variance * float((weights * theirs[key][1]).sum())
        for key, (table, weights) in mine.items()
        if key in theirs
    )


def combined(estimates: Iterable[Linear]) -> Linear:
    """The mean of estimates of one number, each from one table, weighted by their precision; at least one.

    Of several tables that were inferred from one vector, the most precise is used, so that all are independent.
    """
    found: list[Linear] = []
    for each in sorted(estimates, key=lambda each: each.variance):
        if not any(isinstance(key, str) and key in before.noise for key in each.noise for before in found):
            found.append(each)
    if found[0].variance <= 0:
        return found[0]
    precision = [1 / each.variance for each in found]
    mean = found[0].times(precision[0] / sum(precision))
    for each, precise in zip(found[1:], precision[1:], strict=True):
        mean = mean.plus(each, precise / sum(precision))
    return mean


def ratio_interval(numerator: Linear, denominator: Linear) -> Interval | None:
    """Fieller's interval of a ratio: the ratios r for which numerator - r denominator may be zero.

    None if the denominator may be zero: the interval would be unbounded.
    """
    top, bottom = numerator.value, denominator.value
    if not bottom:
        return None
    middle = top / bottom
    width = cornish_fisher(numerator.plus(denominator, -middle).kurtosis)
    quadratic = bottom**2 - width**2 * denominator.variance
    linear = top * bottom - width**2 * covariance(numerator, denominator)
    constant = top**2 - width**2 * numerator.variance
    if quadratic <= 0 or bottom < 0:
        return None
    root = math.sqrt(max(linear**2 - quadratic * constant, 0.0))
    return (linear - root) / quadratic, (linear + root) / quadratic
