"""OpenDP's measurements, each with the smallest noise scale within a budget.

Budgets are exact fractions everywhere else. Here they become the floats that OpenDP takes: a scale is rounded up until
OpenDP's own privacy map lies within the budget.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace, make_noisy_max
from opendp.measures import max_divergence, zero_concentrated_divergence
from opendp.metrics import l1_distance, l2_distance, linf_distance
from opendp.mod import Measurement, enable_features  # not its `prelude`, which imports scikit-learn and polars

from scumble.errors import BudgetError
from scumble.privacy.noise import Selection, gaussian_square, laplace_scale, selection_scale

enable_features("contrib")

LARGEST_SCALE = 2**60
"""A larger Gaussian scale is refused: 64-bit counts could not carry the noise."""


@lru_cache(maxsize=64)
def laplace(sensitivity: int, epsilon: Fraction) -> Measurement:
    """Discrete Laplace noise: vectors within `sensitivity` in L1 give every output with probabilities within a factor
    e^epsilon."""
    space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")

    def make(scale: float) -> Measurement:
        return make_laplace(*space, scale=scale)

    return _within(make, laplace_scale(sensitivity=sensitivity, epsilon=epsilon), sensitivity, epsilon)


@lru_cache(maxsize=64)
def gaussian(squared: int, rho: Fraction) -> Measurement:
    """Discrete Gaussian noise: rho-zCDP for vectors whose squared L2 distance is at most `squared`.

    The smallest float scale s with s^2 >= squared / (2 rho), an inequality between fractions, so that OpenDP's map and
    the distance it takes, both floats, need not be rounded again.
    """
    square = gaussian_square(squared=squared, rho=rho)
    scale = _root_above(square)
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=scale)


def _root_above(square: Fraction) -> float:
    """The smallest float whose exact square is at least `square`."""
    if square >= LARGEST_SCALE**2:
        raise BudgetError("A noise scale of 2^60 or more leaves no information. Spend more on fewer answers.")
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    while root > 0 and Fraction(math.nextafter(root, 0)) ** 2 >= square:
        root = math.nextafter(root, 0)
    return root


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
