"""A smoothing step for the iteration of Equation 3: EMS (Silverman, Jones, Wilson & Nychka 1990).

Late steps of the plain iteration overfit the sampling error with spikes, and early steps underfit, so the result
depends on when it stops. With a little smoothing after each step the iteration converges: features that the data
support are restored by the next step, others are smoothed away.

The amount depends on the number of rows only: a step smooths with a standard deviation of 0.055 of the range, divided
by the fourth root of the number of rows. The constant comes from `benchmarks/perturb.py smoothing`: four shapes, four
kinds of noise, a thousand to a million rows.

Smoothing would hide a single value that many people share. The smoothed estimate is therefore tested: if the report
distribution it implies differs from the observed one by a chi-square test, the plain iteration is used instead.
"""

import math
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from scumble.mining.reconstruction.iteration import STOP_SHARE, IntervalPartition, reconstruct_shares
from scumble.model.counts import Floats, Integers

WIDTH = 0.055
SMOOTHED_STOP_SHARE = 1e-3 * STOP_SHARE
"""The stopping difference as a share of the chi-square threshold. With smoothing the iteration may converge."""
JUDGED_ROWS = 100_000
"""The stopping difference is computed as if there were this many rows, so that more rows do not need more steps."""
MOST_ROWS = 1_000_000
"""More rows than this count as this many, for the smoothing, the test and the plain iteration: what they could show is
finer than an interval."""
FIT_CONFIDENCE = 0.999
FEWEST_EXPECTED = 5
"""Bins with a smaller expected count are left out of the chi-square test, which is not valid for them."""
FASTEST = 0.25
"""Largest share of the difference between neighbours that a step removes; above one half it would oscillate."""


def smoother(intervals: Integers, rows: float, width: float = WIDTH) -> Floats:
    """The matrix of one smoothing step: shape (intervals, intervals). Columns sum to one; it keeps a uniform density.

    >>> smoother(np.array([0, 1, 2, 3]), 10**12).round(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    widths = np.diff(intervals).astype(np.float64)
    variance = (width * widths.sum()) ** 2 / math.sqrt(max(rows, 1.0))
    distances = (widths[:-1] + widths[1:]) / 2
    # Diffusion: the flow between neighbours is proportional to the difference of their densities.
    flow = np.minimum(variance / (2 * distances**2), FASTEST) * np.minimum(widths[:-1], widths[1:])
    matrix = np.eye(len(widths))
    for place, amount in enumerate(flow.tolist()):
        left, right = amount / widths[place], amount / widths[place + 1]
        matrix[place, place] -= left
        matrix[place + 1, place] += left
        matrix[place + 1, place + 1] -= right
        matrix[place, place + 1] += right
    return matrix


class Rule(StrEnum):
    """How the distribution of one attribute is reconstructed."""

    SMOOTHED = "smoothed"
    """With a smoothing step, if the result fits the observed counts."""
    PAPER = "paper"
    """Equation 3 with the stopping rule of the paper."""


def reconstruct_by_rule(
    counts: npt.NDArray[np.number], part: IntervalPartition, rule: Rule, kernel: Floats | None = None
) -> Floats:
    """The reconstructed shares of the intervals, from one table of counts by bin.

    A `kernel` other than that of the partition describes bins and intervals that are each divided by class. Only
    additive noise is smoothed: categories have no neighbours, and reported intervals are already exact.
    """
    matrix = part.kernel if kernel is None else kernel
    if rule is Rule.PAPER or not part.additive:
        return reconstruct_shares(counts, matrix).shares
    further, rows = matrix.shape[1] // part.size, float(np.sum(counts))
    smoothing: Floats = np.kron(smoother(part.intervals, min(rows, MOST_ROWS)), np.eye(further)).astype(np.float64)
    judged = counts * (JUDGED_ROWS / max(rows, 1.0))
    smooth = reconstruct_shares(judged, matrix, stop_share=SMOOTHED_STOP_SHARE, smoother=smoothing).shares
    limited = counts * min(1.0, MOST_ROWS / max(rows, 1.0))
    return smooth if fits(smooth, limited, matrix) else reconstruct_shares(limited, matrix).shares


def fits(shares: Floats, counts: npt.NDArray[np.number], kernel: Floats) -> bool:
    """Whether the counts agree with the shares up to sampling error, by a chi-square test.

    A good fit says little about the accuracy of an estimate (section 3 of the paper), but a bad fit refutes it.
    """
    expected = kernel @ shares * np.sum(counts)
    enough = expected >= FEWEST_EXPECTED
    distance = ((counts - expected)[enough] ** 2 / expected[enough]).sum()
    return bool(distance <= chi2.ppf(FIT_CONFIDENCE, max(int(enough.sum()), 1)))
