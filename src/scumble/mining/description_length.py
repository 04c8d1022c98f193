"""Pruning by minimum description length, as in SLIQ (Mehta, Agrawal & Rissanen 1996).

A tree is worth its nodes if writing down the tree and then the classes of the rows it gets wrong is shorter than doing
without. SLIQ's costs: one bit for each node to say whether it is a leaf, one for each test, one for each row in a leaf
that is not of its majority. From the bottom up a node becomes a leaf where that is no longer than what hangs below it
(their "full" pruning with "Code 1").
"""

import numpy as np
import numpy.typing as npt

from scumble.mining.growth import LEAF, Grown
from scumble.mining.reconstruct import Floats
from scumble.model.counts import Integers

NODE_BITS = 1.0
TEST_BITS = 1.0


def kept(tree: Grown, *, test_bits: float = TEST_BITS) -> npt.NDArray[np.bool_]:
    """Which nodes keep their split."""
    cost, split = pruned_costs(tree, leaf_costs(tree.counts), test_bits)
    del cost
    return split


def leaf_costs(counts: Integers) -> Floats:
    """The bits to write a node as a leaf: itself and its errors."""
    return NODE_BITS + (counts.sum(axis=1) - counts.max(axis=1)).astype(np.float64)


def pruned_costs(tree: Grown, as_leaf: Floats, test_bits: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    cost = as_leaf.copy()
    split = np.zeros(len(cost), dtype=np.bool_)
    # Children come after their parents, so going backwards meets them first.
    for node in range(len(cost) - 1, -1, -1):
        if tree.feature[node] != LEAF:
            below = NODE_BITS + test_bits + cost[tree.left[node]] + cost[tree.right[node]]
            if below < as_leaf[node]:
                cost[node], split[node] = below, True
    return cost, split


def prune(tree: Grown, split: npt.NDArray[np.bool_]) -> Grown:
    """The tree without what hangs below nodes that lost their split, its nodes numbered anew."""
    order: list[int] = [0]
    for node in order:
        if split[node]:
            order += [int(tree.left[node]), int(tree.right[node])]
    numbers = np.full(len(split), LEAF)
    numbers[order] = np.arange(len(order))
    nodes = np.array(order)
    inner = split[nodes]
    return Grown(
        feature=np.where(inner, tree.feature[nodes], LEAF),
        cut=np.where(inner, tree.cut[nodes], 0),
        left=np.where(inner, numbers[tree.left[nodes]], LEAF),
        right=np.where(inner, numbers[tree.right[nodes]], LEAF),
        counts=tree.counts[nodes],
    )
