"""Geometric noise from uniform random bits, rounded so that the rounding costs no privacy.

A geometric variable with Pr[k] proportional to a^k, a = exp(-rate), has independent binary digits: digit j is 1 with
odds a^(2^j). A digit is drawn by comparing a uniform word of finitely many random bits with a public threshold, so its
odds o_j can only approximate a^(2^j).

Privacy needs Pr[k] and Pr[k + 1] to differ by a factor of at most exp(rate). Counting up from k to k + 1 turns the
lowest digits 1...1 into 0...0 and the digit j above them from 0 to 1, so Pr[k] / Pr[k + 1] = (o_0 ... o_(j-1)) / o_j.
`law_with_precision` chooses the thresholds one digit at a time so that this ratio, computed from the rounded odds, lies
between exp(-rate) and exp(rate). Rounding therefore costs no privacy. The only loss is that the noise has a largest
value; `GeometricLaw.delta` bounds what that costs. The proof is in section 4 of `joint/PROOF.md`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, prod

from scumble.errors import BudgetError

DELTA_EACH = Fraction(1, 2**80)
"""Upper bound on what a single noise value adds to the delta of a release."""

PRECISION = 320
"""Binary digits used to bound exp(-rate); many more than any threshold has."""


@dataclass(frozen=True, kw_only=True)
class GeometricLaw:
    """The law of a noise value: digit j is 1 if a uniform word of `bits_per_digit` bits is below `thresholds[j]`.

    The digits are independent. The law approximates the geometric law with ratio exp(-rate).
    """

    rate: Fraction
    bits_per_digit: int
    thresholds: tuple[int, ...]

    @property
    def digits(self) -> int:
        return len(self.thresholds)

    @cached_property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The probability that each digit is 1, lowest digit first."""
        return tuple(Fraction(threshold, 2**self.bits_per_digit) for threshold in self.thresholds)

    @property
    def last(self) -> Fraction:
        """The probability of the largest value, all of whose digits are 1."""
        return prod(self.probabilities, start=Fraction(1))

    def delta(self, shift: int) -> Fraction:
        """Bound on what one noise value adds to delta if one record changes the noisy number by at most `shift`.

        A change by one costs `last`, the probability of the largest value. Over `shift` such steps the costs add up,
        each multiplied by e^rate for every step before it: at most shift * e^(rate * shift) * last in total. The
        bound uses 3 > e.
        """
        return self.last * shift * 3 ** ceil(self.rate * shift)


@lru_cache(maxsize=256)
def geometric_law(rate: Fraction, shift: int) -> GeometricLaw:
    """The law with the fewest bits per digit whose delta is at most `DELTA_EACH` for this shift."""
    for bits_per_digit in range(64, 257, 8):
        law = law_with_precision(rate, bits_per_digit)
        if law.delta(shift) <= DELTA_EACH:
            return law
    raise BudgetError(
        f"Geometric noise with ratio exp(-{rate}) needs more than 256 random bits per digit to keep delta small. Spend "
        "a smaller epsilon on this answer."
    )


def law_with_precision(rate: Fraction, bits_per_digit: int) -> GeometricLaw:
    """The law with as many digits as this precision allows, each with the smallest admissible threshold."""
    ratio = exponential_upper_bound(rate)
    if ratio >= 1:
        raise BudgetError(
            f"Geometric noise with ratio exp(-{rate}) is beyond the supported precision. Spend a larger epsilon on "
            "each of fewer answers."
        )
    below = Fraction(1)
    thresholds: list[int] = []
    while True:
        least = below * ratio
        threshold = ceil(least / (1 + least) * 2**bits_per_digit)
        odds = Fraction(threshold, 2**bits_per_digit - threshold)
        if odds * ratio > below:
            return GeometricLaw(rate=rate, bits_per_digit=bits_per_digit, thresholds=tuple(thresholds))
        thresholds.append(threshold)
        below *= odds


def exponential_upper_bound(rate: Fraction) -> Fraction:
    """A close upper bound of exp(-rate): its alternating series, stopped after a positive term and rounded upwards.

    >>> float(exponential_upper_bound(Fraction(1)))
    0.36787944117144233
    """
    one = 1 << PRECISION
    parts = max(1, ceil(rate))
    small = int(rate / parts * one)
    total = term_above = term_below = one
    for number in range(1, 81):
        term_above = -(-term_above * small // (number * one))
        term_below = term_below * small // (number * one)
        total += -term_below if number % 2 else term_above
    power = one
    for _ in range(parts):
        power = -(-power * total // one)
    return Fraction(power, one)
