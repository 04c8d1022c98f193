"""The distribution of each attribute, from noisy counts of ranges of its values and of the values themselves.

An attribute with many values is counted at two levels: in at most `USUAL_BINS` ranges, which get most of the budget,
and value by value. Sums of many values would drown in their noise, and a value with many records would be lost in its
range. Everything but the choice of the margins is post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from scumble.methods.explore.margins import Margin, NoisyMargin, ValueBins
from scumble.methods.explore.smoothing import smoothed
from scumble.model.counts import Floats
from scumble.model.public_bins import USUAL_BINS, public_bins
from scumble.model.schema import Attribute, Schema

RANGE_WEIGHT, VALUE_WEIGHT = 4, 1
"""Noise on the counts of single values is four times that on ranges, and on attributes with few values."""
FALSE_PEAKS = 0.05
"""A range in which all values are equally frequent shows a peak with about this probability."""
SHRINKAGE = 1.5
"""How many times the variance of noise is removed from differences between values, to be on the safe side."""
CLEAR = 3.0
"""Counts whose squared differences from their mean are so many times those of noise are taken as they are."""
LEAST_SHARE = 1e-12


def value_margins(schema: Schema) -> tuple[tuple[Margin, ...], tuple[int, ...]]:
    """The one-way margins to count, and their weights."""
    margins, weights = [], []
    for place, attribute in enumerate(schema.attributes):
        ranges = public_ranges(attribute)
        margins.append(Margin(places=(place,), bins=(ranges,)))
        weights.append(RANGE_WEIGHT)
        if len(ranges) < attribute.domain.size:
            margins.append(Margin(places=(place,), bins=(ValueBins.single(attribute.domain.size),)))
            weights.append(VALUE_WEIGHT)
    return tuple(margins), tuple(weights)


def public_ranges(attribute: Attribute) -> ValueBins:
    """At most `USUAL_BINS` bins that follow from the public schema, the same in which fidelity is measured: whoever
    draws a histogram of the attribute is answered by counts, and not by values that noise has moved across an edge."""
    return ValueBins(starts=public_bins(attribute, USUAL_BINS).bounds[:-1], size=attribute.domain.size)


@dataclass(frozen=True, kw_only=True)
class EstimatedMargin:
    """Estimated counts of a margin, each with the same variance."""

    margin: Margin
    counts: Floats
    variance: float


def combined(one: NoisyMargin | EstimatedMargin, other: NoisyMargin | EstimatedMargin) -> EstimatedMargin:
    """Two noisy tables of the same margin as one, weighted by their precision."""
    precision = 1 / one.variance + 1 / other.variance
    counts = (one.counts / one.variance + other.counts / other.variance) / precision
    return EstimatedMargin(margin=one.margin, counts=counts, variance=1 / precision)


def total_records(tables: Sequence[NoisyMargin]) -> tuple[float, float]:
    """The number of records by all tables, weighted by their precision; and its standard error."""
    totals = [table.total for table in tables]
    precision = sum(1 / variance for _, variance in totals)
    return sum(total / variance for total, variance in totals) / precision, sqrt(1 / precision)


def without_noise(ranges: NoisyMargin | EstimatedMargin, attribute: Attribute) -> EstimatedMargin:
    """The counted public ranges of an attribute, without what noise alone could have made.

    Ranges in an order are smoothed, but for one of missing values at the end. Others are shrunk toward their mean.
    """
    counts, variance = ranges.counts, ranges.variance
    (bins,) = ranges.margin.bins
    if attribute.in_order:
        values = len(counts) - (attribute.missing_code == bins.starts[-1])
        found = np.concatenate((smoothed(counts[:values], variance), counts[values:]))
    else:
        found = _shrunk(counts, variance)
    return EstimatedMargin(margin=ranges.margin, counts=found, variance=variance)


def _shrunk(counts: Floats, variance: float) -> Floats:
    """The counts, or their mean if noise alone would differ as much, or something between."""
    differences = counts - counts.mean()
    noise = max(len(counts) - 1, 1) * variance
    kept = (float(differences @ differences) / noise - 1) / (CLEAR - 1)
    return counts.mean() + min(max(kept, 0.0), 1.0) * differences


def value_shares(
    ranges: NoisyMargin | EstimatedMargin, values: NoisyMargin | EstimatedMargin, records: float
) -> Floats:
    """The share of each value of an attribute, from the counts of its ranges without noise and of its values."""
    (bins,) = ranges.margin.bins
    shares = on_simplex(ranges.counts / records) + LEAST_SHARE
    if len(bins) < bins.size:
        deviation = sqrt(values.variance)
        parts = [
            share * inside_range(values.counts[start : start + width], share * records, deviation)
            for share, start, width in zip(shares, bins.starts, bins.widths, strict=True)
        ]
        shares = np.concatenate(parts)
    return np.asarray(shares / shares.sum())


def bin_counts(
    bins: ValueBins, ranges: NoisyMargin | EstimatedMargin, counted: NoisyMargin | EstimatedMargin | None
) -> tuple[Floats, Floats]:
    """Counts of an attribute in bins, and their variances, from its counted ranges and, if it has any, counted bins.

    Each bin is a union of ranges, or lies inside one. The bins of a range are adjusted to its count: each takes a part
    of the difference that is proportional to its variance, which is the best linear estimate.
    """
    (of_ranges,) = ranges.margin.bins
    inside = of_ranges.of_codes[list(bins.starts)]
    united = bins.of_codes[list(of_ranges.starts)]
    counts: Floats = np.bincount(united, weights=ranges.counts, minlength=len(bins)).astype(np.float64)
    variance = np.bincount(united, minlength=len(bins)) * ranges.variance
    if counted is None:
        return counts, np.asarray(variance)
    sizes = np.bincount(inside, minlength=len(of_ranges))
    divided = sizes[inside] > 1
    whole = 1 / variance[~divided] + 1 / counted.variance
    counts[~divided] = (counts[~divided] / variance[~divided] + counted.counts[~divided] / counted.variance) / whole
    found = np.bincount(inside, weights=counted.counts, minlength=len(of_ranges))
    part = counted.variance / (ranges.variance + sizes * counted.variance)
    moved = counted.counts + ((ranges.counts - found) * part)[inside]
    counts[divided] = moved[divided]
    variance = np.where(divided, counted.variance * (1 - part[inside]), 0.0)
    variance[~divided] = 1 / whole
    return counts, np.asarray(variance)


def inside_range(values: Floats, records: float, deviation: float) -> Floats:
    """The share of each value in a range with so many records: even wherever the counts do not show that it is not.

    A value far above the mean is a peak and keeps its count. The others share the rest, shrunk toward evenness by the
    factor of James and Stein (1961).
    """
    width = len(values)
    far = deviation * log(width / 2 / FALSE_PEAKS) / sqrt(2)  # for Laplace noise; Gaussian noise exceeds it less often
    peaks = values - records / width > far
    found = np.where(peaks, values, 0.0)
    others = width - int(peaks.sum())
    if others:
        rest = max(records - float(found.sum()), 0.0) / others
        differences = values[~peaks] - values[~peaks].mean()
        noise = SHRINKAGE * (others - 1) * deviation**2
        kept = max(1 - noise / max(float(differences @ differences), 1e-9), 0.0)
        found[~peaks] = np.maximum(rest + kept * differences, 0.0)
    found += LEAST_SHARE * max(records, 1.0)
    return np.asarray(found / found.sum())


def on_simplex(shares: Floats) -> Floats:
    """The nearest probabilities: one amount is subtracted from every entry that stays above zero (Duchi et al. 2008).

    >>> on_simplex(np.array([0.75, 0.5, -0.25])).tolist()
    [0.625, 0.375, 0.0]
    """
    descending = np.sort(shares)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(shares) + 1)
    above = descending > excess
    above[0] = True  # even if that is lost in rounding huge numbers
    return np.maximum(shares - excess[np.flatnonzero(above)[-1]], 0.0)
