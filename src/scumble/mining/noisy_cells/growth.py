"""Growing a decision tree on cells whose counts carry noise of known variance: which split, and whether any at all.

At a node with records T and class shares p, a split into sides L and R lowers the summed gini impurity by

    gain = T_L T_R / T x sum over classes of (p_L - p_R)^2,

a square, which noise makes larger on average by T_L T_R / T times the variance of the differences. That much is taken
off before splits are compared. A sum over cells has the sum of their variances, so the variance of a share is known to
first order: an error e_k in class k moves S_k / T by (e_k - p_k e) / T, where e is the error of T.

A split is refused where noise alone would explain it. Two statistics may speak for splitting a node, each with half of
the level:

- the gain of a candidate, beyond what noise alone gives the best of all candidates (Bonferroni);
- the squared deviations of all cells of the node from its shares, together. Two attributes may decide the class while
  neither alone tells anything (exclusive or), and no single split would show it.

Both are squares of linear functions of the noise, summed over classes. Their mean and variance follow from the
variances of the cells and the kurtosis of Laplace noise, which matters where a sum has few cells. The limit is the
quantile of the gamma law with that mean and variance: the chi-square law itself for two classes and normal noise.

Without noise both reduce to "there is a difference", and the tree is gini's own. What was split on the word of the
second alone has still to earn its place: `scumble.mining.noisy_cells.pruning`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammainccinv

from scumble.mining.tree_model import LEAF
from scumble.model.counts import Integers

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LAPLACE_KURTOSIS = 3.0
"""In excess of the normal law's."""
ROUNDING = 1e-9
"""Of a share: less is rounding, not a difference."""


@dataclass(frozen=True, kw_only=True)
class NoisyCells:
    """Distinct cells, one code a feature, with signed, unbiased counts by class and the variance of each."""

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
    """Sums of cells by class (the last axis): the counts, their variances, and the squares of those."""

    counts: Floats
    variance: Floats
    squares: Floats

    @property
    def records(self) -> Floats:
        return self.counts.sum(axis=-1)

    def populated(self, standard_errors: float) -> Flags:
        """Whether there are records beyond noise at all: where not, shares mean nothing."""
        populated: Flags = self.records > standard_errors * np.sqrt(self.variance.sum(axis=-1))
        return populated

    def shares(self) -> Floats:
        """The classes' shares, none negative; even ones where nothing positive was counted."""
        counted = np.maximum(self.counts, 0.0)
        known = counted.sum(axis=-1, keepdims=True)
        even = np.full_like(counted, 1 / counted.shape[-1])
        return np.divide(counted, known, out=even, where=known > 0)


class Deviation:
    """What noise does to counts - shares x records, where the true deviation is nothing.

    An error in class j moves the deviations of all classes along e_j - shares. `inner` has the inner products of these
    directions, and so all there is to know about the sum of squares.
    """

    def __init__(self, shares: Floats) -> None:
        self._inner = np.eye(len(shares)) - shares - shares[:, np.newaxis] + (shares**2).sum()

    def mean(self, variance: Floats) -> Floats:
        """Of the summed squares, for given variances by class (the last axis)."""
        return variance @ self._inner.diagonal()

    def variance(self, variance: Floats, squares: Floats) -> Floats:
        """Of the summed squares; `squares` are of the entries' variances, which kurtosis goes by."""
        normal = 2 * ((variance @ self._inner**2) * variance).sum(axis=-1)
        return normal + LAPLACE_KURTOSIS * (squares @ self._inner.diagonal() ** 2)


def noise_limit(mean: Floats, variance: Floats, level: float) -> Floats:
    """What a sum of squares of this mean and variance exceeds with probability `level`, by the gamma law.

    >>> noise_limit(np.array([1.0]), np.array([2.0]), 0.05).round(3)  # chi-square, one degree of freedom
    array([3.841])
    """
    scale = np.divide(variance, mean, out=np.zeros_like(mean), where=mean > 0)
    shape = np.divide(mean, scale, out=np.ones_like(mean), where=scale > 0)
    return scale * gammainccinv(shape, level)


class Split(NamedTuple):
    """Cells with a code of `cut` or more in the feature go right; `low` is the greatest code that stays left."""

    feature: int
    low: int
    cut: int
    gain: float
    """Of summed gini impurity, without the part that noise is expected to add."""
    significant: bool


def best_split(cells: NoisyCells, *, level: float, standard_errors: float) -> Split | None:
    """The candidate with the greatest corrected gain, among significant ones if there are any; the first of equals.

    A candidate has records beyond noise on both sides.
    """
    each = [_candidates(cells, feature, standard_errors) for feature in range(cells.codes.shape[1])]
    feature, low, cut, gain, squares, mean, variance = map(np.concatenate, zip(*each, strict=True))
    if not cut.size:
        return None
    significant = squares > np.maximum(noise_limit(mean, variance, level / len(cut)), ROUNDING**2)
    best = int(np.where(significant == significant.any(), gain, -np.inf).argmax())
    return Split(int(feature[best]), int(low[best]), int(cut[best]), float(gain[best]), bool(significant[best]))


def cells_differ(cells: NoisyCells, *, level: float) -> bool:
    """Whether the cells deviate from their common shares, all together, by more than noise alone would."""
    shares = cells.total.shares()
    records = cells.counts.sum(axis=1, keepdims=True)
    observed = ((cells.counts - shares * records) ** 2).sum()
    noise = Deviation(shares)
    mean = noise.mean(cells.variance).sum()
    limit = noise_limit(mean, noise.variance(cells.variance, cells.variance**2).sum(), level)
    return bool(observed > max(limit, (ROUNDING * records.sum()) ** 2))


class _Candidates(NamedTuple):
    """All cuts of a feature. `squares` are the squared differences of shares; noise alone gives `mean` and `variance`
    of them."""

    feature: Integers
    low: Integers
    cut: Integers
    gain: Floats
    squares: Floats
    mean: Floats
    variance: Floats


def _candidates(cells: NoisyCells, feature: int, standard_errors: float) -> _Candidates:
    """Every cut of one feature that has records on both sides.

    The noise is weighed by the node's shares, for the question is what it does where the sides do not differ.
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
    """The sums of all cells below each cut."""

    def running(entries: Floats) -> Floats:
        columns = [np.bincount(place, weights=column, minlength=cuts + 1).astype(np.float64) for column in entries.T]
        return np.cumsum(np.stack(columns, axis=1), axis=0)[:cuts]

    return NoisySums(counts=running(cells.counts), variance=running(cells.variance), squares=running(cells.variance**2))


@dataclass(frozen=True, kw_only=True)
class NoisyTree:
    """Nodes in rows, parents before children, as in `TreeModel`, with the sums at each."""

    feature: Integers
    low: Integers
    cut: Integers
    left: Integers
    right: Integers
    significant: Flags
    counts: Floats
    variance: Floats
    squares: Floats

    def sums(self, node: int) -> NoisySums:
        return NoisySums(counts=self.counts[node], variance=self.variance[node], squares=self.squares[node])


def grow(cells: NoisyCells, *, level: float, standard_errors: float) -> NoisyTree:
    """Split until no node shows more than noise."""
    waiting = [cells]
    splits: list[Split | None] = []
    children: list[tuple[int, int]] = []
    sums: list[NoisySums] = []
    for node in waiting:
        split = best_split(node, level=level / 2, standard_errors=standard_errors) if len(node.codes) > 1 else None
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
