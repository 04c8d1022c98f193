"""Shrinkage: moves noisy class probabilities toward a prior estimate, by more the noisier they are.

The values of an attribute are shrunk toward ranges of values, those toward wider ranges, and so on up to all records;
combinations of attributes are shrunk toward what the model already expects for them. So noise alone changes little, and
evidence is not counted twice.
"""

from math import exp, log, log2, sqrt

import numpy as np

from scumble.methods.diffgen.detail.groups import LogOdds
from scumble.methods.diffgen.detail.terms import SMALLEST_PROBABILITY, to_log_odds
from scumble.model.counts import Floats, Integers
from scumble.model.rounding import project

USUAL_VARIANCE, USUAL_VARIANCE_IN_A_GROUP, USUAL_VARIANCE_OF_COMBINATIONS = 0.02, 0.005, 0.03
"""The usual variance of true differences between class probabilities, as a fraction of p (1 - p): between a range of
values and one twice as wide (a standard deviation of a seventh of that of the class); for one value, between one group
and all groups (about a fourteenth); between the records of a combination of bins and what single attributes imply."""


OUTLIER = 1.0
"""Among ranges whose variance of true differences was estimated from all of them together, one that differs by more
keeps its squared difference above so many variances of noise."""
USUAL_WEIGHT = 2.0
"""The usual variance counts as much as so many ranges whose variance was observed."""
FEW_TABLES, SHARPNESS = 8, 2.0
"""With more tables than this, most may be of attributes that have nothing to do with the class (`_relevance`)."""


def shifts_of_values(table: Integers, prior: Floats, deviation: float, *, tables: int = 1) -> LogOdds:
    """What a noisy class table (groups, bins, classes) of one attribute, one of `tables`, adds to log-odds whose class
    probabilities in each group are `prior`, of shape (groups, classes).

    First, the effect of each bin is estimated from all groups together. Bins are halved by records again and again, and
    each half is shrunk toward the range that it is a half of, by more if the ranges of the same size differ little. The
    more tables there are, the more evidence a table needs to have any effect. Second, the effect in each group is
    shrunk toward the first estimate. Effects rarely differ much between groups, so the second step uses only the usual
    variance and not the observed difference. The result has shape (groups x bins, classes).
    """
    sizes = np.maximum(table.sum(axis=1), 1).sum(axis=1)
    everyone = sizes @ prior / sizes.sum()
    together, noise = table.sum(axis=0), deviation * sqrt(len(table))
    of_bins = _by_halves(together, everyone, noise)
    if tables > FEW_TABLES:
        of_bins = _normalized(everyone * (of_bins / everyone) ** _relevance(together, everyone, noise, tables))
    posterior = _normalized(prior[:, np.newaxis] * of_bins / everyone)
    if len(table) > 1:
        posterior = shrunk(table, posterior, deviation, usual_variance=USUAL_VARIANCE_IN_A_GROUP, observed_weight=0)
    shifts = to_log_odds(posterior) - to_log_odds(prior)[:, np.newaxis]
    return shifts.reshape(-1, shifts.shape[2])


def _by_halves(table: Integers, shares: Floats, deviation: float) -> Floats:
    sums = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
    records = np.concatenate([[0.0], np.cumsum(np.maximum(table.sum(axis=1), 0) + 1e-9)])
    found = np.tile(shares, (len(table), 1))
    ranges = [(0, len(table))]
    while halves := [half for low, high in ranges if high - low > 1 for half in _halves(records, low, high)]:
        low, high = np.array(halves).T
        noise = deviation * np.sqrt(high - low)[:, np.newaxis]
        estimates = shrunk(sums[high] - sums[low], found[low], noise, usual_variance=USUAL_VARIANCE, pooled=True)
        for (start, end), estimate in zip(halves, estimates, strict=True):
            found[start:end] = estimate
        ranges = halves
    return found


def _halves(records: Floats, low: int, high: int) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = int(np.searchsorted(records, (records[low] + records[high]) / 2))
    middle = min(max(middle, low + 1), high - 1)
    return (low, middle), (middle, high)


def _relevance(table: Integers, shares: Floats, deviation: float, tables: int) -> float:
    """How far a table's differences from the class shares exceed noise, from 0 to 1.

    The sum of squared differences, each divided by its variance under noise and sampling error alone, of all bins and
    of quarters of the records: the larger excess of both, in standard deviations. The threshold rises by one with every
    doubling of the number of tables.
    """
    records = np.concatenate([[0.0], np.cumsum(np.maximum(table.sum(axis=1), 0) + 1e-9)])
    ranges = [(0, len(table))]
    for _ in range(2):
        ranges = [part for low, high in ranges for part in _parts(records, low, high)]
    excess = -np.inf
    for low, high in (np.array(ranges).T, (np.arange(len(table)), np.arange(len(table)) + 1)):
        counts = np.add.reduceat(np.maximum(table, 0), low, axis=0)
        size = counts.sum(axis=1, keepdims=True)
        noise = _noise(size, shares, deviation * np.sqrt(high - low)[:, np.newaxis])
        found = float((np.square(counts - size * shares) / noise).sum() * (len(shares) - 1) / len(shares))
        usual = max(len(low) - 1, 1) * (len(shares) - 1)
        excess = max(excess, (found - usual) / sqrt(2 * usual))
    return 1 / (1 + exp(-SHARPNESS * min(max(excess - log2(tables / FEW_TABLES), -9.0), 9.0)))


def _parts(records: Floats, low: int, high: int) -> tuple[tuple[int, int], ...]:
    return _halves(records, low, high) if high - low > 1 else ((low, high),)


def _noise(size: Floats, prior: Floats, deviation: float | Floats) -> Floats:
    """The variance of the difference between a class's count and its expectation, from noise and sampling error."""
    of_noise = np.square(1 - prior) + (prior.shape[-1] - 1) * np.square(prior)
    return np.asarray(np.square(deviation) * of_noise + size * prior * (1 - prior) + 1e-9)


def shifts_of_combinations(table: Integers, expected: Floats, deviation: float) -> LogOdds:
    """What a noisy class table adds to log-odds whose mean class probabilities in each combination are `expected`.

    The table follows from residuals whose noise has this standard deviation. The residuals of two classes are opposite
    numbers, so their noise does not change the size of a combination, which `shrunk` takes into account for counts.
    """
    of_counts = np.sqrt(np.square(expected).sum(axis=1, keepdims=True)) if expected.shape[1] == 2 else 1.0
    found = shrunk(table, expected, deviation / of_counts, usual_variance=USUAL_VARIANCE_OF_COMBINATIONS)
    return to_log_odds(found) - to_log_odds(expected)


def consistent(table: Integers) -> Floats:
    """A noisy table (..., bins, classes) without negative entries. The sum over the bins is kept, or 1 if that is
    smaller."""
    made = np.empty(table.shape)
    for place in np.ndindex(*table.shape[:-2], table.shape[-1]):
        column = table[(*place[:-1], slice(None), place[-1])]
        made[(*place[:-1], slice(None), place[-1])] = project(column, max(int(column.sum()), 1))
    return made


def shrunk(
    counts: Integers | Floats,
    prior: Floats,
    deviation: float | Floats,
    *,
    usual_variance: float,
    observed_weight: float = 1,
    pooled: bool = False,
) -> Floats:
    """Class probabilities from noisy counts by class, shrunk toward a prior.

    The difference of a class to the prior keeps the fraction s / (s + n), as in linear regression with a prior. n is
    the variance that noise and sampling error give it. s is the variance of true differences: the usual variance, plus
    `observed_weight` times the squared observed difference, because a few values change the probabilities by far more
    than is usual.

    Among many classes, the largest difference that noise alone gives is larger: of k classes, 2 log(k / 2) n of each
    squared difference is taken for noise. And a rare class differs by at most about its own probability, so the usual
    variance is at most that squared, divided by k - 1. Otherwise noise in rare classes would add up over the tables.

    If `pooled`, all lines of the table are alike, and the usual variance is corrected by what they show together.
    """
    classes = prior.shape[-1]
    counts = np.maximum(counts, 0).astype(np.float64)
    size = counts.sum(axis=-1, keepdims=True)
    difference = counts - size * prior
    noise = _noise(size, prior, deviation)
    outlier = 2 * log(classes / 2) + (OUTLIER if pooled else 0.0)
    observed = np.maximum(np.square(difference) - outlier * noise, 0.0)
    if pooled:
        usual_variance = _corrected(usual_variance, difference, size, prior, noise)
    usual = np.minimum(usual_variance * prior * (1 - prior), np.square(prior) / (classes - 1))
    signal = np.square(size) * usual + observed_weight * observed
    kept = signal / (signal + noise) / np.maximum(size, 1)
    return _normalized(np.maximum(prior + kept * difference, SMALLEST_PROBABILITY))


def _corrected(usual: float, difference: Floats, size: Floats, prior: Floats, noise: Floats) -> float:
    """The usual variance, averaged with the one that all lines show: what their squared differences have beyond noise,
    weighted by precision."""
    unit = np.maximum(np.square(size) * prior * (1 - prior), 1e-9)
    weight = 1 / np.square(noise / unit + usual)
    found = float((weight * (np.square(difference) - noise) / unit).sum() / weight.sum())
    lines = max(len(difference) - 1, 1)
    return (USUAL_WEIGHT * usual + lines * max(found, 0.0)) / (USUAL_WEIGHT + lines)


def _normalized(weights: Floats) -> Floats:
    return weights / weights.sum(axis=-1, keepdims=True)
