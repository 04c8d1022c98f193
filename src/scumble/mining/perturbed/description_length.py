"""Pruning by minimum description length, as in SLIQ (Mehta, Agrawal & Rissanen 1996).

The description length of a tree is the number of bits that encode the tree and the rows it misclassifies. As in SLIQ,
a node costs one bit (leaf or not), and each row of a leaf outside its majority class costs one bit. From the bottom up,
a node becomes a leaf if that is no longer than its subtree (SLIQ's "full" pruning with "Code 1"). In SLIQ a test costs
one bit. Here it costs log2 of the number of candidate tests, because trees from perturbed rows otherwise keep hundreds
of tests that fit only noise. `test_bits=1.0` gives SLIQ's rule.
"""

import math

import numpy as np
import numpy.typing as npt

from scumble.mining.perturbed.growth import GiniTree
from scumble.model.counts import Floats, Integers

NODE_BITS = 1.0


def bits_of_a_test(sizes: Integers) -> float:
    """The bits that encode one boundary of one attribute."""
    return math.log2(max(int((sizes - 1).sum()), 1))


def errors_worth_a_split(test_bits: float) -> float:
    """The errors that one split must exceed to be worth it: a test and two leaves without errors cost as many bits."""
    return test_bits + 2 * NODE_BITS


def splits_to_keep(tree: GiniTree, test_bits: float) -> npt.NDArray[np.bool_]:
    """Which nodes keep their split under the minimum description length."""
    as_leaf = leaf_costs(tree.counts)
    cost = as_leaf.copy()
    split = np.zeros(len(cost), dtype=np.bool_)
    for node in tree.bottom_up():
        below = NODE_BITS + test_bits + cost[tree.left[node]] + cost[tree.right[node]]
        if below < as_leaf[node]:
            cost[node], split[node] = below, True
    return split


def leaf_costs(counts: Integers) -> Floats:
    """The bits that encode each node as a leaf with its errors."""
    return NODE_BITS + (counts.sum(axis=1) - counts.max(axis=1)).astype(np.float64)


def prune(tree: GiniTree, split: npt.NDArray[np.bool_]) -> GiniTree:
    """The tree in which only the nodes in `split` keep their children, renumbered."""
    nodes, links = tree.pruned(split)
    return GiniTree(
        feature=links.feature,
        cut=np.where(links.inner, tree.cut[nodes], 0),
        left=links.left,
        right=links.right,
        counts=tree.counts[nodes],
    )
