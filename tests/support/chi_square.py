"""A chi-square test with a stated error rate: correct probabilities are rejected once in a million runs (ALPHA)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import chi2

ALPHA = 1e-6


def chi_square_rejects(observed: Mapping[Any, int], expected: Mapping[Any, float], *, alpha: float = ALPHA) -> bool:
    """Whether counts of outcomes contradict their probabilities. Outcomes expected fewer than five times are merged."""
    runs = sum(observed.values())
    outcomes = set(observed) | set(expected)
    pairs = sorted((runs * expected.get(outcome, 0.0), observed.get(outcome, 0)) for outcome in outcomes)
    groups: list[list[float]] = [[0.0, 0.0]]
    for wanted, seen in pairs:
        if groups[-1][0] >= 5:
            groups.append([0.0, 0.0])
        groups[-1][0] += wanted
        groups[-1][1] += seen
    if groups[-1][0] < 5 and len(groups) > 1:
        last = groups.pop()
        groups[-1] = [groups[-1][0] + last[0], groups[-1][1] + last[1]]
    wanted, seen = np.array(groups).T
    if (wanted == 0).any():
        return bool((seen[wanted == 0] > 0).any())
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    return bool(chi2.sf(statistic, max(len(groups) - 1, 1)) < alpha)
