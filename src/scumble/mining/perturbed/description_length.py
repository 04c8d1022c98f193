"""Pruning by minimum description length, as in SLIQ (Mehta, Agrawal & Rissanen 1996).

A tree is worth its nodes if writing down the tree and then the rows it gets wrong is shorter than doing without. As in
SLIQ a node costs one bit, to say whether it is a leaf, and each row of a leaf that is not of its majority costs one.
From the bottom up a node becomes a leaf where that is no longer than what hangs below it (their "full" pruning with
"Code 1"). A test costs them a flat one bit; ours costs the bits it takes to name one of all candidate tests. With one
bit, trees from blurred rows keep hundreds of tests that only fit the noise; `test_bits=1.0` is SLIQ's.
"""

import math

import numpy as np
import numpy.typing as npt

from scumble.mining.perturbed.growth import LEAF, Grown
from scumble.mining.reconstruction.iteration import Floats
from scumble.model.counts import Integers

NODE_BITS = 1.0


def bits_of_a_test(sizes: Integers) -> float:
    """How long it takes to name one boundary of one attribute."""
    return math.log2(max(int((sizes - 1).sum()), 1))


def spared_errors(test_bits: float) -> float:
    """So few errors no split can be worth: a test and two leaves, right in everything, would be as long."""
    return test_bits + 2 * NODE_BITS


def kept(tree: Grown, test_bits: float) -> npt.NDArray[np.bool_]:
    """Which nodes keep their split."""
    as_leaf = leaf_costs(tree.counts)
    cost = as_leaf.copy()
    split = np.zeros(len(cost), dtype=np.bool_)
    # Children come after their parents, so going backwards meets them first.
    for node in range(len(cost) - 1, -1, -1):
        if tree.feature[node] != LEAF:
            below = NODE_BITS + test_bits + cost[tree.left[node]] + cost[tree.right[node]]
            if below < as_leaf[node]:
                cost[node], split[node] = below, True
    return split


def leaf_costs(counts: Integers) -> Floats:
    """The bits to write a node as a leaf: itself and its errors."""
    return NODE_BITS + (counts.sum(axis=1) - counts.max(axis=1)).astype(np.float64)


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
