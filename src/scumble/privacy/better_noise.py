"""Which noise is smaller for a number of tables: Laplace under pure epsilon, or Gaussian under epsilon and delta.

If k tables are measured at once, Laplace noise grows with k and Gaussian noise with the root of k. From some number of
tables on, Gaussian noise is smaller, at the price of a delta that epsilon does not cover. Only public facts are used.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from scumble.model.budget import budget_text, delta_text
from scumble.model.guarantee import ApproxDP, PureDP, Unit
from scumble.model.spend import priced
from scumble.privacy.price import Price
from scumble.privacy.query import Sensitivity

USUAL_DELTA = Fraction(1, 10**9)
"""The delta of the comparison if none is given: below one in the number of people of any country."""
MOST_TABLES = 10**6


@dataclass(frozen=True, kw_only=True)
class NoiseComparison:
    """The standard deviation of the noise of each count if `tables` tables share a budget equally."""

    tables: int
    epsilon: Fraction
    delta: Fraction
    unit: Unit
    laplace: float
    gaussian: float

    @property
    def gaussian_is_better(self) -> bool:
        """Whether Gaussian noise is smaller."""
        return self.gaussian < self.laplace

    @property
    def from_tables(self) -> int:
        """The smallest number of tables for which Gaussian noise is smaller."""
        low, high = 0, 1
        while not better_noise(high, epsilon=self.epsilon, delta=self.delta, unit=self.unit).gaussian_is_better:
            low, high = high, 2 * high
            if high > MOST_TABLES:
                return MOST_TABLES
        while high - low > 1:
            middle = (low + high) // 2
            better = better_noise(middle, epsilon=self.epsilon, delta=self.delta, unit=self.unit).gaussian_is_better
            low, high = (low, middle) if better else (middle, high)
        return high

    def note(self, *, approximate: bool) -> str:
        """A note for a plan that is `approximate` or pure: which guarantee has less noise for as many tables."""
        smaller, larger = sorted((self.laplace, self.gaussian))
        difference = f"{100 * (1 - smaller / larger):.0f} %" if larger else "no"
        tables = "1 table" if self.tables == 1 else f"{self.tables} tables"
        kinds = (f"Gaussian noise under delta {delta_text(self.delta)}", "pure epsilon")
        which, other = kinds if self.gaussian_is_better else reversed(kinds)
        epsilon = budget_text(self.epsilon)
        advice = f"For {tables} at epsilon {epsilon}, {which} has {difference} less noise than {other}"
        turn = f"Gaussian noise is smaller from {self.from_tables} tables on"
        if approximate == self.gaussian_is_better:
            return f"{advice}; {turn}."
        if approximate:
            return f"{advice} and is the stronger guarantee: leave out --delta. {turn}."
        return f"{advice}, if a delta is acceptable: --delta {delta_text(self.delta)}. {turn}."


def better_noise(
    tables: int, *, epsilon: Fraction, delta: Fraction | None = None, unit: Unit = Unit.ADD_REMOVE
) -> NoiseComparison:
    """Compare the two kinds of noise for tables that each count every record once.

    >>> one = Fraction(1)
    >>> better_noise(40, epsilon=one).gaussian_is_better, better_noise(5, epsilon=one).gaussian_is_better
    (True, False)
    >>> better_noise(1, epsilon=one).from_tables, better_noise(1, epsilon=one, delta=Fraction(1, 10**5)).from_tables
    (17, 9)
    """
    delta = USUAL_DELTA if delta is None else delta
    changes = tables * (1 if unit is Unit.ADD_REMOVE else 2)
    sensitivity = Sensitivity(bound=changes, squared=changes)
    laplace, gaussian = (
        sqrt(Price.of(priced(guarantee, label="tables", share=Fraction(1)), unit).variance(sensitivity))
        for guarantee in (
            PureDP(epsilon=epsilon, unit=unit),
            ApproxDP(epsilon=epsilon, delta=delta, unit=unit),
        )
    )
    return NoiseComparison(tables=tables, epsilon=epsilon, delta=delta, unit=unit, laplace=laplace, gaussian=gaussian)
