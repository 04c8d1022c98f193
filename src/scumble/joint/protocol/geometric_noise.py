"""Geometric noise from coins, with thresholds so rounded that rounding costs no privacy.

A geometric number has independent binary digits: digit j is 1 with odds a^(2^j), a = exp(-rate). Coins of finitely many
bits have other odds, and it matters which. Going from k to k + 1 changes the lowest digits 1...1 and the 0 above them
into 0...0 and 1, so the two probabilities differ by the factor (o_0 o_1 ... o_(j-1)) / o_j of the digits' odds. The
thresholds below are chosen digit by digit such that this factor lies within exp(rate) and exp(-rate), for the odds as
they are and not as they should be. So neighbouring values keep the ratio that privacy needs, exactly; what is lost is
the end of the digits alone, and `CoinLaw.delta` bounds it. PROOF.md has the argument.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, prod

from scumble.errors import BudgetError

DELTA_EACH = Fraction(1, 2**80)
"""No noise value adds more than this to the delta of a release."""

PRECISION = 320
"""Bits of the exponential's upper bound, far beyond those of any coin."""


@dataclass(frozen=True, kw_only=True)
class CoinLaw:
    """How to draw a noise value from coins: digit j is 1 where coin j, even on [0, 2^coin_bits), is below threshold j.

    The value is nearly geometric, with odds exp(-rate) from each number to the next.
    """

    rate: Fraction
    coin_bits: int
    thresholds: tuple[int, ...]

    @property
    def digits(self) -> int:
        return len(self.thresholds)

    @cached_property
    def probabilities(self) -> tuple[Fraction, ...]:
        """Of each digit to be 1, lowest first."""
        return tuple(Fraction(threshold, 2**self.coin_bits) for threshold in self.thresholds)

    @property
    def last(self) -> Fraction:
        """The probability of the largest value, all digits 1."""
        return prod(self.probabilities, start=Fraction(1))

    def delta(self, shift: int) -> Fraction:
        """What one noise value adds to delta where a person moves what it hides by at most `shift`.

        Each step of one loses the largest value, and the steps before it have made that e^rate times as bad, so the sum
        over the steps is at most shift * e^(rate * shift) * last; and e < 3.
        """
        return self.last * shift * 3 ** ceil(self.rate * shift)


@lru_cache(maxsize=256)
def coin_law(rate: Fraction, shift: int) -> CoinLaw:
    """The law with the fewest bits a coin whose delta is small enough."""
    for coin_bits in range(64, 257, 8):
        law = law_of_coins(rate, coin_bits)
        if law.delta(shift) <= DELTA_EACH:
            return law
    raise BudgetError(
        f"Noise with the odds exp(-{rate}) from a number to the next takes coins of more than 256 bits. Spend less on "
        "one answer."
    )


def law_of_coins(rate: Fraction, coin_bits: int) -> CoinLaw:
    """As many digits as coins of this many bits allow, each with the smallest odds that privacy allows."""
    ratio = exponential_above(rate)
    if ratio >= 1:
        raise BudgetError(f"Noise at a rate of {rate} is beyond the precision of coins. Spend more on fewer answers.")
    below = Fraction(1)
    thresholds: list[int] = []
    while True:
        least = below * ratio
        threshold = ceil(least / (1 + least) * 2**coin_bits)
        odds = Fraction(threshold, 2**coin_bits - threshold)
        if odds * ratio > below:
            return CoinLaw(rate=rate, coin_bits=coin_bits, thresholds=tuple(thresholds))
        thresholds.append(threshold)
        below *= odds


def exponential_above(rate: Fraction) -> Fraction:
    """An upper bound of exp(-rate), close by: an alternating series cut off after a positive term, and whatever is
    rounded is rounded upwards.

    >>> float(exponential_above(Fraction(1)))
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
