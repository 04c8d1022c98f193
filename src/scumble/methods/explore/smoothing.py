"""Removes noise from counts of neighbouring ranges: a mean of many smooth versions, weighted by their estimated risk.

The versions are all divisions into runs of neighbours with one mean each, which suit peaks and steps, and smooth curves
(Whittaker 1923) of several degrees. Each has the weight exp(-R / 4) with R its unbiased risk estimate in units of the
noise variance, and a prior that all divisions together share: Leung & Barron (2006), whose mixture has almost the risk
of its best member. The mean over all divisions is exact, by recursion over their last run. Post-processing.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from scumble.model.counts import Floats

PENALTIES = tuple(10.0 ** (power / 2) for power in range(-2, 11))
"""Of the squared second differences of a smooth curve."""


def smoothed(counts: Floats, variance: float) -> Floats:
    """Estimated counts of neighbouring ranges, from noisy ones with noise of this variance."""
    versions = [_runs(counts, variance), *_curves(counts, variance)]
    logarithms = np.array([logarithm for logarithm, _ in versions])
    weights = np.exp(logarithms - logarithms.max())
    return np.asarray(weights @ np.array([version for _, version in versions]) / weights.sum())


def _runs(counts: Floats, variance: float) -> tuple[float, Floats]:
    """The logarithm of the weight of all divisions into runs, and their weighted mean.

    A run adds one to the degrees of freedom, which is 2 in R, and half of the logarithm of the number of counts to the
    negative logarithm of the prior.
    """
    size = len(counts)
    sums, squares = (np.concatenate(([0.0], np.cumsum(each))) for each in (counts, counts**2))
    first, last = np.triu_indices(size + 1, k=1)
    means = np.zeros((size + 1, size + 1))
    means[first, last] = (sums[last] - sums[first]) / (last - first)
    runs = np.full((size + 1, size + 1), -np.inf)
    residuals = squares[last] - squares[first] - means[first, last] * (sums[last] - sums[first])
    runs[first, last] = -np.maximum(residuals, 0.0) / variance / 4 - 0.5 - np.log(size) / 2
    before, after = np.zeros(size + 1), np.zeros(size + 1)
    for place in range(1, size + 1):
        before[place] = np.logaddexp.reduce(before[:place] + runs[:place, place])
    for place in range(size - 1, -1, -1):
        after[place] = np.logaddexp.reduce(runs[place, place + 1 :] + after[place + 1 :])
    weighted = means * np.exp(before[:, np.newaxis] + runs + after - before[size])
    # Entry (i, k) of the first sum are runs that start at i and end after k; the second adds all starts up to k.
    ending_later = np.cumsum(weighted[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return float(before[size]), np.diagonal(np.cumsum(ending_later, axis=0)).copy()


def _curves(counts: Floats, variance: float) -> Iterable[tuple[float, Floats]]:
    """Smooth curves, each after the logarithm of its weight."""
    values, vectors = _second_differences(len(counts))
    parts = vectors.T @ counts
    for penalty in PENALTIES:
        kept = 1 / (1 + penalty * values)
        residual = float((((1 - kept) * parts) ** 2).sum())
        yield -residual / variance / 4 - float(kept.sum()) / 2 - np.log(len(PENALTIES)), vectors @ (kept * parts)


@lru_cache(maxsize=64)
def _second_differences(size: int) -> tuple[Floats, Floats]:
    """The eigenvalues and eigenvectors of the sum of squared second differences of so many counts."""
    differences = np.diff(np.eye(size), 2, axis=0)
    values, vectors = np.linalg.eigh(differences.T @ differences)
    return np.maximum(values, 0.0), vectors
