"""OpenDP's measurements, each with the smallest noise scale within a budget.

Budgets are exact fractions everywhere else. Here they become the floats that OpenDP takes: a scale is rounded up until
OpenDP's own privacy map lies within the budget.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_laplace, make_noisy_max
from opendp.measures import max_divergence, zero_concentrated_divergence
from opendp.metrics import l1_distance, linf_distance
from opendp.mod import Measurement, enable_features  # not its `prelude`, which imports scikit-learn and polars

from scumble.errors import BudgetError
from scumble.privacy.noise import Selection, laplace_scale, selection_scale

enable_features("contrib")


@lru_cache(maxsize=64)
def laplace(sensitivity: int, epsilon: Fraction) -> Measurement:
    """Discrete Laplace noise: vectors within `sensitivity` in L1 give every output with probabilities within a factor
    e^epsilon."""
    space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")

    def make(scale: float) -> Measurement:
        return make_laplace(*space, scale=scale)

    return _within(make, laplace_scale(sensitivity=sensitivity, epsilon=epsilon), sensitivity, epsilon)


@lru_cache(maxsize=64)
def selection(sensitivity: int, monotone: bool, epsilon: Fraction, law: Selection) -> Measurement:
    """A private choice of the index of a high score. Each score moves by at most `sensitivity`, all in one direction
    where `monotone`."""
    space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64", monotonic=monotone)
    scale = selection_scale(sensitivity=sensitivity, monotone=monotone, epsilon=epsilon)
    if law is Selection.PERMUTE_AND_FLIP:
        return _within(lambda scale: make_noisy_max(*space, max_divergence(), scale=scale), scale, sensitivity, epsilon)
    # OpenDP accounts for its Gumbel form as epsilon^2 / 8 of concentrated privacy, epsilon being the pure loss of the
    # exponential mechanism (Cesar & Rogers 2021), so the pure bound is within budget when that one is.
    return _within(
        lambda scale: make_noisy_max(*space, zero_concentrated_divergence(), scale=scale),
        scale,
        sensitivity,
        epsilon**2 / 8,
    )


def _within(make: Callable[[float], Measurement], scale: Fraction, sensitivity: int, budget: Fraction) -> Measurement:
    """The measurement with the smallest float scale at or above `scale` whose privacy map is within the budget."""
    candidate = float(scale)
    if not math.isfinite(candidate):
        raise BudgetError(f"A noise scale of {scale} is beyond the range of floats. Spend more on fewer answers.")
    if Fraction(candidate) < scale:
        candidate = math.nextafter(candidate, math.inf)
    for _ in range(64):
        measurement = make(candidate)
        if Fraction(measurement.map(sensitivity)) <= budget:
            return measurement
        candidate = math.nextafter(candidate, math.inf)
    raise BudgetError("OpenDP's privacy map does not come within the budget. This is a bug; please report it.")
