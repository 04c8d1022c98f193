"""One-sided t-tests of means of runs, with the power that they had: for claims that one point lies above another."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean, variance

from scipy.stats import nct
from scipy.stats import t as student

LEVEL = 0.01
"""The probability of accepting that one mean is above another when the two are equal."""
EFFECT = 2.0
"""The difference in points for which the power is stated."""
ENOUGH_POWER = 0.8
"""A test with less power than this refutes nothing."""


@dataclass(frozen=True, kw_only=True)
class MeanAbove:
    """How far one mean lies above another, its standard error, the p-value, and the power at a difference of `EFFECT`.

    With a single run there is no standard error: nothing is accepted or refuted.
    """

    difference: float
    error: float
    p_value: float
    power: float

    @property
    def verdict(self) -> bool | None:
        """True if the mean is above, False if a difference of `EFFECT` would have been seen, None if neither."""
        if self.p_value < LEVEL:
            return True
        return False if self.power >= ENOUGH_POWER else None

    @property
    def text(self) -> str:
        if self.error == inf:
            return f"{self.difference:+.2f}, one run"
        p_value = "p < 0.0001" if self.p_value < 1e-4 else f"p = {self.p_value:.4f}"
        return f"{self.difference:+.2f} ± {self.error:.2f}, {p_value}; power for {EFFECT:g} points: {self.power:.2f}"


def mean_above(values: Sequence[float], others: Sequence[float]) -> MeanAbove:
    """Welch's test that the mean of independent runs is above that of others. A single other value is exact."""
    difference = fmean(values) - fmean(others)
    parts = [(variance(each) / len(each), len(each) - 1) for each in (values, others) if len(each) > 1]
    squared = sum(part for part, _ in parts)
    if len(values) < 2 or squared == 0:
        return MeanAbove(difference=difference, error=inf, p_value=1.0, power=0.0)
    freedom = squared**2 / sum(part**2 / degrees for part, degrees in parts)
    error = sqrt(squared)
    return MeanAbove(
        difference=difference,
        error=error,
        p_value=float(student.sf(difference / error, freedom)),
        power=float(nct.sf(student.isf(LEVEL, freedom), freedom, EFFECT / error)),
    )
