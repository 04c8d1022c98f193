"""Public offsets of scores: the candidates' log-weights as integers, the same at every party."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from scumble.model.counts import Integers

FINEST_SCALE = 2**8
"""If candidates have weights, scores are multiplied by a power of two until the noise scale is at least this. Rounding
a weight to an integer then changes it by at most 1/512 of the noise scale."""
WEIGHT_STEPS = 2**24
"""Log-weights are rounded to multiples of 2^-24 before exact arithmetic, so that parties whose logarithms differ in the
last digits use the same offsets."""


def score_offsets(weights: Sequence[float] | None, scale: Fraction, size: int) -> tuple[int, Integers]:
    """The number of bits by which scores are shifted left, and the candidates' log-weights in these finer units.

    A log-weight w counts as much as w noise scales of score. Adding the same number to all weights does not change the
    choice, so the smallest offset is zero.
    """
    canonical = [round(Fraction(weight) * WEIGHT_STEPS) for weight in weights or ()]
    if len(set(canonical)) <= 1:
        return 0, np.zeros(size, dtype=np.int64)
    finer = 0
    while scale * 2**finer < FINEST_SCALE:
        finer += 1
    lowest = min(canonical)
    steps = {weight: round((weight - lowest) * scale * 2**finer / WEIGHT_STEPS) for weight in set(canonical)}
    return finer, np.array([steps[weight] for weight in canonical], dtype=np.int64)
