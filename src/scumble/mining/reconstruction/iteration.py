"""Distributions of true values from blurred ones: Equation 3 of Agrawal & Srikant (2000) over intervals.

Start with the uniform distribution and apply Bayes' rule to all blurred values at once, again and again:

    Pr'(p) = 1/n  sum over bins s of  N(s) K(s, p) Pr(p) / sum over t of K(s, t) Pr(t)

K(s, p) is how likely a value in interval p is blurred into bin s. Bins cover all places a blurred value can lie, beyond
the domain too. With the paper's kernel, the density of the noise between middles, this is what they print; with the
exact one (the default) it is expectation maximization for a histogram as the true density, so every step raises the
likelihood and the limit is the most likely histogram (Agrawal & Aggarwal 2001). The discrete and the categorical case
differ in the kernel alone.

The denominators are shared by all p, so a step costs O(bins x intervals), whatever the number of rows.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.local.channel import Additive, Channel, Grouping, Replacing, midpoint_transition, transition
from scumble.model.local.randomized_attribute import BlurredAttribute

Floats = npt.NDArray[np.float64]

POINTS_PER_INTERVAL = 100
FEWEST_INTERVALS = 10
MOST_INTERVALS = 100
STOP_SHARE = 0.01
STOP_CONFIDENCE = 0.95
MOST_ITERATIONS = 10_000


def number_of_intervals(rows: int) -> int:
    """The paper's rule: a hundred points an interval on average, but no fewer than 10 and no more than 100.

    >>> [number_of_intervals(rows) for rows in (0, 5_000, 10**6)]
    [10, 50, 100]
    """
    return min(max(rows // POINTS_PER_INTERVAL, FEWEST_INTERVALS), MOST_INTERVALS)


@cache
def stopping_difference(intervals: int, share: float = STOP_SHARE) -> float:
    """A share of the chi-square test's threshold; in the paper, one hundredth. It fixes neither level nor degrees of
    freedom: we take 95 %, one degree fewer than there are intervals, and the difference between counts."""
    return share * float(chi2.ppf(STOP_CONFIDENCE, max(intervals - 1, 1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """Intervals of a domain, bins of its widened one, and the kernel between them."""

    intervals: Integers
    """Edges over the codes of true values."""
    bins: Integers
    """Edges over the published codes."""
    kernel: Floats
    """Shape (bins, intervals)."""
    ordered: bool
    additive: bool
    """Whether noise was added, so that neighbouring intervals are hard to tell apart."""

    @property
    def size(self) -> int:
        return len(self.intervals) - 1

    def bin_of(self) -> Integers:
        """The bin of every published code."""
        return np.repeat(np.arange(len(self.bins) - 1), np.diff(self.bins))

    def observe(self, codes: npt.NDArray[np.integer]) -> Integers:
        """How many published codes fall into each bin; a code beyond them all is a missing value and not counted."""
        counts = np.bincount(codes, minlength=int(self.bins[-1]))[: int(self.bins[-1])]
        return np.add.reduceat(counts, self.bins[:-1])


def partition(blurred: BlurredAttribute, intervals: int | Integers, *, kernel: str = "exact") -> Partition:
    """Intervals of nearly equal numbers of cells, or with the given edges, and matching bins.

    Where noise is added, the bins inside the domain are the intervals, and equally wide ones go on beyond its ends;
    other blurs have few outcomes, and each is a bin of its own. No interval is finer than a cell.
    """
    channel = blurred.channel
    if isinstance(intervals, int):
        places = np.unique(np.arange(intervals + 1) * channel.inputs // intervals)
    else:
        places = np.asarray(intervals, dtype=np.int64)
        if len(places) < 2 or places[0] != 0 or places[-1] != channel.inputs or (np.diff(places) <= 0).any():
            raise InputError(f"The intervals do not cover the {channel.inputs} cells in order. Give edges from 0 on.")
    bins = _bins(channel, places)
    if kernel not in ("exact", "midpoint"):
        raise InputError(f"There is no kernel {kernel!r}. Choose exact or midpoint.")
    if kernel == "midpoint" and isinstance(channel, Additive):
        matrix = midpoint_transition(channel, places, bins)
    else:
        matrix = transition(channel, places, bins)
    additive = isinstance(channel, Additive)
    return Partition(intervals=places, bins=bins, kernel=matrix, ordered=channel.ordered, additive=additive)


def _bins(channel: Channel, intervals: Integers) -> Integers:
    if isinstance(channel, Replacing | Grouping):
        return np.arange(channel.outputs + 1) if channel.outputs <= 2 * MOST_INTERVALS else _grouped(channel, intervals)
    assert isinstance(channel, Additive)
    inside = intervals * channel.refine + channel.margin
    width = max(channel.inputs * channel.refine // (len(intervals) - 1), 1)
    before = np.arange(inside[0], 0, -width)[:0:-1]
    after = np.arange(inside[-1], channel.outputs, width)[1:]
    return np.unique(np.concatenate([[0], before, inside, after, [channel.outputs]]))


def _grouped(channel: Replacing | Grouping, intervals: Integers) -> Integers:
    """Of many outcomes, those of one interval together."""
    if isinstance(channel, Replacing):
        return intervals
    return np.unique(np.concatenate([channel.groups[intervals[:-1]], [channel.outputs]]))


@dataclass(frozen=True, kw_only=True)
class Reconstruction:
    """Estimated shares of the true values in each interval: shape (..., intervals); and how it ended."""

    shares: Floats
    iterations: int
    converged: bool


def reconstruct(
    observed: npt.NDArray[np.number],
    kernel: Floats,
    *,
    stop_share: float = STOP_SHARE,
    most: int = MOST_ITERATIONS,
    smoother: Floats | None = None,
) -> Reconstruction:
    """Iterate Equation 3 for many tables of counts at once.

    `observed` has shape (attributes, classes, bins) and `kernel` (attributes, bins, intervals), or both without the
    first axes: (bins,) or (classes, bins) with (bins, intervals). A kernel padded with zero columns and rows gives
    shares of zero there. Each table stops by itself, when two estimates differ by less than a share of the chi-square
    test's threshold (`stopping_difference`; 0 goes on until `most`). A table without counts, such as a class with no
    rows, keeps the uniform distribution. A `smoother` (see `smoothing.py`) is applied after each step.
    """
    kernels = kernel if kernel.ndim == 3 else kernel[np.newaxis]
    counts = np.asarray(observed, dtype=np.float64).reshape(len(kernels), -1, kernels.shape[1])
    possible = np.any(kernels > 0, axis=1, keepdims=True)
    sizes = possible.sum(axis=2)
    limit = np.array([[stopping_difference(int(size), stop_share)] for (size,) in sizes])
    shares = np.broadcast_to(possible / sizes[:, :, np.newaxis], (*counts.shape[:2], kernels.shape[2])).copy()
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
    """One application of Equation 3, and how many points it explains. A bin that no interval explains, which the
    paper's kernel has near the ends of uniform noise, is left out of the sum."""
    expected = shares @ transposed
    explained = expected > 0
    ratio = np.divide(counts, expected, out=np.zeros_like(counts), where=explained)
    total = np.where(explained, counts, 0.0).sum(axis=2)
    raised = shares * (ratio @ kernels)
    scale = raised.sum(axis=2, keepdims=True)
    return np.divide(raised, scale, out=shares.copy(), where=scale > 0), total


def warner_inverse(observed: npt.NDArray[np.number], kernel: Floats) -> Floats:
    """The estimate without iteration (Warner 1965): the kernel's inverse applied to observed shares. Unbiased, and
    negative now and then."""
    total = np.sum(observed, axis=-1, keepdims=True)
    return np.linalg.solve(kernel, (observed / total)[..., np.newaxis])[..., 0]
