"""Bins of neighbouring values, which follow noisy counts of the values that were paid for before.

A class table counts an attribute with many values in bins. A value with many records gets its own bin; the others share
bins that are narrow where records are many. Inside a bin, values are drawn in the proportions of the counts, so a value
with many records never shares them with its neighbours.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Floats, Integers
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.ordered import Ordered
from scumble.model.taxonomy import Node, Tree

FEWEST_BINS, MOST_BINS = 6, 128
"""An attribute is never counted in fewer bins than the first number, unless it has fewer values. Bins of empty ranges
cost little: noise on them concerns few records. But rare values can be very telling, as large amounts often are."""
FLAT = 256
"""A histogram of more values than this is also counted in `BRANCHES` ranges, whose sums would drown in the noise of so
many values."""
BRANCHES = 64
MOST_IN_A_LIST = 512
"""The values of a long flat list have no order, so those that share a bin have nothing in common, and their effects
cancel. So each gets its own bin, up to so many bins. Shrinkage takes care of the noise."""


@dataclass(frozen=True, kw_only=True)
class Binning:
    """The bin of every code of an attribute, and the share of each code in its bin."""

    bins: Integers
    shares: Floats

    def __len__(self) -> int:
        return int(self.bins[-1]) + 1


def value_count(domain: Domain) -> int:
    """The number of values, without the code of missing numbers."""
    return domain.cells if isinstance(domain, Grid) else domain.size


def range_width(domain: Domain) -> int:
    """How many neighbouring codes a range has in which values are counted a second time; 1 if they are not."""
    return 1 if domain.size <= FLAT else -(-domain.size // BRANCHES)


def is_binned(domain: Domain, most: int) -> bool:
    """Whether values share bins."""
    return value_count(domain) > max(most, FEWEST_BINS)


def each_its_own(domain: Domain) -> Binning:
    """One bin for each value."""
    return Binning(bins=np.arange(domain.size), shares=np.ones(domain.size))


def by_records(domain: Domain, most: int, shares: Floats) -> Binning:
    """About `most` bins for estimated shares of all codes.

    A taxonomy is divided node by node, always the one with most records; every value of a long flat list gets its own
    bin. The codes of anything else are divided by records, and refined by ranges of equal width: as many, or the square
    root of the number of values if that is more. A value with at least the average share of a bin gets its own. Missing
    numbers, which have the last code, get a separate bin.
    """
    values = value_count(domain)
    most = min(max(most, FEWEST_BINS), MOST_BINS)
    share = shares[:values] / max(shares[:values].sum(), 1e-12)
    alone = share >= 1 / most
    by_mass = np.floor((np.cumsum(share) - share / 2) * most)
    begins = ((np.diff(by_mass) > 0) & (share[1:] > 1.5 / values)) | alone[1:] | alone[:-1]
    if isinstance(domain, Tree) and not _on_a_line(domain):
        begins = (begins & _inside_a_large_node(domain, share, most)) | _between_nodes(domain, share, most)
    else:
        by_width = np.arange(values) // -(-values // _ranges(values, most))
        begins |= np.diff(by_width) > 0
    return _binning(domain, np.concatenate([[0], np.cumsum(begins)]), shares)


def _ranges(values: int, most: int) -> int:
    return min(max(most, isqrt(values)), MOST_BINS)


def most_bins(domain: Domain, most: int) -> int:
    """The most bins that a class table can have: by records, by width, and one for missing numbers, or all values of a
    long flat list."""
    if not is_binned(domain, most):
        return domain.size
    most = min(max(most, FEWEST_BINS), MOST_BINS)
    more = _ranges(value_count(domain), most) + 1 if _on_a_line(domain) else MOST_IN_A_LIST
    return min(domain.size, 2 * most + more)


def _on_a_line(domain: Domain) -> bool:
    return isinstance(domain, Ordered) or not isinstance(domain, Tree)


def _nodes(tree: Tree, share: Floats, most: int) -> list[Node]:
    """The nodes of a cut: again and again, the node with most records is replaced by its children, if these are at most
    `most` nodes then, or more if the node is a long flat list."""
    climb = np.concatenate([[0.0], np.cumsum(share)])
    cut = [tree.root]
    while True:
        open_ = [node for node in cut if node.children and len(cut) - 1 + len(node.children) <= _most(node, most)]
        if not open_:
            return sorted(cut, key=lambda node: node.low)
        largest = max(open_, key=lambda node: climb[node.high] - climb[node.low])
        cut = [node for node in cut if node is not largest] + list(largest.children)


def _most(node: Node, most: int) -> int:
    """How many nodes a cut may have after this node was replaced by its children."""
    long_list = len(node.children) > most and not any(child.children for child in node.children)
    return MOST_IN_A_LIST if long_list else most


def _between_nodes(tree: Tree, share: Floats, most: int) -> npt.NDArray[np.bool_]:
    begins = np.zeros(len(share), dtype=bool)
    begins[[node.low for node in _nodes(tree, share, most)]] = True
    return begins[1:]


def _inside_a_large_node(tree: Tree, share: Floats, most: int) -> npt.NDArray[np.bool_]:
    """Where a node could be divided further, but has too many children."""
    climb = np.concatenate([[0.0], np.cumsum(share)])
    inside = np.zeros(len(share), dtype=bool)
    for node in _nodes(tree, share, most):
        inside[node.low : node.high] = climb[node.high] - climb[node.low] > 1.5 / most
    return inside[1:]


def merged(domain: Domain, most: int, shares: Floats | None) -> Integers:
    """The bin of every code in at most about `most` bins with similar shares; large ones stay alone."""
    values = value_count(domain)
    if values <= most:
        return np.arange(domain.size)
    share = np.full(values, 1 / values) if shares is None else shares[:values] / max(shares[:values].sum(), 1e-12)
    alone = share >= 1 / most
    rung = np.floor((np.cumsum(share) - share / 2) * most)
    begins = (np.diff(rung) > 0) | alone[1:] | alone[:-1]
    return _binning(domain, np.concatenate([[0], np.cumsum(begins)]), np.ones(domain.size)).bins


def value_shares(domain: Domain, counted: Integers, deviation: float) -> Floats:
    """The share of each code, from noisy counts of all codes followed by those of ranges, if there are any."""
    width = range_width(domain)
    if width == 1:
        return density(counted, deviation)
    single, ranges = counted[: domain.size], counted[domain.size :]
    of_ranges = density(ranges, deviation)
    parts = [single[start : start + width] for start in range(0, domain.size, width)]
    return np.concatenate([share * density(part, deviation) for share, part in zip(of_ranges, parts, strict=True)])


def density(counted: Integers, deviation: float) -> Floats:
    """The share of each value, from noisy counts: even wherever the counts do not show that it is not.

    Values are halved again and again. The difference between two halves keeps the fraction 1 - 2 n / d^2, or nothing if
    that is negative: n is the variance that noise gives it, and d the difference. So a large one is kept, and noise is
    not (shrinkage of Haar coefficients).
    """
    depth = max(len(counted) - 1, 0).bit_length()
    sums, widths = np.zeros(1 << depth), np.zeros(1 << depth)
    sums[: len(counted)], widths[: len(counted)] = counted, 1.0
    levels = []
    for _ in range(depth):
        halves, wide = sums.reshape(-1, 2), widths.reshape(-1, 2)
        sums, widths = halves.sum(axis=1), wide.sum(axis=1)
        part = wide[:, 0] / np.maximum(widths, 1)
        difference = halves[:, 0] - sums * part
        noise = deviation**2 * widths * part * (1 - part)
        kept = np.maximum(1 - 2 * noise / np.maximum(np.square(difference), 1e-9), 0.0)
        levels.append((part, kept * difference))
    found = sums
    for part, difference in reversed(levels):
        left = found * part + difference
        # Neither half has fewer than no records.
        left = np.clip(left, np.minimum(found, 0), np.maximum(found, 0))
        found = np.stack([left, found - left], axis=1).ravel()
    found = np.maximum(found[: len(counted)], 0.0) + 1e-9
    return found / found.sum()


def _binning(domain: Domain, bins: Integers, shares: Floats) -> Binning:
    extra = domain.size - len(bins)
    bins = np.concatenate([bins, np.full(extra, bins[-1] + 1)]).astype(np.int64)
    weights = np.maximum(shares, 1e-12)
    return Binning(bins=bins, shares=weights / np.bincount(bins, weights=weights)[bins])
