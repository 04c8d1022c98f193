"""From frequencies to a lower bound on epsilon, and how small a violation such a bound would still see.

If neighbouring tables give an event with probabilities p and q, every epsilon that is truly kept is at least ln(p / q).
Clopper and Pearson's exact limits for p from below and for q from above, each wrong with half of `alpha`, bound that
ratio from below: the bound exceeds the truth with probability at most alpha, whatever the two probabilities are.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, betaincinv, gammaln

from scumble.model.counts import Floats

FAR = 30.0
"""Violations larger than this are all the same to a reader: whoever looks has the record."""


def lowest_probability(hits: npt.ArrayLike, runs: int, alpha: float) -> Floats:
    """Clopper and Pearson's lower limit: below it, so many hits would be seen with probability at most alpha."""
    seen = np.asarray(hits, dtype=np.float64)
    return np.where(seen > 0, betaincinv(np.maximum(seen, 1), runs - seen + 1, alpha), 0.0)


def highest_probability(hits: npt.ArrayLike, runs: int, alpha: float) -> Floats:
    """The upper limit, the mirror image of the lower one."""
    return 1 - lowest_probability(runs - np.asarray(hits, dtype=np.float64), runs, alpha)


def epsilon_bounds(likely: npt.ArrayLike, unlikely: npt.ArrayLike, runs: tuple[int, int], alpha: float) -> Floats:
    """Lower bounds on epsilon, none below zero, from hits on the likelier and on the other table."""
    low = lowest_probability(likely, runs[0], alpha / 2)
    high = highest_probability(unlikely, runs[1], alpha / 2)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(low) - np.log(high), 0.0)


@dataclass(frozen=True, kw_only=True)
class Confidence:
    """One error rate for a whole family of claims: that any true one is called false."""

    level: Fraction = Fraction(999, 1000)
    claims: int = 1

    @property
    def alpha(self) -> float:
        """The share of the error rate that each claim has."""
        return float((1 - self.level) / self.claims)


def smallest_violation(*, declared: float, frequency: float, runs: int, alpha: float, power: float = 0.99) -> float:
    """The smallest true loss that a bound from so many runs would find above `declared` with probability `power`.

    `frequency` is how often the event happens on the likelier table; on the other it is e^-loss as frequent.
    """
    below, above = declared, declared + FAR
    if frequency <= 0 or chance_to_find(declared, frequency, above, runs, alpha) < power:
        return math.inf
    while above - below > 1e-4:
        middle = (below + above) / 2
        if chance_to_find(declared, frequency, middle, runs, alpha) < power:
            below = middle
        else:
            above = middle
    return above


def chance_to_find(declared: float, frequency: float, loss: float, runs: int, alpha: float) -> float:
    """How probably a bound finds more than declared, where the event shows so much loss.

    Exactly: the sum over the hits on one table of their probability times that of few enough on the other.
    """
    other = frequency * math.exp(-loss)
    hits = _within_reach(frequency, runs)
    needed = lowest_probability(hits, runs, alpha / 2) * math.exp(-declared)
    candidates = _within_reach(other, runs)
    most = np.searchsorted(highest_probability(candidates, runs, alpha / 2), needed, side="left")
    enough = np.where(most > 0, bdtr(candidates[np.maximum(most - 1, 0)], runs, other), 0.0)
    return float((_binomial(hits, runs, frequency) * enough).sum())


def _within_reach(probability: float, runs: int) -> Floats:
    """The numbers of hits within nine standard deviations."""
    reach = 9 * math.sqrt(runs * probability * (1 - probability)) + 9
    low, high = max(0, math.floor(runs * probability - reach)), min(runs, math.ceil(runs * probability + reach))
    return np.arange(low, high + 1, dtype=np.float64)


def _binomial(hits: Floats, runs: int, probability: float) -> Floats:
    if probability >= 1:
        return np.where(hits == runs, 1.0, 0.0)
    choose = gammaln(runs + 1) - gammaln(hits + 1) - gammaln(runs - hits + 1)
    return np.exp(choose + hits * math.log(probability) + (runs - hits) * math.log1p(-probability))
