"""How diverse a sensitive attribute is among records that look alike: distinct and entropy l-diversity, t-closeness.

All functions take counts with a line for each group of records and a column for each value of the attribute.
Machanavajjhala et al. (2007) define l-diversity; Li, Li, Venkatasubramanian (2007) define t-closeness, by the earth
mover's distance: the least work that moves one distribution to another.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Node

ROUNDING = 1e-9
"""Differences of entropies and distances that can be due to rounding."""


def distinct_values(counts: Integers) -> Integers:
    """The number of different values in each group: its distinct l.

    >>> distinct_values(np.array([[3, 0, 1], [4, 0, 0]])).tolist()
    [2, 1]
    """
    return np.count_nonzero(counts, axis=1)


def effective_values(counts: Integers) -> Floats:
    """e to the entropy of the values in each group: its entropy l. Equally frequent values count fully.

    >>> effective_values(np.array([[2, 2, 2], [4, 0, 0]])).round(6).tolist()
    [3.0, 1.0]
    """
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    logarithms = np.log(np.where(shares > 0, shares, 1.0))
    entropies: Floats = np.exp(-(shares * logarithms).sum(axis=1))
    return entropies


@dataclass(frozen=True, kw_only=True)
class MoveCosts:
    """The earth mover's distance of an attribute's values, as a sum over ranges of codes.

    The distance of two distributions is the sum over all ranges [low, high) of `weight` times the absolute difference
    of their shares in the range. That is exact for the two distances of Li et al.:

    - Numbers and other values in order: moving a share by one of m values costs 1 / (m - 1). What crosses the border
      after value i is the difference of the shares up to i, so the ranges are all [0, i + 1).
    - A taxonomy: moving a share between two leaves costs the height of their lowest common ancestor, divided by the
      height of the tree. Half of it is the way up, half the way down, so each node costs half the difference of its
      parent's height and its own for what enters or leaves it. With one level, it is the total variation distance.
    """

    lows: Integers
    highs: Integers
    weights: Floats

    @classmethod
    def of(cls, attribute: Attribute) -> "MoveCosts":
        domain = attribute.domain
        if isinstance(domain, Grid) or attribute.in_order:
            ends = np.arange(1, domain.size, dtype=np.int64)
            return cls(lows=np.zeros_like(ends), highs=ends, weights=np.full(len(ends), 1 / max(domain.size - 1, 1)))
        ranges = list(_climbs(domain.root))
        heights = max(_height(domain.root), 1)
        return cls(
            lows=np.array([low for low, _, _ in ranges], dtype=np.int64),
            highs=np.array([high for _, high, _ in ranges], dtype=np.int64),
            weights=np.array([climb for _, _, climb in ranges], dtype=np.float64) / (2 * heights),
        )

    def distances(self, counts: Integers) -> Floats:
        """The distance of each group's distribution from that of all groups together: the t of each group."""
        overall = counts.sum(axis=0)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) - overall / max(int(overall.sum()), 1)
        upto = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(shares, axis=1)], axis=1)
        moved: Floats = np.abs(upto[:, self.highs] - upto[:, self.lows]) @ self.weights
        return moved


def _height(node: Node) -> int:
    return 1 + max(map(_height, node.children)) if node.children else 0


def _climbs(node: Node) -> Iterator[tuple[int, int, int]]:
    """Every node below this one with its codes, and how much higher its parent is."""
    here = _height(node)
    for child in node.children:
        yield child.low, child.high, here - _height(child)
        yield from _climbs(child)
