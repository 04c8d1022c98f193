"""Prunes a tree on noisy cells, and shrinks the class shares of its leaves.

Pruning needs no held-out records, because sums over cells have a known variance. A subtree gains correctly classified
records where its leaves predict other classes than its root. The variance of this gain is the variance of the sums it
is made of. (The gain has a small positive bias, because each class was chosen for its large sum.)

There are two rules. `records` keeps a subtree only if its gain exceeds a number of standard errors. `shares` also keeps
it if its split, or one below, has a significant difference of shares: both sides may predict the same class with
different probabilities, which ranks records better.

The shares of a small leaf are noisier than those of its parent. From the root down, each node is shrunk towards the
shares of its parent: it keeps the factor 1 - noise / observed of the difference, where noise is the expected and
observed the actual squared distance (the positive-part estimator of James & Stein 1961).
"""

from enum import StrEnum

import numpy as np

from scumble.mining.noisy_cells.growth import Deviation, Flags, NoisySums, NoisyTree
from scumble.mining.tree_model import LEAF
from scumble.model.counts import Floats


class Keep(StrEnum):
    """The reason for which pruning keeps a subtree."""

    SHARES = "shares"
    """Class shares that differ by more than noise, or more records classified correctly."""
    RECORDS = "records"
    """More records classified correctly, by more than noise."""


def kept_splits(tree: NoisyTree, *, keep: Keep, standard_errors: float) -> Flags:
    """Which nodes keep their split, decided from the bottom up."""
    kept = np.zeros(len(tree.feature), dtype=np.bool_)
    leaves: dict[int, list[int]] = {}
    for node in range(len(kept) - 1, -1, -1):
        leaves[node] = [node]
        if tree.feature[node] == LEAF:
            continue
        sides = int(tree.left[node]), int(tree.right[node])
        below = leaves[sides[0]] + leaves[sides[1]]
        differs = tree.significant[node] or kept[list(sides)].any()
        kept[node] = (keep is Keep.SHARES and differs) or gains_records(tree, node, below, standard_errors)
        if kept[node]:
            leaves[node] = below
    return kept


def gains_records(tree: NoisyTree, node: int, leaves: list[int], standard_errors: float) -> bool:
    """Whether the leaves classify more records correctly than the node would as a leaf, by more than noise."""
    alone = tree.counts[node].argmax()
    chosen = tree.counts[leaves].argmax(axis=1)
    places = np.array(leaves)[chosen != alone]
    others = chosen[chosen != alone]
    gain = (tree.counts[places, others] - tree.counts[places, alone]).sum()
    variance = (tree.variance[places, others] + tree.variance[places, alone]).sum()
    return bool(gain > standard_errors * np.sqrt(variance))


def shrunken_shares(tree: NoisyTree) -> Floats:
    """The shrunken class shares at every node: non-negative, with sum one."""
    shares = np.zeros_like(tree.counts)
    shares[0] = tree.sums(0).shares()
    for node in np.flatnonzero(tree.inner):
        for side in (tree.left[node], tree.right[node]):
            shares[side] = shrink_towards(shares[node], tree.sums(side))
    return shares


def shrink_towards(parent: Floats, own: NoisySums) -> Floats:
    """The shares of a node, shrunk towards those of its parent."""
    records = float(own.records)
    if records <= 0:
        return parent
    step = own.counts / records - parent
    observed = float((step**2).sum())
    noise = float(Deviation(parent).mean(own.variance)) / records**2
    if observed <= noise:
        return parent
    moved = np.maximum(parent + (1 - noise / observed) * step, 0.0)
    return moved / moved.sum()
