"""Exact laws of noise: whole-number weights that add up to 2^62, the same for who blurs and for who reconstructs.

A value is blurred by one word, a whole number drawn evenly from [0, 2^62), looked up in the running totals of the
weights. So the law in force is exactly these weights over 2^62: a receiver computes the same ones from the public
parameters, and a promise of local differential privacy is a statement about whole numbers, which is checked on them
where they are made. Nothing here is random.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.budget import budget_text
from scumble.model.counts import Integers

WORD_BITS = 62
TOTAL = 2**WORD_BITS
LONGEST_LAW = 2**22
"""Weights beyond this would take more memory than a coarser step is worth."""
LARGEST_LOCAL_EPSILON = Fraction(16)
"""Beyond it an attribute is as good as told, and 62 bits no longer carry the law exactly."""
GAUSSIAN_REACH = 6
"""Gaussian noise ends at six standard deviations, which one value in five hundred million would pass."""


def exp_below(exponent: Fraction) -> Fraction:
    """A rational number at most e^exponent and within 2^-60 of it relatively, for 0 <= exponent <= 16.

    The series of e^x has positive terms, so every partial sum lies below; so does what rounding down leaves.

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
        raise InputError(f"The noise would have {steps:,} values, more than {LONGEST_LAW:,}. Give a larger step.")


def uniform_weights(reach: int) -> Integers:
    """Every whole number from -reach to reach alike. What division leaves over goes to the middle, one each."""
    size = 2 * reach + 1
    check_length(size)
    weights = np.full(size, TOTAL // size, dtype=np.int64)
    left_over = TOTAL - int(weights[0]) * size
    start = (size - left_over) // 2
    weights[start : start + left_over] += 1
    return weights


def gaussian_weights(sigma: Fraction) -> Integers:
    """A normal distribution rounded to whole numbers and cut off at six standard deviations; sigma in steps."""
    from scipy.special import ndtr  # takes a while

    reach = math.ceil(GAUSSIAN_REACH * sigma)
    check_length(2 * reach + 1)
    upper = (np.arange(reach + 1) + 0.5) / float(sigma)
    # From the tail inwards, where differences of small numbers are exact.
    half = ndtr(-(upper - 1 / float(sigma))) - ndtr(-upper)
    mass = half[0] + 2 * half[1:].sum()
    weights = np.floor(half / mass * TOTAL).astype(np.int64)
    weights[0] = TOTAL - 2 * int(weights[1:].sum())
    return np.concatenate([weights[:0:-1], weights])


@lru_cache(maxsize=64)
def laplace_weights(cells: int, epsilon: Fraction) -> Integers:
    """Discrete Laplace noise on -(cells - 1) .. cells - 1 for numbers 0 .. cells - 1 that are clamped afterwards.

    The two ends hold all that lies beyond them. With p[n] the weight at distance n and t[n] that of all distances of
    at least n to one side, the clamped sum is epsilon-locally private if every p[n] / p[n + 1] and t[n] / t[n + 1] lies
    within e^(epsilon / (cells - 1)): an outcome inside has weight p[|outcome - value|], an outcome at an end has t of
    its distance, and two values are at most cells - 1 steps apart. Both are checked here on the whole numbers, against
    a rational bound from below. Rounding is made good by a rate lowered until they hold.
    """
    check_local_epsilon(epsilon)
    last = cells - 1
    check_length(2 * last + 1)
    if last == 0:
        return np.array([TOTAL], dtype=np.int64)
    bound = exp_below(epsilon / last)
    # A rate lowered by this share makes good what rounding the least weight can do to a ratio; a first guess.
    least = float(epsilon / last) / 4 * math.exp(-float(epsilon)) * TOTAL
    guess = (16 / least + 2**-48) / float(epsilon / last)
    for bits in range(min(40, math.floor(-math.log2(guess))), 0, -1):
        rate = float(epsilon / last * (1 - Fraction(1, 2**bits)))
        weights = _laplace_half(last, rate)
        if _within(weights, bound):
            return np.concatenate([weights[:0:-1], weights])
    raise InputError(
        f"Laplace noise over {cells:,} cells at epsilon {budget_text(epsilon)} does not fit exact weights. Give a "
        "larger step."
    )


def _laplace_half(last: int, rate: float) -> Integers:
    """Rounded weights by distance. What rounding leaves over goes where it matters least: to the heaviest."""
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
    """Whether neighbouring weights by distance, and neighbouring tails, are within the bound, in exact arithmetic."""
    inner = weights[:-1].astype(object)
    tails = np.cumsum(weights[::-1].astype(object))[::-1]
    for numbers in (inner, tails):
        left, right = numbers[:-1] * bound.denominator, numbers[1:] * bound.denominator
        if (left > numbers[1:] * bound.numerator).any() or (right > numbers[:-1] * bound.numerator).any():
            return False
    return bool((weights > 0).all())


def response_weights(size: int, epsilon: Fraction) -> tuple[int, int]:
    """k-ary randomized response (Kairouz, Oh & Viswanath 2014): the weights of the truth and of each other value.

    The truth may be at most e^epsilon times as likely as another value: `truth <= bound * other` in whole numbers.
    """
    check_local_epsilon(epsilon)
    if size == 1:
        return TOTAL, 0
    other = math.ceil(TOTAL / (exp_below(epsilon) + size - 1))
    truth = TOTAL - (size - 1) * other
    assert 0 < truth <= exp_below(epsilon) * other
    return truth, other


def retain_weights(size: int, probability: Fraction) -> tuple[int, int]:
    """The truth with the given probability (rounded down), else one of the others evenly."""
    if size == 1:
        return TOTAL, 0
    other = math.ceil(TOTAL * (1 - probability) / (size - 1))
    return TOTAL - (size - 1) * other, other


def response_epsilon(truth: int, other: int) -> Fraction:
    """The least epsilon in millionths, up to 16, whose bound covers a response's odds truth : other."""
    low, high = 0, int(LARGEST_LOCAL_EPSILON) * 10**6
    odds = Fraction(max(truth, other), max(min(truth, other), 1))
    if odds > exp_below(LARGEST_LOCAL_EPSILON):
        raise InputError(f"Retaining a value with odds of {float(odds):.3g} promises nothing. Retain it less often.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exp_below(Fraction(middle, 10**6)) >= odds else (middle, high)
    return Fraction(high, 10**6)


def check_local_epsilon(epsilon: Fraction) -> None:
    if not 0 < epsilon <= LARGEST_LOCAL_EPSILON:
        raise InputError(
            f"A local epsilon of {budget_text(epsilon)} for one attribute is beyond {LARGEST_LOCAL_EPSILON}, which "
            "promises nothing. Spend less on it, or tell the truth and say so."
        )


def shares(weights: Integers) -> npt.NDArray[np.float64]:
    """Weights as probabilities."""
    return weights / TOTAL
