"""The lower bound on epsilon from the frequencies of an event, and the power of that bound.

If an event has probability p on one table and q on a neighbouring one, the true epsilon is at least ln(p / q). The
bound takes Clopper and Pearson's exact lower confidence limit for p and their upper limit for q. Each limit is wrong
with probability at most `alpha` / 2, so the bound exceeds the true epsilon with probability at most `alpha`. If a delta
is declared, the true epsilon for that delta is at least ln((p - delta) / q).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, betaincinv, gammaln

from scumble.model.counts import Floats

LARGEST_EXCESS = 30.0
"""If an epsilon that exceeds the declared one by this much would not be detected, the power is given as infinite."""


def lowest_probability(hits: npt.ArrayLike, runs: int, alpha: float) -> Floats:
    """Clopper and Pearson's lower limit: a smaller probability gives this many hits with probability at most alpha."""
    seen = np.asarray(hits, dtype=np.float64)
    return np.where(seen > 0, betaincinv(np.maximum(seen, 1), runs - seen + 1, alpha), 0.0)


def highest_probability(hits: npt.ArrayLike, runs: int, alpha: float) -> Floats:
    """Clopper and Pearson's upper limit, by symmetry."""
    return 1 - lowest_probability(runs - np.asarray(hits, dtype=np.float64), runs, alpha)


def epsilon_bounds(
    likely: npt.ArrayLike, unlikely: npt.ArrayLike, runs: tuple[int, int], alpha: float, delta: float = 0.0
) -> Floats:
    """Lower bounds on epsilon, at least zero, from the hits on the likelier table and on the other one."""
    low = np.maximum(lowest_probability(likely, runs[0], alpha / 2) - delta, 0.0)
    high = highest_probability(unlikely, runs[1], alpha / 2)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(low) - np.log(high), 0.0)


@dataclass(frozen=True, kw_only=True)
class Confidence:
    """A confidence level for several audits: with this probability, none of their bounds exceeds the true epsilon."""

    level: Fraction = Fraction(999, 1000)
    claims: int = 1

    @property
    def alpha(self) -> float:
        """The error rate of each audit, by Bonferroni's correction."""
        return float((1 - self.level) / self.claims)


def smallest_violation(
    *, declared: float, frequency: float, runs: int, alpha: float, power: float = 0.99, delta: float = 0.0
) -> float:
    """The smallest privacy loss for which the bound exceeds `declared` with probability `power`.

    `frequency` is the probability of the event on the likelier table. On the other table it is e^-loss times that.
    """
    below, above = declared, declared + LARGEST_EXCESS
    if frequency <= 0 or detection_probability(declared, frequency, above, runs, alpha, delta) < power:
        return math.inf
    while above - below > 1e-4:
        middle = (below + above) / 2
        if detection_probability(declared, frequency, middle, runs, alpha, delta) < power:
            below = middle
        else:
            above = middle
    return above


def detection_probability(
    declared: float, frequency: float, loss: float, runs: int, alpha: float, delta: float = 0.0
) -> float:
    """The probability that the bound exceeds `declared`, for an event with the given loss.

    Computed exactly, up to a tail of nine standard deviations: it sums, over the hits on the likelier table, their
    probability times the probability of few enough hits on the other table.
    """
    other = frequency * math.exp(-loss)
    hits = _plausible_hits(frequency, runs)
    needed = np.maximum(lowest_probability(hits, runs, alpha / 2) - delta, 0.0) * math.exp(-declared)
    candidates = _plausible_hits(other, runs)
    most = np.searchsorted(highest_probability(candidates, runs, alpha / 2), needed, side="left")
    enough = np.where(most > 0, bdtr(candidates[np.maximum(most - 1, 0)], runs, other), 0.0)
    return float((_binomial(hits, runs, frequency) * enough).sum())


def _plausible_hits(probability: float, runs: int) -> Floats:
    """The numbers of hits within nine standard deviations of the mean."""
    reach = 9 * math.sqrt(runs * probability * (1 - probability)) + 9
    low, high = max(0, math.floor(runs * probability - reach)), min(runs, math.ceil(runs * probability + reach))
    return np.arange(low, high + 1, dtype=np.float64)


def _binomial(hits: Floats, runs: int, probability: float) -> Floats:
    if probability >= 1:
        return np.where(hits == runs, 1.0, 0.0)
    choose = gammaln(runs + 1) - gammaln(hits + 1) - gammaln(runs - hits + 1)
    return np.exp(choose + hits * math.log(probability) + (runs - hits) * math.log1p(-probability))
