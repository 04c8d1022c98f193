"""All randomness, as named sources, each saying where it may be used.

- `PaidNoise`: OpenDP's exact discrete Laplace and private selection. The only source whose draws may meet private data.
- `secret_key`: bytes of the operating system's generator, for keys that stay in a ledger.
- `simulation`: a seedable generator for post-processing of what was already paid for, for made-up data and for
  experiments. Nothing that touches a private row may use it.

Budgets are exact fractions everywhere else. Here, and here alone, they become the floats OpenDP takes: a scale is
rounded up until OpenDP's own privacy map lies within the budget.
"""

import math
import secrets
from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
import opendp.prelude as dp

from scumble.errors import BudgetError
from scumble.model.counts import Integers

dp.enable_features("contrib")


class Selection(StrEnum):
    """The law of a private choice: how likely each candidate is, given the scores."""

    PERMUTE_AND_FLIP = "permute-and-flip"
    """McKenna & Sheldon 2020: never worse than the exponential mechanism in the expected score of the choice."""
    EXPONENTIAL = "exponential"
    """McSherry & Talwar 2007, in Gumbel form: probability proportional to exp(score / scale)."""


class Noise(Protocol):
    """What a holder needs of a source of noise."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        """Add discrete Laplace noise so that vectors within `sensitivity` in L1 are told apart by at most epsilon."""

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        """The index of a high score. Each score moves by at most `sensitivity`, all one way where `monotone`."""


class PaidNoise:
    """Exact noise by OpenDP, from the operating system's entropy. It cannot be seeded, on purpose."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return np.array(_laplace(sensitivity, epsilon)(values), dtype=np.int64)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        return int(_select(sensitivity, monotone, epsilon, selection)(scores))


def laplace_scale(*, sensitivity: int, epsilon: Fraction) -> Fraction:
    """The scale of discrete Laplace noise before it is rounded up to a float."""
    return sensitivity / epsilon


def selection_scale(*, sensitivity: int, monotone: bool, epsilon: Fraction) -> Fraction:
    """The scale of a selection: scores one scale apart differ by a factor e in the exponential mechanism's odds."""
    return (1 if monotone else 2) * sensitivity / epsilon


def laplace_variance(*, sensitivity: int, epsilon: Fraction) -> float:
    """The variance of discrete Laplace noise: 2a / (1 - a)^2 with a = exp(-epsilon / sensitivity)."""
    rate = float(epsilon / sensitivity)
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@lru_cache(maxsize=64)
def _laplace(sensitivity: int, epsilon: Fraction) -> dp.Measurement:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")

    def make(scale: float) -> dp.Measurement:
        return dp.m.make_laplace(*space, scale=scale)

    return _within(make, laplace_scale(sensitivity=sensitivity, epsilon=epsilon), sensitivity, epsilon)


@lru_cache(maxsize=64)
def _select(sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection) -> dp.Measurement:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=monotone)
    scale = selection_scale(sensitivity=sensitivity, monotone=monotone, epsilon=epsilon)
    if selection is Selection.PERMUTE_AND_FLIP:
        return _within(
            lambda scale: dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale), scale, sensitivity, epsilon
        )
    # OpenDP accounts for its Gumbel form as epsilon^2 / 8 of concentrated privacy, epsilon being the pure loss of the
    # exponential mechanism (Cesar & Rogers 2021), so the pure bound is within budget when that one is.
    return _within(
        lambda scale: dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale),
        scale,
        sensitivity,
        epsilon**2 / 8,
    )


def _within(
    make: Callable[[float], dp.Measurement], scale: Fraction, sensitivity: int, budget: Fraction
) -> dp.Measurement:
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


def secret_key() -> bytes:
    """Thirty-two bytes of the operating system's generator."""
    return secrets.token_bytes(32)


def simulation(seed: int | None = None) -> np.random.Generator:
    """A generator for post-processing, made-up data and experiments; never for private rows."""
    return np.random.default_rng(seed)
