"""Shrinkage: moves noisy class probabilities toward a prior estimate, by more the noisier they are.

The values of an attribute are shrunk toward ranges of values, those toward wider ranges, and so on up to all records;
combinations of attributes are shrunk toward what the model already expects for them. So noise alone changes little, and
evidence is not counted twice.
"""

import numpy as np

from scumble.methods.diffgen.detail.terms import SMALLEST_PROBABILITY, LogOdds, to_log_odds
from scumble.model.counts import Floats, Integers
from scumble.model.rounding import project

USUAL_VARIANCE, USUAL_VARIANCE_OF_COMBINATIONS = 0.02, 0.03
"""The usual variance of true differences between class probabilities, as a fraction of p (1 - p): between a range of
values and one twice as wide (a standard deviation of a seventh of that of the class), and between the records of a
combination of bins and what the terms of its single attributes imply."""


def shifts_of_values(table: Integers, shares: Floats, deviation: float) -> LogOdds:
    """What a noisy class table (bins, classes) of one attribute adds to the log-odds of the class shares.

    Bins are halved by records again and again. Each half is shrunk toward the range that it is a half of.
    """
    sums = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
    records = np.concatenate([[0.0], np.cumsum(np.maximum(table.sum(axis=1), 0) + 1e-9)])
    found = np.tile(shares, (len(table), 1))
    ranges = [(0, len(table))]
    while ranges:
        halves = [half for low, high in ranges if high - low > 1 for half in _halves(records, low, high)]
        if not halves:
            break
        low, high = np.array(halves).T
        noise = deviation * np.sqrt(high - low)[:, np.newaxis]
        estimates = shrunk(sums[high] - sums[low], found[low], noise, usual_variance=USUAL_VARIANCE)
        for (start, end), estimate in zip(halves, estimates, strict=True):
            found[start:end] = estimate
        ranges = halves
    return to_log_odds(found) - to_log_odds(shares[np.newaxis])


def _halves(records: Floats, low: int, high: int) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = int(np.searchsorted(records, (records[low] + records[high]) / 2))
    middle = min(max(middle, low + 1), high - 1)
    return (low, middle), (middle, high)


def shifts_of_combinations(table: Integers, expected: Floats, deviation: float) -> LogOdds:
    """What a noisy class table adds to log-odds whose mean class probabilities in each combination are `expected`."""
    found = shrunk(table, expected, deviation, usual_variance=USUAL_VARIANCE_OF_COMBINATIONS)
    return to_log_odds(found) - to_log_odds(expected)


def consistent(table: Integers) -> Floats:
    """A noisy table (bins, classes) without negative entries. Each class keeps its sum, or 1 if that is smaller."""
    totals = np.maximum(table.sum(axis=0), 1)
    return np.stack([project(column, int(total)) for column, total in zip(table.T, totals, strict=True)], axis=1)


def shrunk(counts: Integers | Floats, prior: Floats, deviation: float | Floats, *, usual_variance: float) -> Floats:
    """Class probabilities from noisy counts by class, shrunk toward a prior.

    A difference to the prior keeps the fraction s / (s + n), as in linear regression with a prior. n is the variance
    that noise and sampling error give it. s is the variance of true differences: the usual variance, plus the squared
    observed difference, because a few values change the probabilities by far more than is usual.
    """
    counts = np.maximum(counts, 0).astype(np.float64)
    size = counts.sum(axis=-1, keepdims=True)
    difference = counts - size * prior
    vary = (prior * (1 - prior)).sum(axis=-1, keepdims=True)
    of_noise = (np.square(1 - prior) + (prior.shape[-1] - 1) * np.square(prior)).sum(axis=-1, keepdims=True)
    noise = np.square(deviation) * of_noise + size * vary + 1e-9
    observed = np.square(difference).sum(axis=-1, keepdims=True)
    signal = np.square(size) * usual_variance * vary + observed
    kept = signal / (signal + noise) / np.maximum(size, 1)
    weights = np.maximum(prior + kept * difference, SMALLEST_PROBABILITY)
    return weights / weights.sum(axis=-1, keepdims=True)
