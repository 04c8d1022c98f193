"""Growing a decision tree on cells whose counts carry noise of known variance: which split, and whether any at all.

At a node with records T and class shares p, a split into sides L and R lowers the summed gini impurity by

    gain = T_L T_R / T x sum over classes of (p_L - p_R)^2,

a square, which noise makes larger on average by T_L T_R / T times the variance of the differences. That much is taken
off before splits are compared. A sum over cells has the sum of their variances, so the variance of a share is known to
first order: an error e_k in class k moves S_k / T by (e_k - p_k e) / T, where e is the error of T.

A split is refused where noise alone would explain it. Two statistics may speak for splitting a node, each with half of
the level:

- a difference of shares between the sides of some candidate beyond what noise alone shows in the largest of all
  candidates (Bonferroni). Quantiles are the normal ones, widened by Cornish and Fisher's term for the kurtosis of a sum
  of so many Laplace variables: a sum over few cells has their long tails.
- the squared deviations of all cells of the node from its shares, together. Two attributes may decide the class while
  neither alone tells anything (exclusive or), and no single split would show it. The limit is Cantelli's inequality for
  a sum with the fourth moments of Laplace noise.

Without noise both reduce to "there is a difference", and the tree is gini's own. What was split on the word of the
second alone has still to earn its place: `scumble.mining.noisy_pruning`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

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

    def deviation_variance(self, shares: Floats) -> Floats:
        """The variance, by class, of counts - shares x records, for given shares."""
        whole = self.variance.sum(axis=-1, keepdims=True)
        return np.maximum(self.variance * (1 - 2 * shares) + shares**2 * whole, 0.0)

    def deviation_squares(self, shares: Floats) -> Floats:
        """The same with each entry's weight to the fourth power: what the kurtosis of Laplace noise goes by."""
        whole = self.squares.sum(axis=-1, keepdims=True)
        return self.squares * (1 - shares) ** 4 + (whole - self.squares) * shares**4


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
    feature, low, cut, gain, difference, variance, kurtosis = map(np.concatenate, zip(*each, strict=True))
    if not cut.size:
        return None
    classes = difference.shape[1]
    # With two classes one difference is the other's negative: a single test.
    tests = len(cut) * (classes if classes > 2 else 1)
    limit = np.sqrt(variance) * long_tailed_quantile(level / (2 * tests), kurtosis)
    significant = (np.abs(difference) > np.maximum(limit, ROUNDING)).any(axis=1)
    best = int(np.where(significant == significant.any(), gain, -np.inf).argmax())
    return Split(int(feature[best]), int(low[best]), int(cut[best]), float(gain[best]), bool(significant[best]))


def long_tailed_quantile(upper: float, kurtosis: Floats) -> Floats:
    """In standard deviations, what a symmetric law of this excess kurtosis exceeds with probability `upper`, about.

    Cornish & Fisher 1938. Far out it errs on the large side: for a single Laplace variable and 0.0005, 6.5 and not 4.9.
    """
    normal = norm.isf(upper)
    return normal + max(normal**3 - 3 * normal, 0.0) * kurtosis / 24


def cells_differ(cells: NoisyCells, *, level: float) -> bool:
    """Whether the cells deviate from their common shares, all together, by more than noise alone would."""
    total = cells.total
    shares = total.shares()
    one = NoisySums(counts=cells.counts, variance=cells.variance, squares=cells.variance**2)
    deviation = cells.counts - shares * one.records[:, np.newaxis]
    expected = one.deviation_variance(shares).sum(axis=1)
    spread = np.sqrt((2 + LAPLACE_KURTOSIS) * (expected**2).sum())
    cantelli = np.sqrt(1 / level - 1)
    rounding = (ROUNDING * max(float(total.records), 0.0)) ** 2
    return bool((deviation**2).sum() > max(expected.sum() + cantelli * spread, rounding))


class _Candidates(NamedTuple):
    feature: Integers
    low: Integers
    cut: Integers
    gain: Floats
    difference: Floats
    variance: Floats
    kurtosis: Floats


def _candidates(cells: NoisyCells, feature: int, standard_errors: float) -> _Candidates:
    """Every cut of one feature: its corrected gain, and by class the difference of shares with what noise does to it.

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
    shares = total.shares()
    left, right = below.records[real, np.newaxis], above.records[real, np.newaxis]
    difference = below.counts[real] / left - above.counts[real] / right
    variance = (below.deviation_variance(shares)[real] / left**2) + (above.deviation_variance(shares)[real] / right**2)
    fourth = (below.deviation_squares(shares)[real] / left**4) + (above.deviation_squares(shares)[real] / right**4)
    kurtosis = np.divide(LAPLACE_KURTOSIS * fourth, variance**2, out=np.zeros_like(variance), where=variance > 0)
    gain = (left * right / (left + right))[:, 0] * (difference**2 - variance).sum(axis=1)
    here = np.full(len(gain), feature)
    return _Candidates(here, values[:-1][real], values[1:][real], gain, difference, variance, kurtosis)


def _running(cells: NoisyCells, place: Integers, cuts: int) -> NoisySums:
    """The sums of all cells below each cut."""

    def running(entries: Floats) -> Floats:
        columns = [np.bincount(place, weights=column, minlength=cuts + 1) for column in entries.T]
        sums: Floats = np.cumsum(np.stack(columns, axis=1), axis=0)[:cuts]
        return sums

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
