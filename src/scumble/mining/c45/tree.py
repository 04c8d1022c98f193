"""Coded cases and the nodes of a C4.5 tree, both as arrays, and what a tree predicts.

A case has a weight. If its value of the tested feature is unknown, it goes to every branch, with a weight proportional
to that of the cases with known values there: a *fractional* case.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.counts import Floats, Integers

FeatureFlags = npt.NDArray[np.bool_]
CaseCodes = npt.NDArray[np.int32]
LEAF = -1
UNKNOWN = -1
"""The code of an unknown value."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The parameters of C4.5, with the defaults of Quinlan's program."""

    minimum_cases: float = 2.0
    confidence: float = 0.25
    raising: bool = True
    """Whether pruning may replace a node by its largest branch."""
    pruned: bool = True
    threshold_cost: bool = True
    """Whether the gain of a threshold is reduced by the cost of naming it, as since release 8."""


class Cases(NamedTuple):
    """Cases: rows of the table, and the weight of each."""

    rows: npt.NDArray[np.int32]
    weights: Floats

    def copied(self) -> "Cases":
        return Cases(self.rows.copy(), self.weights.copy())

    def enlarged(self) -> "Cases":
        """The same cases with room for twice as many."""
        return Cases(*(np.concatenate([array, np.zeros_like(array)]) for array in self))


class CaseTable(NamedTuple):
    """Training cases as codes. `codes` has shape (features, rows); codes of numbers are in the order of the numbers."""

    codes: CaseCodes
    labels: npt.NDArray[np.int32]
    classes: int
    sizes: Integers
    categorical: FeatureFlags
    usable: FeatureFlags
    """Features that may be tested."""
    values: Floats
    """The values behind the codes, those of one feature after the other."""
    starts: Integers
    """Where the values of each feature start, and where the last end."""

    def values_of(self, feature: int) -> Floats:
        return self.values[self.starts[feature] : self.starts[feature + 1]]


class Nodes(NamedTuple):
    """The nodes of a tree, the root first. The branches of a node are neighbours; parents are before their branches.

    A node with branches tests a feature: each category has a branch, or codes up to `cut` go to the first of two.
    """

    feature: npt.NDArray[np.int32]
    cut: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    """The first branch."""
    branches: npt.NDArray[np.int32]
    """How many branches there are; zero for a leaf."""
    parent: npt.NDArray[np.int32]
    share: Floats
    """The weight of known cases in this node, as a share of those in all branches of its parent."""
    counts: Floats
    """The weight of each class, shape (nodes, classes)."""

    @classmethod
    def space(cls, nodes: int, classes: int) -> "Nodes":
        """Room for nodes, all of them leaves without cases."""
        features, cuts, firsts, parents = (np.full(nodes, LEAF, dtype=np.int32) for _ in range(4))
        branches = np.zeros(nodes, dtype=np.int32)
        return cls(features, cuts, firsts, branches, parents, np.zeros(nodes), np.zeros((nodes, classes)))

    def enlarged(self) -> "Nodes":
        """The same nodes with twice as much room."""
        more = Nodes.space(2 * len(self.feature), self.counts.shape[1])
        pairs: Any = zip(self, more, strict=True)
        for array, larger in pairs:
            larger[: len(array)] = array
        return more

    def reachable(self) -> "Nodes":
        """The nodes below the root, level by level: pruning leaves others behind."""
        level = np.zeros(1, dtype=np.int64)
        kept, above = [], np.full(1, LEAF)
        parents, firsts = [above], []
        used = 1
        while level.size:
            kept.append(level)
            sizes = self.branches[level].astype(np.int64)
            ends = np.cumsum(sizes)
            firsts.append(np.where(sizes > 0, used + ends - sizes, LEAF))
            within = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
            parents.append(np.repeat(used - len(level) + np.arange(len(level)), sizes))
            level = np.repeat(self.first[level], sizes) + within
            used += len(level)
        arrays: Any = (array[np.concatenate(kept)] for array in self)
        chosen = Nodes(*arrays)
        chosen.first[:], chosen.parent[:] = np.concatenate(firsts), np.concatenate(parents)
        return chosen


@dataclass(frozen=True, kw_only=True, eq=False)
class C45Tree:
    """A learned tree with the values behind its codes. Reading and predicting needs numpy and compiled loops only."""

    arrays: Nodes
    values: tuple[Floats, ...]
    categorical: FeatureFlags
    classes: int

    @property
    def root(self) -> "C45Node":
        return C45Node(self.arrays, 0)

    @property
    def leaves(self) -> int:
        return int((self.arrays.branches == 0).sum())

    @property
    def nodes(self) -> int:
        return len(self.arrays.branches)

    def codes(self, features: npt.ArrayLike) -> CaseCodes:
        """Codes of new rows. A category that no training case has is an unknown value."""
        return coded(np.asarray(features), self.values, self.categorical)

    def probabilities(self, features: npt.ArrayLike) -> Floats:
        """The class shares of the leaf that each row reaches; with unknown values, their weighted mean.

        A leaf that no training case reached has the shares of its parent.
        """
        codes = self.codes(features)
        result = np.zeros((codes.shape[1], self.classes))
        _predict(codes, self.arrays, np.empty_like(self.arrays.counts), result)
        return result


class C45Node(NamedTuple):
    """A node of a tree, to be read one by one."""

    arrays: Nodes
    place: int

    @property
    def counts(self) -> Floats:
        counts: Floats = self.arrays.counts[self.place]
        return counts

    @property
    def size(self) -> float:
        return float(self.counts.sum())

    @property
    def feature(self) -> int:
        return int(self.arrays.feature[self.place])

    @property
    def cut(self) -> int:
        return int(self.arrays.cut[self.place])

    @property
    def branches(self) -> "list[C45Node]":
        first = int(self.arrays.first[self.place])
        return [C45Node(self.arrays, first + branch) for branch in range(int(self.arrays.branches[self.place]))]

    def below(self) -> "Iterator[C45Node]":
        """This node and all nodes below it, parents before their branches."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.branches))


@compiled
def become_leaf(nodes, node):  # type: ignore[no-untyped-def]
    nodes.feature[node] = nodes.cut[node] = nodes.first[node] = LEAF
    nodes.branches[node] = 0


@compiled
def _predict(codes, nodes, shares, result):  # type: ignore[no-untyped-def]
    """Add up the class shares of the leaves that each row reaches; `shares` is room for those of each node."""
    classes = shares.shape[1]
    for node in range(len(nodes.feature)):
        total = nodes.counts[node].sum()
        for label in range(classes):
            if total > 0.0:
                shares[node, label] = nodes.counts[node, label] / total
            else:
                shares[node, label] = shares[nodes.parent[node], label] if node else 1.0 / classes
    waiting = np.empty(len(nodes.feature), dtype=np.int64)
    weights = np.empty(len(nodes.feature))
    for row in range(codes.shape[1]):
        waiting[0], weights[0], used = 0, 1.0, 1
        while used:
            used -= 1
            node, weight = waiting[used], weights[used]
            while nodes.branches[node]:
                code = codes[nodes.feature[node], row]
                if code < 0:
                    break
                cut = nodes.cut[node]
                node = nodes.first[node] + (code if cut < 0 else int(code > cut))
            if nodes.branches[node]:
                for branch in range(nodes.first[node], nodes.first[node] + nodes.branches[node]):
                    if nodes.share[branch] > 0.0:
                        waiting[used], weights[used] = branch, weight * nodes.share[branch]
                        used += 1
                continue
            for label in range(classes):
                result[row, label] += weight * shares[node, label]


def coded(features: npt.NDArray[Any], values: tuple[Floats, ...], categorical: FeatureFlags) -> CaseCodes:
    """The code of each value, shape (features, rows): of a number, the smallest known number that is not smaller."""
    codes: CaseCodes = np.empty(features.shape[::-1], dtype=np.int32)
    for place, (known, category) in enumerate(zip(values, categorical, strict=True)):
        column = features[:, place].astype(np.float64)
        found = np.searchsorted(known, column)
        unknown = np.isnan(column)
        if category:
            inside = np.minimum(found, max(len(known) - 1, 0))
            unknown |= (known[inside] != column) if len(known) else True
        codes[place] = np.where(unknown, UNKNOWN, found)
    return codes


def coded_table(features: Floats, labels: Integers, *, classes: int, categorical: FeatureFlags) -> CaseTable:
    """A table of training cases; every value that occurs gets a code. All features may be tested."""
    values = tuple(np.unique(column[~np.isnan(column)]) for column in features.T)
    sizes = np.array([len(each) for each in values], dtype=np.int64)
    return CaseTable(
        codes=coded(features, values, categorical),
        labels=labels.astype(np.int32),
        classes=classes,
        sizes=sizes,
        categorical=categorical,
        usable=np.ones(len(values), dtype=np.bool_),
        values=np.concatenate([np.zeros(0), *values]),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
    )
