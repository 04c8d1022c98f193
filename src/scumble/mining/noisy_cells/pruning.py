"""What of a tree on noisy cells is worth keeping, and the class shares its leaves may claim.

A leaf's errors are known without any held-out records: sums over its cells have a known variance. A subtree gains
correctly classified records where its leaves predict other classes than its root would, and how far noise moves that
gain is the variance of just those sums. (The gain is a little flattered: each class was chosen for its sum.)

Two rules. `records` keeps a subtree only if that gain exceeds so many standard errors. `shares` keeps it also if its
split, or one below, showed a difference of shares beyond noise: both sides may predict one class with different
probabilities, which ranks records better.

A leaf's own shares are as noisy as it is small, its parent's less so. From the root down each node moves from its
parent's shares towards its own by 1 - noise / observed: the part of the observed squared distance that noise is not
expected to have made (James & Stein 1961, positive part).
"""

from enum import StrEnum

import numpy as np

from scumble.mining.noisy_cells.growth import Deviation, Flags, Floats, NoisySums, NoisyTree
from scumble.mining.tree_model import LEAF


class Keep(StrEnum):
    """What a subtree may be kept for."""

    SHARES = "shares"
    """Shares that differ beyond noise, or records."""
    RECORDS = "records"
    """More records classified correctly, beyond noise."""


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
    """Whether the leaves classify more records correctly than the node alone would, beyond noise."""
    alone = tree.counts[node].argmax()
    chosen = tree.counts[leaves].argmax(axis=1)
    places = np.array(leaves)[chosen != alone]
    others = chosen[chosen != alone]
    gain = (tree.counts[places, others] - tree.counts[places, alone]).sum()
    variance = (tree.variance[places, others] + tree.variance[places, alone]).sum()
    return bool(gain > standard_errors * np.sqrt(variance))


def shrunken_shares(tree: NoisyTree) -> Floats:
    """The classes' shares at every node: positive, of sum one."""
    shares = np.zeros_like(tree.counts)
    shares[0] = tree.sums(0).shares()
    for node in np.flatnonzero(tree.feature != LEAF):
        for side in (tree.left[node], tree.right[node]):
            shares[side] = towards(shares[node], tree.sums(side))
    return shares


def towards(parent: Floats, own: NoisySums) -> Floats:
    """From the parent's shares towards one's own, as far as the noise allows."""
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
