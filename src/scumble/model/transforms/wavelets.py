"""The wavelets of Privelet (Xiao, Wang & Gehrke 2010), multiplied by their weights, as integers.

Privelet adds less noise to a coefficient with a larger weight, which is the same as equal noise on coefficients times
weights. For the Haar wavelet, a coefficient is the difference of the averages of two halves, divided by two, and its
weight is the number of values of both: their product is the difference of the two sums. For nominal attributes, a
coefficient is the count of a node minus the average of its family (itself and its siblings), with the weight
f / (2f - 2) for a family of f.
"""

from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.transforms.interval_tree import IntervalTree, as_column
from scumble.model.transforms.transform import Transform

USUAL_SCALE = 1024
"""The scale of nominal coefficients if the exact weights need a larger one."""


@dataclass(frozen=True, kw_only=True)
class Haar(Transform):
    """The total, and the difference between the two halves of every interval of a balanced binary tree.

    The paper fills up values to a power of two; here the halves of an interval may differ by one value.

    >>> Haar(size=4).forward(np.array([1, 2, 3, 5])).tolist()
    [11, -5, -1, -2]
    """

    kind = "haar"
    size: int

    @cached_property
    def tree(self) -> IntervalTree:
        return IntervalTree.balanced(self.size, branching=2)

    @property
    def values(self) -> int:
        return self.size

    @property
    def coefficients(self) -> int:
        return self.size

    @property
    def sensitivity(self) -> int:
        """A record is in the total, and in one half of each interval on the path from the root to its value: it changes
        one coefficient by one for each node of the path, which has at most as many nodes as the tree has levels."""
        return self.tree.height

    @property
    def squared(self) -> int:
        return self.tree.height

    @cached_property
    def _steps(self) -> list[tuple[Integers, Integers, Integers]]:
        """For each depth, the intervals with halves, their first halves, and their coefficients."""
        ranks = np.cumsum((np.array(self.tree.children) > 0).astype(np.int64))
        return [(nodes, self.tree.first_children[nodes], ranks[nodes]) for nodes in self.tree.inner]

    def forward(self, table: Integers) -> Integers:
        sums = self.tree.sums(table)
        return np.concatenate([sums[:1], *(sums[left] - sums[left + 1] for _, left, _ in self._steps)])

    def reconstruct(self, measured: Floats) -> Floats:
        totals = np.zeros((self.tree.nodes, *measured.shape[1:]))
        totals[0] = measured[0]
        for nodes, left, ranks in self._steps:
            totals[left] = (totals[nodes] + measured[ranks]) / 2
            totals[left + 1] = (totals[nodes] - measured[ranks]) / 2
        return totals[self.tree.leaves]

    def adjoint(self, weights: Floats) -> Floats:
        gathered = np.zeros((self.tree.nodes, *weights.shape[1:]))
        gathered[self.tree.leaves] = weights
        found = np.zeros((self.coefficients, *weights.shape[1:]))
        for nodes, left, ranks in reversed(self._steps):
            found[ranks] = (gathered[left] - gathered[left + 1]) / 2
            gathered[nodes] = (gathered[left] + gathered[left + 1]) / 2
        found[0] = gathered[0]
        return found


@dataclass(frozen=True, kw_only=True)
class Nominal(Transform):
    """The total, and of every other node f times its count minus that of its parent, where f is the number of siblings.

    The coefficients of a family are multiplied by scale / (2f - 2), rounded down but at least 1, the total by scale.
    With a scale that all 2f - 2 divide, these are the paper's weights times the scale.
    """

    kind = "nominal"
    tree: IntervalTree
    scale: int

    def __post_init__(self) -> None:
        if type(self.scale) is not int or not 1 <= self.scale < 2**31:
            raise ValueError("the scale of nominal coefficients is not a whole number above zero")

    @classmethod
    def of(cls, tree: IntervalTree) -> "Nominal":
        """With the paper's weights if they are integers on a scale up to 1024; else nearly those."""
        families = {2 * number - 2 for number in tree.children if number}
        exact = lcm(*families) if families else 1
        return cls(tree=tree, scale=exact if exact <= USUAL_SCALE else max(USUAL_SCALE, *families))

    @property
    def values(self) -> int:
        return self.tree.size

    @property
    def coefficients(self) -> int:
        return self.tree.nodes

    @cached_property
    def _siblings(self) -> Integers:
        """The number of siblings of each node, itself included; 1 for the root."""
        siblings = np.array(self.tree.children)[self.tree.parents]
        siblings[0] = 1
        return siblings

    @cached_property
    def _weights(self) -> Integers:
        """The factor of each node's coefficient; for the root, that of the total."""
        weights = np.maximum(self.scale // np.maximum(2 * self._siblings - 2, 1), 1)
        weights[0] = self.scale
        return weights

    def _largest_path(self, of_family: Integers) -> int:
        """The largest sum of numbers of nodes over the path from the root to a leaf."""
        sums = of_family.copy()
        for level in self.tree.levels[1:]:
            sums[level] += sums[self.tree.parents[level]]
        return int(sums.max())

    @property
    def sensitivity(self) -> int:
        """A record changes the total by scale. In each family of f siblings on the path to its value, with factor w, it
        changes the coefficient of the node on the path by w (f - 1) and those of the f - 1 others by w: by w (2f - 2)
        together. The bound is the largest sum over a path."""
        families = self._weights * (2 * self._siblings - 2)
        families[0] = self.scale
        return self._largest_path(families)

    @property
    def squared(self) -> int:
        """As above, with w^2 (f - 1)^2 and f - 1 times w^2: w^2 f (f - 1) together."""
        families = self._weights**2 * self._siblings * (self._siblings - 1)
        families[0] = self.scale**2
        return self._largest_path(families)

    @property
    def largest(self) -> int:
        return max(self.scale, int((self._weights * np.maximum(self._siblings - 1, 1)).max()))

    def forward(self, table: Integers) -> Integers:
        sums = self.tree.sums(table)
        above = sums[self.tree.parents]
        above[0] = 0
        return as_column(self._weights, sums) * (as_column(self._siblings, sums) * sums - above)

    def reconstruct(self, measured: Floats) -> Floats:
        """The noise of a family is freed of its mean, because the coefficients of a family add up to zero; then counts
        are added up from the root down."""
        tree = self.tree
        totals = measured / as_column(self._weights * self._siblings, measured)
        for nodes in tree.inner:
            below = tree.children_of(nodes)
            own = np.zeros_like(totals)
            own[nodes] = totals[nodes] - tree.sums_of_children(totals, nodes)
            totals[below] += (own / as_column(np.maximum(np.array(tree.children), 1), own))[tree.parents[below]]
        return np.asarray(totals[tree.leaves])

    def adjoint(self, weights: Floats) -> Floats:
        tree = self.tree
        gathered = np.zeros((tree.nodes, *weights.shape[1:]))
        gathered[tree.leaves] = weights
        for nodes in reversed(tree.inner):
            below = tree.children_of(nodes)
            means = tree.sums_of_children(gathered, nodes) / as_column(np.array(tree.children)[nodes], gathered)
            gathered[nodes] = means
            gathered[below] -= gathered[tree.parents[below]]
        return np.asarray(gathered / as_column(self._weights * self._siblings, gathered))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "children": list(self.tree.children), "scale": self.scale}
