"""Counts, shares, means and quantiles of perturbed records, with normal intervals for the noise where it is known."""

import math

import numpy as np

from scumble.model.counts import Floats
from scumble.querying.answering import known_values
from scumble.querying.answers import AnswerSource, Estimate
from scumble.querying.number_values import NumberValues
from scumble.querying.perturbed import NORMAL, PerturbedCounts
from scumble.querying.predicates import OneAttribute, Predicate, attributes_of, both
from scumble.querying.quantiles import band, label_of

Ends = tuple[float | None, float | None]


def perturbed_counts(
    counts: PerturbedCounts, where: Predicate, group: Predicate, labels: tuple[str, ...]
) -> list[Estimate]:
    """The number of records of a group that satisfy a condition, and their share of all that satisfy it."""
    function, whole = counts.shares_of(both(where, group)), counts.shares_of(where)
    everything = np.ones(counts.shape)
    exact = function[1] and whole[1]
    bottom = whole[0] if attributes_of(group) else everything
    total = counts.total(function[0])
    width = _width(counts, function[0]) if function[1] else None
    share, ends = _ratio(counts, function[0], bottom, exact=exact, low=0.0, high=1.0)
    source = AnswerSource.RECONSTRUCTED
    low, high = (None, None) if width is None else (max(total - width, 0.0), min(total + width, counts.records))
    return [
        Estimate(group=labels, measure="count", value=total, low=low, high=high, source=source),
        Estimate(group=labels, measure="share", value=share, low=ends[0], high=ends[1], source=source),
    ]


def perturbed_mean(counts: PerturbedCounts, where: Predicate, labels: tuple[str, ...], attribute: str) -> Estimate:
    """The mean of a numeric attribute; of numbers with added noise, classes count by the mean of their cells."""
    values = counts.values[attribute]
    assert isinstance(values, NumberValues)
    known, exact = counts.shares_of(both(where, OneAttribute(attribute=attribute, mask=known_values(values))))
    place = next(place for place, axis in enumerate(counts.axes) if axis.bins.attribute == attribute)
    bins = counts.axes[place].bins
    classes = values.bins(bins)[: len(values.starts)]
    sizes = np.bincount(classes, minlength=bins.size)
    means = np.bincount(classes, values.starts, minlength=bins.size) / np.maximum(sizes, 1)
    numbers = means.reshape([-1 if other == place else 1 for other in range(len(counts.axes))])
    single = bool((sizes <= 1).all())
    low, high = float(values.starts[0]), float(values.starts[-1])
    mean, ends = _ratio(counts, known * numbers, known, exact=exact and single, low=low, high=high)
    return Estimate(
        group=labels,
        measure=f"mean of {attribute}",
        value=mean,
        low=ends[0],
        high=ends[1],
        source=AnswerSource.RECONSTRUCTED,
    )


def perturbed_quantile(
    counts: PerturbedCounts, where: Predicate, labels: tuple[str, ...], attribute: str, share: float
) -> Estimate:
    """A quantile: the band is that of `scumble.querying.quantiles`, with the noise of the corrected reports."""
    values = counts.values[attribute]
    known = both(where, OneAttribute(attribute=attribute, mask=known_values(values)))
    whole, exact = counts.shares_of(known)
    bins = next(axis.bins for axis in counts.axes if axis.bins.attribute == attribute)
    last = values.size if values.missing is None else values.missing
    ends = [int(place) + 1 for place in np.flatnonzero(np.diff(values.bins(bins)[:last], append=-1))]
    single = len(ends) == last
    excess, widths = [], []
    for end in ends:
        below = OneAttribute(attribute=attribute, mask=np.arange(values.size) < end)
        function = counts.shares_of(both(known, below))[0] - share * whole
        excess.append(counts.total(function))
        width = _width(counts, function) if exact else None
        widths.append(math.inf if width is None else width)
    first, reached, last_possible, _ = band(np.array(excess), np.array(widths))
    starts = [0, *ends[:-1]]

    def at(place: int) -> float | str:
        return float(values.starts[place]) if isinstance(values, NumberValues) else label_of(values, place)

    low = high = None
    if exact and single and math.isfinite(max(widths)):
        low, high = at(starts[first]), at(starts[last_possible])
    return Estimate(
        group=labels,
        measure=f"quantile {share:g} of {attribute}",
        value=at(starts[reached]) if counts.total(whole) > 0 else None,
        low=low,
        high=high,
        source=AnswerSource.RECONSTRUCTED,
    )


def _width(counts: PerturbedCounts, function: Floats) -> float | None:
    variance = counts.variance(function)
    return None if variance is None else NORMAL * math.sqrt(variance)


def _ratio(
    counts: PerturbedCounts, top: Floats, bottom: Floats, *, exact: bool, low: float, high: float
) -> tuple[float | None, Ends]:
    """A ratio of two sums with an interval by the delta method, both limited to a range."""
    below = counts.total(bottom)
    if below <= 0:
        return None, (None, None)
    ratio = counts.total(top) / below
    width = _width(counts, top - ratio * bottom) if exact else None
    value = min(max(ratio, low), high)
    if width is None:
        return value, (None, None)
    return value, (min(max(ratio - width / below, low), high), min(max(ratio + width / below, low), high))
