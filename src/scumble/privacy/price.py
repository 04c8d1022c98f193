"""The price of one answer, and the noise that it buys: the only place that decides between the two kinds of noise.

A price in epsilon buys discrete Laplace noise and, for choices, permute-and-flip. A price in rho buys discrete Gaussian
noise and the exponential mechanism, with the epsilon for which its proved zero-concentrated loss is at most rho:

- the exponential mechanism at epsilon has bounded range epsilon and is (epsilon^2 / 8)-zCDP (Cesar & Rogers 2021);
- permute-and-flip at epsilon is epsilon-DP, hence (epsilon^2 / 2)-zCDP (Bun & Steinke 2016). For the same rho it gets
  half the epsilon, which outweighs its advantage, so it is used only where a method asks for it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from scumble.errors import BudgetError
from scumble.model.counts import Integers
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.privacy.noise import Noise, Selection, gaussian_variance, laplace_variance, selection_scale
from scumble.privacy.query import Sensitivity

ROOT_BITS = 128
"""Square roots are rounded down to multiples of 2^-128."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """The largest privacy loss of an answer, for neighbouring tables under `unit`, paid by the spend `label`.

    It is an `epsilon`, or a `rho` of zero-concentrated differential privacy.
    """

    label: str
    unit: Unit
    epsilon: Fraction = Fraction(0)
    rho: Fraction | None = None

    @classmethod
    def of(cls, spend: Spend, unit: Unit) -> "Price":
        """The price of one use of a spend in a plan with this unit.

        Under `replace` the plan counts a shared spend several times, because a changed record leaves one part and
        enters another, or the same one: two steps of add-remove. So each part must satisfy the price under add-remove.
        """
        own = Unit.ADD_REMOVE if spend.shared else unit
        return cls(label=spend.label, unit=own, epsilon=spend.epsilon, rho=spend.rho)

    @property
    def selection(self) -> Selection:
        """The better mechanism for a choice at this price."""
        return Selection.PERMUTE_AND_FLIP if self.rho is None else Selection.EXPONENTIAL

    def selection_epsilon(self, selection: Selection) -> Fraction:
        """The epsilon of a choice by a mechanism that costs no more than this price."""
        if self.rho is None:
            return self.epsilon
        return _root_below(self.rho * (8 if selection is Selection.EXPONENTIAL else 2))

    def selection_scale(self, sensitivity: Sensitivity, selection: Selection | None = None) -> Fraction:
        """The scale of a choice: scores one scale apart differ by a factor e in the exponential mechanism's odds."""
        return selection_scale(
            sensitivity=sensitivity.bound,
            monotone=self.monotone(sensitivity),
            epsilon=self.selection_epsilon(selection or self.selection),
        )

    def monotone(self, sensitivity: Sensitivity) -> bool:
        """Whether neighbouring tables change all scores in one direction."""
        return sensitivity.monotone and self.unit is Unit.ADD_REMOVE

    def noisy(self, noise: Noise, exact: Integers, sensitivity: Sensitivity) -> Integers:
        """The exact numbers with the noise of this price."""
        if self.rho is None:
            return noise.laplace(exact, sensitivity=sensitivity.bound, epsilon=self.epsilon)
        return noise.gaussian(exact, squared=sensitivity.l2_squared, rho=self.rho)

    def variance(self, sensitivity: Sensitivity) -> float:
        """The variance of the noise of each number of a measurement."""
        if self.rho is None:
            return laplace_variance(sensitivity=sensitivity.bound, epsilon=self.epsilon)
        return gaussian_variance(squared=sensitivity.l2_squared, rho=self.rho)


def _root_below(square: Fraction) -> Fraction:
    """The largest multiple of 2^-128 whose square is at most `square`."""
    root = Fraction(math.isqrt(math.floor(square * 4**ROOT_BITS)), 2**ROOT_BITS)
    if not root:
        raise BudgetError("The price of a choice is too small for any noise. Spend more on fewer answers.")
    return root
