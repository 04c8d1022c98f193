"""Tests of paired differences: one-sided against a margin, with Holm's correction for many tests.

Differences are paired by split. The splits of a table overlap, so their differences are not quite independent and the
tests reject somewhat too often. That is the safe side here: a method is called behind too early rather than too late.
"""

from collections.abc import Sequence
from statistics import fmean, stdev

from scipy.stats import t as student

MARGIN = 0.003
"""Differences up to 0.3 points (of accuracy, balanced accuracy or AUC) do not count."""
LEVEL = 0.05
WORSE = 2
"""How many standard errors a difference may be below zero before it counts as worse."""


def probability_behind(differences: Sequence[float], margin: float = MARGIN) -> float:
    """The p-value of Student's one-sided test that the mean difference is at least `-margin`.

    A small value means: significantly behind by more than the margin. Without two values there is no evidence.
    """
    if len(differences) < 2:
        return 1.0
    excess, error = fmean(differences) + margin, stdev(differences) / len(differences) ** 0.5
    if error == 0:
        return 0.0 if excess < 0 else 1.0
    return float(student.cdf(excess / error, len(differences) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: those below a level are rejected, with that family-wise error rate.

    The smallest is multiplied by the number of tests, the next by one less, and so on; none is below a smaller one's.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def worse(differences: Sequence[float]) -> bool:
    """Whether the mean difference is more than two standard errors below zero."""
    if len(differences) < 2:
        return False
    return fmean(differences) < -WORSE * stdev(differences) / len(differences) ** 0.5
