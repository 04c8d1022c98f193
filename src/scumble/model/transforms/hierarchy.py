"""The hierarchical histogram of Hay, Rastogi, Miklau & Suciu (2010): the counts of all nodes of a tree of intervals.

The noisy counts of a node and of its children disagree. Constrained inference replaces them by the consistent counts
that are nearest, in two passes over the tree: upward, a node's own count and the sum of its children are averaged by
precision; downward, what the children lack to their parent's estimate is divided among them in proportion to their
variances. The paper has the formulas for trees with equal numbers of children; these are the same for any tree.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.transforms.interval_tree import IntervalTree, as_column
from scumble.model.transforms.transform import Transform


@dataclass(frozen=True, kw_only=True)
class Hierarchy(Transform):
    """The count of every node of a tree, breadth first; estimates by least squares.

    >>> flat = Hierarchy(tree=IntervalTree.balanced(2, branching=2))
    >>> flat.reconstruct(np.array([6.0, 1.0, 2.0])).tolist()
    [2.0, 3.0]
    """

    kind = "hierarchy"
    tree: IntervalTree

    @property
    def values(self) -> int:
        return self.tree.size

    @property
    def coefficients(self) -> int:
        return self.tree.nodes

    @property
    def sensitivity(self) -> int:
        """A record is counted once by each node on the path from the root to its value, which has at most as many nodes
        as the tree has levels."""
        return self.tree.height

    @property
    def squared(self) -> int:
        return self.tree.height

    def forward(self, table: Integers) -> Integers:
        return self.tree.sums(table)

    @cached_property
    def _variances(self) -> Floats:
        """The variance of the upward estimate of each node, in units of the variance of a measured count."""
        variances = np.ones(self.tree.nodes)
        for nodes in reversed(self.tree.inner):
            below = self.tree.sums_of_children(variances, nodes)
            variances[nodes] = below / (1 + below)
        return variances

    def reconstruct(self, measured: Floats) -> Floats:
        tree = self.tree
        estimates = np.array(measured, dtype=np.float64)
        for nodes in reversed(tree.inner):
            own = as_column(self._variances[nodes], estimates)
            estimates[nodes] = own * estimates[nodes] + (1 - own) * tree.sums_of_children(estimates, nodes)
        for nodes in tree.inner:
            below = tree.children_of(nodes)
            parents = tree.parents[below]
            missing = np.zeros_like(estimates)
            missing[nodes] = estimates[nodes] - tree.sums_of_children(estimates, nodes)
            shares = np.ones(tree.nodes)
            shares[nodes] = tree.sums_of_children(self._variances, nodes)
            part = self._variances[below] / shares[parents]
            estimates[below] += as_column(part, estimates) * missing[parents]
        return estimates[tree.leaves]

    def adjoint(self, weights: Floats) -> Floats:
        """With H for `forward`, the estimate is (H'H)^-1 H' measured, so the weights are H (H'H)^-1 weights. A vector y
        that has the weights at the leaves and zero elsewhere satisfies H'y = weights, so the estimate from y is
        (H'H)^-1 weights."""
        leaves = np.zeros((self.tree.nodes, *weights.shape[1:]))
        leaves[self.tree.leaves] = weights
        return np.asarray(self.tree.sums(self.reconstruct(leaves)))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "children": list(self.tree.children)}
