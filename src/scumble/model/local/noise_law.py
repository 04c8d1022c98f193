"""Exact noise distributions: integer weights that sum to 2^62.

Each value is perturbed with one word, a uniform integer from [0, 2^62), which is looked up in the cumulative weights.
The distribution is therefore exactly weight / 2^62. A receiver computes the same weights from the public parameters.
Local differential privacy is then an inequality between integers, and it is checked when the weights are computed.
Nothing in this module is random.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from scumble.errors import InputError
from scumble.model.budget import budget_text
from scumble.model.counts import Integers

WORD_BITS = 62
TOTAL = 2**WORD_BITS
LONGEST_LAW = 2**22
"""Largest number of weights. A finer step than this is not worth its memory."""
LARGEST_LOCAL_EPSILON = Fraction(16)
"""A larger epsilon protects practically nothing, and 62 bits no longer represent the distribution exactly."""
GAUSSIAN_REACH = 6
"""Gaussian noise is truncated at six standard deviations, beyond which lies one value in five hundred million."""


def exp_below(exponent: Fraction) -> Fraction:
    """A rational lower bound of e^exponent with a relative error below 2^-60, for 0 <= exponent <= 16.

    The terms of the series of e^x are positive, so partial sums are lower bounds, and rounding down keeps them so.

    >>> 0 <= math.e - float(exp_below(Fraction(1))) < 1e-15
    True
    """
    total = term = Fraction(1)
    number = 0
    while term > total / 2**70:
        number += 1
        term = _round_down(term * exponent / number)
        total += term
    return _round_down(total)


def _round_down(number: Fraction) -> Fraction:
    return Fraction(math.floor(number * 2**120), 2**120)


def check_length(steps: int) -> None:
    if steps > LONGEST_LAW:
        raise InputError(f"The noise would have {steps:,} values, more than {LONGEST_LAW:,}. Use a larger step.")


def uniform_weights(reach: int) -> Integers:
    """Equal weights for the integers from -reach to reach. The remainder of the division goes to the middle ones."""
    size = 2 * reach + 1
    check_length(size)
    weights = np.full(size, TOTAL // size, dtype=np.int64)
    left_over = TOTAL - int(weights[0]) * size
    start = (size - left_over) // 2
    weights[start : start + left_over] += 1
    return weights


def gaussian_weights(sigma: Fraction) -> Integers:
    """A normal distribution rounded to integers and truncated at six standard deviations; `sigma` is in steps."""
    from scipy.special import ndtr  # imported late: it is slow

    reach = math.ceil(GAUSSIAN_REACH * sigma)
    check_length(2 * reach + 1)
    upper = (np.arange(reach + 1) + 0.5) / float(sigma)
    # Differences are taken in the lower tail, where they lose no precision.
    half = ndtr(-(upper - 1 / float(sigma))) - ndtr(-upper)
    mass = half[0] + 2 * half[1:].sum()
    weights = np.floor(half / mass * TOTAL).astype(np.int64)
    weights[0] = TOTAL - 2 * int(weights[1:].sum())
    return np.concatenate([weights[:0:-1], weights])


@lru_cache(maxsize=64)
def laplace_weights(cells: int, epsilon: Fraction) -> Integers:
    """Discrete Laplace noise on -(cells - 1) .. cells - 1 for values 0 .. cells - 1; the sum is clamped afterwards.

    The two extreme weights contain the whole tails. Let p[n] be the weight at distance n, and t[n] the weight of all
    distances of at least n on one side. The clamped sum is epsilon-locally private if p[n] / p[n + 1] and
    t[n] / t[n + 1] and their inverses are at most e^(epsilon / (cells - 1)): a report inside the range has weight
    p[|report - value|], a report at an end has t at its distance, and two values are at most cells - 1 steps apart.
    Both conditions are checked on the integers, against a rational lower bound of the power. The decay rate is lowered
    until the rounded weights satisfy them.
    """
    check_local_epsilon(epsilon)
    last = cells - 1
    check_length(2 * last + 1)
    if last == 0:
        return np.array([TOTAL], dtype=np.int64)
    bound = exp_below(epsilon / last)
    # First guess of the share by which to lower the rate, from the effect of rounding on the smallest weight.
    least = float(epsilon / last) / 4 * math.exp(-float(epsilon)) * TOTAL
    guess = (16 / least + 2**-48) / float(epsilon / last)
    for bits in range(min(40, math.floor(-math.log2(guess))), 0, -1):
        rate = float(epsilon / last * (1 - Fraction(1, 2**bits)))
        weights = _laplace_half(last, rate)
        if _within(weights, bound):
            return np.concatenate([weights[:0:-1], weights])
    raise InputError(
        f"Laplace noise over {cells:,} cells at epsilon {budget_text(epsilon)} does not fit 62-bit weights. Use "
        "a larger step."
    )


def _laplace_half(last: int, rate: float) -> Integers:
    """Rounded weights by distance. The remainder goes to the largest weight, where its relative effect is smallest."""
    mass = np.exp(-rate * np.arange(last + 1)) * math.tanh(rate / 2)
    mass[last] = math.exp(-rate * last) / (1 + math.exp(-rate))
    weights = np.floor(mass * TOTAL).astype(np.int64)
    left_over = TOTAL - int(weights[0]) - 2 * int(weights[1:].sum())
    if weights[last] > weights[0]:
        weights[last] += left_over // 2
        left_over %= 2
    weights[0] += left_over
    return weights


def _within(weights: Integers, bound: Fraction) -> bool:
    """Whether the ratios of adjacent weights, and of adjacent tails, are within the bound, in exact arithmetic."""
    inner = weights[:-1].astype(object)
    tails = np.cumsum(weights[::-1].astype(object))[::-1]
    for numbers in (inner, tails):
        left, right = numbers[:-1] * bound.denominator, numbers[1:] * bound.denominator
        if (left > numbers[1:] * bound.numerator).any() or (right > numbers[:-1] * bound.numerator).any():
            return False
    return bool((weights > 0).all())


def response_weights(size: int, epsilon: Fraction) -> tuple[int, int]:
    """k-ary randomized response (Kairouz, Oh & Viswanath 2014): the weights of the true value and of each other value.

    The true value may be at most e^epsilon times as likely as another value, and another value at most e^epsilon times
    as likely as the true one. Both are checked in integers; rounding breaks the second one if epsilon is tiny.
    """
    check_local_epsilon(epsilon)
    if size == 1:
        return TOTAL, 0
    bound = exp_below(epsilon)
    other = math.ceil(TOTAL / (bound + size - 1))
    truth = TOTAL - (size - 1) * other
    assert truth <= bound * other
    if truth <= 0 or other > bound * truth:
        raise InputError(
            f"Randomized response over {size:,} values at epsilon {budget_text(epsilon)} does not fit 62-bit weights. "
            "Use fewer values or a larger epsilon."
        )
    return truth, other


def retain_weights(size: int, probability: Fraction) -> tuple[int, int]:
    """The weights that report the true value with this probability (rounded down), and each other value equally."""
    if size == 1:
        return TOTAL, 0
    other = math.ceil(TOTAL * (1 - probability) / (size - 1))
    return TOTAL - (size - 1) * other, other


def response_epsilon(truth: int, other: int) -> Fraction:
    """The smallest epsilon, a multiple of 10^-6 up to 16, that covers the odds truth : other of a response."""
    low, high = 0, int(LARGEST_LOCAL_EPSILON) * 10**6
    odds = Fraction(max(truth, other), max(min(truth, other), 1))
    if odds > exp_below(LARGEST_LOCAL_EPSILON):
        raise InputError(
            f"Reporting the true value with odds of {float(odds):.3g} protects nothing. Retain it less often."
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exp_below(Fraction(middle, 10**6)) >= odds else (middle, high)
    return Fraction(high, 10**6)


def check_local_epsilon(epsilon: Fraction) -> None:
    if not 0 < epsilon <= LARGEST_LOCAL_EPSILON:
        raise InputError(
            f"The local epsilon of one attribute is {budget_text(epsilon)}, but must be above 0 and at most "
            f"{LARGEST_LOCAL_EPSILON}: more protects nothing. Lower it, or report the attribute truthfully."
        )
