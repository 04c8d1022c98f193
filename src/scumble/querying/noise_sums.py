"""Quantiles of sums of noise: how far a sum of noisy counts is from the true sum, with a given probability.

The noise of a sum of equally weighted counts is computed exactly where that is feasible, by convolution. Other sums use
the expansion of Cornish and Fisher (1938) with the kurtosis of the noise: for a single Laplace variable, where it is
worst, its 95 % quantile is 2 % too large.
"""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from scumble.model.counts import Floats
from scumble.model.measured_tables import NoiseKind

CONFIDENCE = 0.95
"""The probability with which an interval covers the true value."""
LARGEST_DEVIATION = 2_000.0
"""Sums with a larger standard deviation, in units of the noise, are not convolved."""
_NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def excess_kurtosis(kind: NoiseKind, variance: float) -> float:
    """The excess kurtosis of one draw of noise; the variance is in units of the noise.

    Discrete Laplace noise is the difference of two geometric variables with ratio a, each with an excess kurtosis of
    6 + (1 - a)^2 / a. Halved for the difference, this is 3 + 1 / variance. Discrete Gaussian noise has about none.
    """
    return 0.0 if kind is NoiseKind.GAUSSIAN or variance <= 0 else 3 + 1 / variance


def cornish_fisher(kurtosis: float) -> float:
    """The quantile of a symmetric sum with this excess kurtosis, in standard deviations.

    >>> round(cornish_fisher(0.0), 3), round(cornish_fisher(3.0), 3)
    (1.96, 2.166)
    """
    kurtosis = min(kurtosis, 6.0)  # rare noise of a fraction of a unit: the expansion is of no use beyond
    return _NORMAL + kurtosis * (_NORMAL**3 - 3 * _NORMAL) / 24


def half_width(kind: NoiseKind, variance: float, terms: int) -> float:
    """The smallest h, in units of the noise, so that a sum of independent draws is within h with probability 0.95."""
    deviation = math.sqrt(terms * variance)
    if deviation <= 0:
        return 0.0
    if kind is NoiseKind.LAPLACE and terms == 1:
        return _laplace_half_width(variance)
    if deviation > LARGEST_DEVIATION:
        return deviation * cornish_fisher(excess_kurtosis(kind, variance) / terms)
    return float(_convolved_half_width(kind, variance, terms))


def laplace_ratio(variance: float) -> float:
    """The ratio a of discrete Laplace noise of a given variance 2a / (1 - a)^2.

    >>> round(laplace_ratio(2 * 0.5 / 0.25), 12)
    0.5
    """
    middle = 1 + 1 / variance
    return 1 / (middle + math.sqrt(middle**2 - 1))


def _laplace_half_width(variance: float) -> float:
    """By the tail 2 a^(h + 1) / (1 + a) of |noise| > h."""
    ratio = laplace_ratio(variance)
    return float(max(math.ceil(math.log((1 - CONFIDENCE) * (1 + ratio) / 2) / math.log(ratio) - 1 - 1e-9), 0))


@lru_cache(maxsize=4096)
def _convolved_half_width(kind: NoiseKind, variance: float, terms: int) -> int:
    """The noise of the sum by a power of its Fourier transform, on a circle far longer than the noise reaches."""
    reach = 16 * math.sqrt(terms * variance) + 40 * math.sqrt(variance) + 16
    size = 2 ** math.ceil(math.log2(2 * reach))
    places = np.minimum(np.arange(size), size - np.arange(size)).astype(np.float64)
    spectrum = np.fft.rfft(_probabilities(kind, variance, places)).real
    chance = np.maximum(np.fft.irfft(spectrum**terms, size), 0.0)
    within = chance[0] + 2 * np.cumsum(chance[1 : size // 2])
    return 0 if chance[0] >= CONFIDENCE else int(np.searchsorted(within, CONFIDENCE - 1e-9)) + 1


def _probabilities(kind: NoiseKind, variance: float, places: Floats) -> Floats:
    if kind is NoiseKind.GAUSSIAN:
        weights = np.exp(-(places**2) / (2 * gaussian_parameter(variance)))
    else:
        weights = laplace_ratio(variance) ** places
    return np.asarray(weights / weights.sum())


def gaussian_parameter(variance: float) -> float:
    """The parameter sigma^2 of the discrete Gaussian with a given variance, by bisection."""
    low, high = variance, variance + 2.0
    places = np.arange(-200, 201, dtype=np.float64)
    if variance > 100:
        return variance
    for _ in range(60):
        middle = (low + high) / 2
        weights = np.exp(-(places**2) / (2 * middle))
        low, high = (middle, high) if weights @ places**2 / weights.sum() < variance else (low, middle)
    return high
