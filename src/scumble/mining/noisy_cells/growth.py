"""Grows a decision tree on cells whose counts have noise of known variance: chooses splits, and when to stop.

At a node with T records and class shares p, a split into sides L and R lowers the summed gini impurity by

    gain = T_L T_R / T x sum over classes of (p_L - p_R)^2.

The gain is a square, so noise increases its expectation by T_L T_R / T times the variance of the differences. This bias
is subtracted before splits are compared. The variance of a sum of cells is the sum of their variances. To first order,
an error e_k in the count S_k of class k changes the share S_k / T by (e_k - p_k e) / T, where e is the error of T.

A node is split only if noise alone does not explain the difference. Either of two tests may justify the split, each at
half of the level:

- the gain of a candidate, with a Bonferroni correction for the number of candidates;
- the sum of squared deviations of all cells of the node from its shares. It detects two attributes that determine the
  class jointly although neither does alone (exclusive or), which no single split shows.

Both statistics are sums of squares of linear functions of the noise. Their mean and variance follow from the variances
of the cells and the kurtosis of Laplace noise, which matters if a sum has few cells. The threshold is a quantile of
the gamma distribution with this mean and variance. For two classes and normal noise that is the chi-square
distribution.

Without noise both tests ask only whether there is a difference, and the result is the ordinary gini tree. Splits that
only the second test justifies may be removed by `scumble.mining.noisy_cells.pruning`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammainccinv

from scumble.mining.tree_model import LEAF, FlatTree
from scumble.model.counts import Floats, Integers

Flags = npt.NDArray[np.bool_]

LAPLACE_KURTOSIS = 3.0
"""The excess kurtosis of the Laplace distribution."""
ROUNDING = 1e-9
"""A smaller difference of shares is rounding error."""


@dataclass(frozen=True, kw_only=True)
class NoisyCells:
    """Distinct cells, one code per feature, with signed, unbiased counts by class and the variance of each count."""

    codes: Integers
    counts: Floats
    variance: Floats

    def part(self, chosen: Flags) -> "NoisyCells":
        return NoisyCells(codes=self.codes[chosen], counts=self.counts[chosen], variance=self.variance[chosen])

    @cached_property
    def total(self) -> "NoisySums":
        return NoisySums(
            counts=self.counts.sum(axis=0), variance=self.variance.sum(axis=0), squares=(self.variance**2).sum(axis=0)
        )


@dataclass(frozen=True, kw_only=True)
class NoisySums:
    """Sums over cells by class (the last axis): of the counts, of their variances, and of the squared variances."""

    counts: Floats
    variance: Floats
    squares: Floats

    @property
    def records(self) -> Floats:
        return self.counts.sum(axis=-1)

    def populated(self, standard_errors: float) -> Flags:
        """Whether the number of records exceeds the noise; otherwise shares have no meaning."""
        populated: Flags = self.records > standard_errors * np.sqrt(self.variance.sum(axis=-1))
        return populated

    def shares(self) -> Floats:
        """The non-negative class shares; equal shares if no count is positive."""
        counted = np.maximum(self.counts, 0.0)
        known = counted.sum(axis=-1, keepdims=True)
        even = np.full_like(counted, 1 / counted.shape[-1])
        return np.divide(counted, known, out=even, where=known > 0)


class Deviation:
    """The distribution of |counts - shares x records|^2 under noise, if the true deviation is zero.

    An error in class j changes the deviation vector in the direction e_j - shares. The inner products of these
    directions determine the mean and variance of the squared length.
    """

    def __init__(self, shares: Floats) -> None:
        self._inner = np.eye(len(shares)) - shares - shares[:, np.newaxis] + (shares**2).sum()

    def mean(self, variance: Floats) -> Floats:
        """The mean of the sum of squares, for given variances by class (the last axis)."""
        return variance @ self._inner.diagonal()

    def variance(self, variance: Floats, squares: Floats) -> Floats:
        """The variance of the sum of squares; `squares` are the sums of squared cell variances, for the kurtosis."""
        normal = 2 * ((variance @ self._inner**2) * variance).sum(axis=-1)
        return normal + LAPLACE_KURTOSIS * (squares @ self._inner.diagonal() ** 2)


def noise_limit(mean: Floats, variance: Floats, level: float) -> Floats:
    """The value that a gamma variable of this mean and variance exceeds with probability `level`.

    >>> noise_limit(np.array([1.0]), np.array([2.0]), 0.05).round(3)  # chi-square, one degree of freedom
    array([3.841])
    """
    scale = np.divide(variance, mean, out=np.zeros_like(mean), where=mean > 0)
    shape = np.divide(mean, scale, out=np.ones_like(mean), where=scale > 0)
    return scale * gammainccinv(shape, level)


class Split(NamedTuple):
    """Cells with a code of `cut` or more in the feature go right; `low` is the largest code that goes left."""

    feature: int
    low: int
    cut: int
    gain: float
    """The decrease of the summed gini impurity, minus the bias from noise."""
    significant: bool


def best_noisy_split(cells: NoisyCells, *, level: float, standard_errors: float) -> Split | None:
    """The candidate with the largest corrected gain, among significant ones if there are any; the first among ties.

    Candidates have records beyond noise on both sides.
    """
    each = [_candidates(cells, feature, standard_errors) for feature in range(cells.codes.shape[1])]
    feature, low, cut, gain, squares, mean, variance = map(np.concatenate, zip(*each, strict=True))
    if not cut.size:
        return None
    significant = squares > np.maximum(noise_limit(mean, variance, level / len(cut)), ROUNDING**2)
    best = int(np.where(significant == significant.any(), gain, -np.inf).argmax())
    return Split(int(feature[best]), int(low[best]), int(cut[best]), float(gain[best]), bool(significant[best]))


def cells_differ(cells: NoisyCells, *, level: float) -> bool:
    """Whether the cells together deviate from their common shares by more than noise explains."""
    shares = cells.total.shares()
    records = cells.counts.sum(axis=1, keepdims=True)
    observed = ((cells.counts - shares * records) ** 2).sum()
    noise = Deviation(shares)
    mean = noise.mean(cells.variance).sum()
    limit = noise_limit(mean, noise.variance(cells.variance, cells.variance**2).sum(), level)
    return bool(observed > max(limit, (ROUNDING * records.sum()) ** 2))


class _Candidates(NamedTuple):
    """All cuts of a feature, with the squared differences of shares, and their mean and variance under noise alone."""

    feature: Integers
    low: Integers
    cut: Integers
    gain: Floats
    squares: Floats
    mean: Floats
    variance: Floats


def _candidates(cells: NoisyCells, feature: int, standard_errors: float) -> _Candidates:
    """Every cut of one feature that has records on both sides.

    The noise is evaluated at the shares of the node, because the null hypothesis is that the sides do not differ.
    """
    total = cells.total
    values, place = np.unique(cells.codes[:, feature], return_inverse=True)
    below = _running(cells, place, len(values) - 1)
    above = NoisySums(
        counts=total.counts - below.counts,
        variance=np.maximum(total.variance - below.variance, 0.0),
        squares=np.maximum(total.squares - below.squares, 0.0),
    )
    real = below.populated(standard_errors) & above.populated(standard_errors)
    left, right = below.records[real, np.newaxis], above.records[real, np.newaxis]
    squares = ((below.counts[real] / left - above.counts[real] / right) ** 2).sum(axis=1)
    noise = Deviation(total.shares())
    spread = below.variance[real] / left**2 + above.variance[real] / right**2
    mean = noise.mean(spread)
    variance = noise.variance(spread, below.squares[real] / left**4 + above.squares[real] / right**4)
    gain = (left * right / (left + right))[:, 0] * (squares - mean)
    here = np.full(len(gain), feature)
    return _Candidates(here, values[:-1][real], values[1:][real], gain, squares, mean, variance)


def _running(cells: NoisyCells, place: Integers, cuts: int) -> NoisySums:
    """The sums of the cells below each cut."""

    def running(entries: Floats) -> Floats:
        columns = [np.bincount(place, weights=column, minlength=cuts + 1).astype(np.float64) for column in entries.T]
        return np.cumsum(np.stack(columns, axis=1), axis=0)[:cuts]

    return NoisySums(counts=running(cells.counts), variance=running(cells.variance), squares=running(cells.variance**2))


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyTree(FlatTree):
    """A tree over codes, with the noisy sums at each node. `low` and `cut` are those of `Split`."""

    low: Integers
    cut: Integers
    significant: Flags
    counts: Floats
    variance: Floats
    squares: Floats

    def sums(self, node: int) -> NoisySums:
        return NoisySums(counts=self.counts[node], variance=self.variance[node], squares=self.squares[node])


def grow_noisy_tree(cells: NoisyCells, *, level: float, standard_errors: float) -> NoisyTree:
    """Split until no node differs by more than noise."""
    waiting = [cells]
    splits: list[Split | None] = []
    children: list[tuple[int, int]] = []
    sums: list[NoisySums] = []
    for node in waiting:
        split = (
            best_noisy_split(node, level=level / 2, standard_errors=standard_errors) if len(node.codes) > 1 else None
        )
        if split is not None and not split.significant and not cells_differ(node, level=level / 2):
            split = None
        children.append((LEAF, LEAF) if split is None else (len(waiting), len(waiting) + 1))
        splits.append(split)
        sums.append(node.total)
        if split is not None:
            right = node.codes[:, split.feature] >= split.cut
            waiting += [node.part(~right), node.part(right)]
    return NoisyTree(
        feature=np.array([LEAF if split is None else split.feature for split in splits]),
        low=np.array([0 if split is None else split.low for split in splits]),
        cut=np.array([0 if split is None else split.cut for split in splits]),
        left=np.array([left for left, _ in children]),
        right=np.array([right for _, right in children]),
        significant=np.array([split is not None and split.significant for split in splits]),
        counts=np.stack([each.counts for each in sums]),
        variance=np.stack([each.variance for each in sums]),
        squares=np.stack([each.squares for each in sums]),
    )
