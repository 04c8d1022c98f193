"""A smoothing step for the iteration of Equation 3: EMS (Silverman, Jones, Wilson & Nychka 1990).

Late steps of the plain iteration fit the noise of the sample with spikes, and early ones have not found the shape yet,
so where to stop decides what is seen. A little smoothing after each step settles it: what the data speak for grows
again in the next step, and what they do not is smoothed away.

How much is decided by the number of rows alone: a step smooths with a standard deviation of 0.055 of the range, divided
by the fourth root of the rows. `benchmarks/perturb.py smoothing` is how the number was found: four shapes under four
noises, a thousand to a million rows.

Where many people share one value, smoothing would hide it. Blurred again, the smoothed estimate then no longer looks
like what is observed, which a chi-square test sees, and the plain iteration is taken.
"""

import math
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from scumble.mining.reconstruction.iteration import STOP_SHARE, Floats, Partition, reconstruct
from scumble.model.counts import Integers

WIDTH = 0.055
SMOOTHED_STOP_SHARE = 1e-3 * STOP_SHARE
"""Of the chi-square test's threshold. With smoothing late steps do no harm, so the iteration may come to rest."""
JUDGED_ROWS = 100_000
"""The stop is judged as if there were so many rows, so that it takes no more steps for having more of them."""
MOST_ROWS = 1_000_000
"""More rows are smoothed no less, and neither test nor plain iteration takes them for more: what they could show is
finer than an interval."""
FIT_CONFIDENCE = 0.999
FEWEST_EXPECTED = 5
"""In a bin with fewer, the test's sum is not distributed as it should be; such bins are left out."""
FASTEST = 0.25
"""Of the difference between neighbours, how much a step takes away at most; above a half it would overshoot."""


def smoother(intervals: Integers, rows: float, width: float = WIDTH) -> Floats:
    """The matrix of one smoothing: shape (intervals, intervals), columns that add up to one, an even density unchanged.

    >>> smoother(np.array([0, 1, 2, 3]), 10**12).round(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    widths = np.diff(intervals).astype(np.float64)
    variance = (width * widths.sum()) ** 2 / math.sqrt(max(rows, 1.0))
    distances = (widths[:-1] + widths[1:]) / 2
    # What flows between neighbours is in proportion to the difference of their densities.
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
    """How the distribution of one attribute is rebuilt."""

    SMOOTHED = "smoothed"
    """With a smoothing step, where what comes of it explains the observed counts."""
    PAPER = "paper"
    """Equation 3 and the stop of the paper, nothing else."""


def rebuild(counts: npt.NDArray[np.number], part: Partition, rule: Rule, kernel: Floats | None = None) -> Floats:
    """The shares of intervals behind one table of counts by bin. A `kernel` other than the partition's says that bins
    and intervals are each divided further, evenly: by classes. Where no noise was added nothing is smoothed, for
    categories have no neighbours and intervals that were told have nothing to settle."""
    chances = part.kernel if kernel is None else kernel
    if rule is Rule.PAPER or not part.additive:
        return reconstruct(counts, chances).shares
    further, rows = chances.shape[1] // part.size, float(np.sum(counts))
    matrix: Floats = np.kron(smoother(part.intervals, min(rows, MOST_ROWS)), np.eye(further)).astype(np.float64)
    judged = counts * (JUDGED_ROWS / max(rows, 1.0))
    smooth = reconstruct(judged, chances, stop_share=SMOOTHED_STOP_SHARE, smoother=matrix).shares
    held = counts * min(1.0, MOST_ROWS / max(rows, 1.0))
    return smooth if explains(smooth, held, chances) else reconstruct(held, chances).shares


def explains(shares: Floats, counts: npt.NDArray[np.number], kernel: Floats) -> bool:
    """Whether counts are as shares would have them but for chance, by a chi-square test. The paper found such a fit to
    say little about how near an estimate is; that one does not fit says that it is wrong."""
    expected = kernel @ shares * np.sum(counts)
    enough = expected >= FEWEST_EXPECTED
    distance = ((counts - expected)[enough] ** 2 / expected[enough]).sum()
    return bool(distance <= chi2.ppf(FIT_CONFIDENCE, max(int(enough.sum()), 1)))
