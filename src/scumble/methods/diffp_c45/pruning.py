"""Pruning after the noise, and the class shares of every node: post-processing of the noisy class counts of the leaves.

The counts of an inner node are the sums of those of the leaves below it, so all counts are consistent. Friedman and
Schuster prune with C4.5's pessimistic errors on noisy counts. Noise makes every test look useful, as the largest of
several noisy counts is too large; so a test is kept only if the leaves below classify more records correctly than noise
explains, by more than the standard deviation of the noise of all counts below.
"""

import math

import numpy as np

from scumble.methods.diffp_c45.branching import Branching
from scumble.model.counts import Floats, Integers


def counts_by_node(tree: Branching, counts: Integers) -> Integers:
    """The noisy class counts of all nodes; `counts` are those of the leaves, in the order of `tree.leaves`."""
    found = np.zeros((len(tree.boxes), counts.shape[1]), dtype=np.int64)
    found[list(tree.leaves)] = counts
    for node in reversed(range(len(tree.boxes))):
        for branch in tree.branches(node):
            found[node] += found[branch]
    return found


def kept_tests(tree: Branching, counts: Integers, *, deviation: float) -> set[int]:
    """The inner nodes that keep their test; `counts` are those of all nodes."""
    correct: dict[int, int] = {}
    leaves: dict[int, int] = {}
    kept = set()
    for node in reversed(range(len(tree.boxes))):
        alone = max(int(counts[node].max()), 0)
        below = list(tree.branches(node))
        split = sum(correct[branch] for branch in below)
        number = sum(leaves[branch] for branch in below)
        noise = deviation * math.sqrt(max(number, 1) * counts.shape[1])
        keep = bool(below) and split - alone > noise
        if keep:
            kept.add(node)
        correct[node], leaves[node] = (split, number) if keep else (alone, 1)
    return kept


def shares_by_node(tree: Branching, counts: Integers, *, deviation: float) -> Floats:
    """Class shares of all nodes: noisy counts, shrunk toward the shares of the parent by the deviation of the noise."""
    classes = counts.shape[1]
    shares = np.zeros(counts.shape)
    parent = {branch: node for node in range(len(tree.boxes)) for branch in tree.branches(node)}
    for node in range(len(tree.boxes)):
        before = shares[parent[node]] if node in parent else np.full(classes, 1 / classes)
        known = np.maximum(counts[node], 0) + deviation * before
        shares[node] = known / known.sum()
    return shares
