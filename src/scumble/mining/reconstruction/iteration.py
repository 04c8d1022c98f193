"""Reconstructs a distribution from perturbed values: the iteration of Agrawal & Srikant (2000, Equation 3).

Starting from the uniform distribution, each step applies Bayes' rule to all perturbed values:

    Pr'(p) = 1/n  sum over bins s of  N(s) K(s, p) Pr(p) / sum over t of K(s, t) Pr(t)

N(s) is the number of perturbed values in bin s. The kernel K(s, p) is the probability that a value in interval p is
perturbed into bin s. Bins cover all possible reports, including those beyond the domain. With the exact kernel (the
default) this is expectation maximization for a histogram: every step increases the likelihood, and the limit is the
maximum likelihood histogram (Agrawal & Aggarwal 2001). With the midpoint kernel it is the algorithm as printed in the
paper. Discretized and categorical attributes differ only in the kernel.

All p share the denominators, so a step costs O(bins x intervals), independent of the number of rows.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from scumble.errors import InputError
from scumble.model.counts import Floats, Integers
from scumble.model.local.channel import (
    AdditiveChannel,
    Channel,
    GroupingChannel,
    ReplacementChannel,
    midpoint_transition,
    transition,
)
from scumble.model.local.randomized_attribute import RandomizedAttribute

POINTS_PER_INTERVAL = 100
FEWEST_INTERVALS = 10
MOST_INTERVALS = 100
STOP_SHARE = 0.01
STOP_CONFIDENCE = 0.95
MOST_ITERATIONS = 10_000


def number_of_intervals(rows: int) -> int:
    """The paper's rule: an average of 100 points per interval, with at least 10 and at most 100 intervals.

    >>> [number_of_intervals(rows) for rows in (0, 5_000, 10**6)]
    [10, 50, 100]
    """
    return min(max(rows // POINTS_PER_INTERVAL, FEWEST_INTERVALS), MOST_INTERVALS)


@cache
def stopping_difference(intervals: int, share: float = STOP_SHARE) -> float:
    """The stopping difference: a share of the chi-square threshold, 1 % in the paper.

    The paper gives neither the level nor the degrees of freedom. We use 95 %, one degree fewer than intervals, and
    the difference between counts.
    """
    return share * float(chi2.ppf(STOP_CONFIDENCE, max(intervals - 1, 1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class IntervalPartition:
    """Intervals of the true domain, bins of the reported domain, and the kernel between them."""

    intervals: Integers
    """Edges over the codes of true values."""
    bins: Integers
    """Edges over the reported codes."""
    kernel: Floats
    """Shape (bins, intervals)."""
    ordered: bool
    additive: bool
    """Whether noise is added, so that neighbouring intervals are hard to distinguish."""

    @property
    def size(self) -> int:
        return len(self.intervals) - 1

    def interval_of(self, codes: npt.NDArray[np.integer]) -> Integers:
        """The interval of each true code; a code beyond them all, a missing value, gets the number of intervals."""
        return np.searchsorted(self.intervals, codes, side="right") - 1

    def bin_of(self) -> Integers:
        """The bin of every reported code."""
        return np.repeat(np.arange(len(self.bins) - 1), np.diff(self.bins))

    def observe(self, codes: npt.NDArray[np.integer]) -> Integers:
        """The number of reported codes in each bin. A code beyond all bins is a missing value and not counted."""
        counts = np.bincount(codes, minlength=int(self.bins[-1]))[: int(self.bins[-1])]
        return np.add.reduceat(counts, self.bins[:-1])


def interval_partition(
    randomized: RandomizedAttribute, intervals: int | Integers, *, kernel: str = "exact"
) -> IntervalPartition:
    """Divide an attribute into this many intervals of nearly equal numbers of cells, or at the given edges.

    For additive noise, the bins are the intervals, continued with the same width beyond both ends of the domain. Other
    randomizers have few different reports, and each is a bin. No interval is finer than a cell.
    """
    channel = randomized.channel
    if isinstance(intervals, int):
        places = np.unique(np.arange(intervals + 1) * channel.inputs // intervals)
    else:
        places = np.asarray(intervals, dtype=np.int64)
        if len(places) < 2 or places[0] != 0 or places[-1] != channel.inputs or (np.diff(places) <= 0).any():
            raise InputError(
                f"The intervals do not cover the {channel.inputs} cells in order. Give edges from 0 to that number."
            )
    bins = _bins(channel, places)
    if kernel not in ("exact", "midpoint"):
        raise InputError(f"Unknown kernel {kernel!r}. Available: exact, midpoint.")
    if kernel == "midpoint" and isinstance(channel, AdditiveChannel):
        matrix = midpoint_transition(channel, places, bins)
    else:
        matrix = transition(channel, places, bins)
    additive = isinstance(channel, AdditiveChannel)
    return IntervalPartition(intervals=places, bins=bins, kernel=matrix, ordered=channel.ordered, additive=additive)


def _bins(channel: Channel, intervals: Integers) -> Integers:
    if isinstance(channel, ReplacementChannel | GroupingChannel):
        return np.arange(channel.outputs + 1) if channel.outputs <= 2 * MOST_INTERVALS else _grouped(channel, intervals)
    assert isinstance(channel, AdditiveChannel)
    inside = intervals * channel.refine + channel.margin
    width = max(channel.inputs * channel.refine // (len(intervals) - 1), 1)
    before = np.arange(inside[0], 0, -width)[:0:-1]
    after = np.arange(inside[-1], channel.outputs, width)[1:]
    return np.unique(np.concatenate([[0], before, inside, after, [channel.outputs]]))


def _grouped(channel: ReplacementChannel | GroupingChannel, intervals: Integers) -> Integers:
    """Bins that merge the reports of one interval."""
    if isinstance(channel, ReplacementChannel):
        return intervals
    return np.unique(np.concatenate([channel.groups[intervals[:-1]], [channel.outputs]]))


@dataclass(frozen=True, kw_only=True)
class Reconstruction:
    """The estimated shares of the true values, shape (..., intervals), and how the iteration ended."""

    shares: Floats
    iterations: int
    converged: bool


def reconstruct_shares(
    observed: npt.NDArray[np.number],
    kernel: Floats,
    *,
    stop_share: float = STOP_SHARE,
    most: int = MOST_ITERATIONS,
    smoother: Floats | None = None,
    start: Floats | None = None,
) -> Reconstruction:
    """Iterate Equation 3 for many tables of counts at once.

    `observed` has shape (attributes, classes, bins) and `kernel` (attributes, bins, intervals), or both without the
    first axes: (bins,) or (classes, bins) with (bins, intervals). Zero columns that pad a kernel get shares of zero.
    Each table stops independently, when two successive estimates differ by less than `stopping_difference`; with a
    `stop_share` of 0 it runs `most` steps. A table without counts, such as a class without rows, keeps the uniform
    distribution. A `smoother` (see `smoothing.py`) is applied after each step. `start` continues from earlier shares.
    """
    kernels = kernel if kernel.ndim == 3 else kernel[np.newaxis]
    counts = np.asarray(observed, dtype=np.float64).reshape(len(kernels), -1, kernels.shape[1])
    possible = np.any(kernels > 0, axis=1, keepdims=True)
    sizes = possible.sum(axis=2)
    limit = np.array([[stopping_difference(int(size), stop_share)] for (size,) in sizes])
    shares = np.broadcast_to(possible / sizes[:, :, np.newaxis], (*counts.shape[:2], kernels.shape[2])).copy()
    if start is not None:
        shares[:] = start.reshape(shares.shape)
    transposed = np.ascontiguousarray(kernels.transpose(0, 2, 1))
    active = np.arange(len(kernels))
    iterations = 0
    open_lanes = counts.sum(axis=2) > 0
    while iterations < most and open_lanes.any():
        active = active[open_lanes[active].any(axis=1)]
        iterations += 1
        old = shares[active]
        new, total = _step(counts[active], kernels[active], transposed[active], old)
        if smoother is not None:
            new = new @ smoother.T
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.where(old > 0, (new - old) ** 2 / old, 0.0).sum(axis=2) * total
        moving = open_lanes[active]
        shares[active] = np.where(moving[:, :, np.newaxis], new, old)
        open_lanes[active] = moving & (change >= limit[active])
    shape = (*np.shape(observed)[:-1], kernels.shape[2])
    return Reconstruction(shares=shares.reshape(shape), iterations=iterations, converged=not open_lanes.any())


def _step(counts: Floats, kernels: Floats, transposed: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """One step of Equation 3, and the number of points it uses.

    A bin with probability zero from every interval is left out. The midpoint kernel has such bins at the ends of
    uniform noise.
    """
    expected = shares @ transposed
    explained = expected > 0
    ratio = np.divide(counts, expected, out=np.zeros_like(counts), where=explained)
    total = np.where(explained, counts, 0.0).sum(axis=2)
    raised = shares * (ratio @ kernels)
    scale = raised.sum(axis=2, keepdims=True)
    return np.divide(raised, scale, out=shares.copy(), where=scale > 0), total


def warner_inverse(observed: npt.NDArray[np.number], kernel: Floats) -> Floats:
    """The estimate without iteration (Warner 1965): the inverse of the kernel applied to the observed shares.

    It is unbiased but can be negative.
    """
    total = np.sum(observed, axis=-1, keepdims=True)
    return np.linalg.solve(kernel, (observed / total)[..., np.newaxis])[..., 0]
