"""How the budget is divided, and how many tables of how many bins are measured: from the number of records and epsilon.

Everything follows from the *information*: the number of records divided by the standard deviation that the noise of a
count has if the whole budget pays for one table of each attribute. Every number here was chosen by results on generated
tables that settle defaults (`scumble.comparison.recipes`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, log

RECORDS_SHARE = Fraction(1, 50)
"""The share of the budget that counts the records, if their number is not public."""
FEW, MANY = 250.0, 1000.0
"""With less information than the first number, values get `VALUES_IF_FEW` of the budget, with more than the second
`VALUES_IF_MANY`: without good values, no link between attributes is worth its price."""
VALUES_IF_FEW, VALUES_IF_MANY = Fraction(7, 10), Fraction(1, 2)
CHOICES_SHARE = Fraction(3, 10)
"""The share of the choices in what is left for a round of choices and tables."""
TABLES_A_ROUND = 7
FEWEST_PAIRS, MOST_PAIR_NOISE = 3, 0.08
"""As many pairs are planned as keep the total variation distance that noise alone gives a pair of attributes in
`FEWEST_BINS` bins each below this."""
LARGEST_CLIQUE = 20_000
"""The public limit of entries of a clique, which bounds time and memory."""
MOST_FOR_BINS = Fraction(1, 4)
FEWEST_BINS, MOST_BINS = 3, 20
NOISE_LIMIT = 0.25
"""Attributes have as many bins as keep the total variation distance that noise alone gives a pair below this."""
HANDICAP = 0.25
"""A table must differ from the model by so many times the absolute noise that it would get: fitting removes a part of
the noise, and none of a difference."""
NO_FALSE_TABLE = 0.0
"""Choosing no table has a head start over all candidates by this many noise scales, on top of the logarithm of their
number."""


@dataclass(frozen=True, kw_only=True)
class ExploreSettings:
    """What is measured after the values."""

    values_share: Fraction
    pairs: int
    """The largest number of pairs that connect attributes into a forest."""
    rounds: int
    """How many rounds of further tables follow."""

    @property
    def class_pairs(self) -> int:
        """How many of the pairs contain the class at least, if there is one: half of them, but no more than three. With
        a single one, the class would depend on one attribute only, and on all others through it."""
        return min(max((self.pairs + 1) // 2, 1), 3)

    @property
    def pairs_share(self) -> Fraction:
        """The share of the pairs among all tables."""
        return Fraction(self.pairs, self.pairs + TABLES_A_ROUND * self.rounds)

    def bins_share(self, finer: float) -> Fraction:
        """The share of counts of bins inside ranges in what is left for tables, if a part of the attributes has some:
        each gets half of what the values of an attribute have got."""
        if not finer:
            return Fraction(0)
        wanted = self.values_share / (1 - self.values_share) * Fraction(round(1000 * finer), 2000)
        return min(max(wanted, Fraction(1, 1000)), MOST_FOR_BINS)


def explore_settings(
    attributes: int, information: float, pair_noise: Callable[[int, Fraction], float]
) -> ExploreSettings:
    """What is measured. `pair_noise` is the standard deviation of the noise, in parts of all records, if so many tables
    get a share of the budget."""
    share = (1 - _values_share(information)) * (1 - CHOICES_SHARE)
    noise = 0.4 * FEWEST_BINS**2
    within = (pairs for pairs in range(attributes - 1, 0, -1) if noise * pair_noise(pairs, share) <= MOST_PAIR_NOISE)
    pairs = min(max(next(within, 0), FEWEST_PAIRS), attributes - 1)
    rounds = 0
    if information >= FEW:
        rounds = max(round(attributes / TABLES_A_ROUND), 1) if attributes > 2 else 0
    return ExploreSettings(values_share=_values_share(information), pairs=pairs, rounds=min(rounds, 4))


def _values_share(information: float) -> Fraction:
    between = log(min(max(information, FEW), MANY) / FEW) / log(MANY / FEW)
    return VALUES_IF_FEW + Fraction(round(between * 100), 100) * (VALUES_IF_MANY - VALUES_IF_FEW)


def bins_of_pairs(records: float, deviation: float) -> int:
    """How many bins an attribute has in tables whose counts have noise of this standard deviation."""
    cells = int(NOISE_LIMIT * 2 * max(records, 0.0) / (0.8 * deviation))
    return min(max(isqrt(cells), FEWEST_BINS), MOST_BINS)
