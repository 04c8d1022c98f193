"""Scores of specializations, as queries with their sensitivities (proofs: PROOF.md, section 3).

A score is the sum, over groups of records, of a group's *worth*, which depends only on its class counts:

- `majority`: the number of records with the group's most frequent class;
- `purity`: the sum of squared class counts divided by the group's size, in units of 2^-16, rounded down.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from math import isqrt, log2

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Counts, Integers, Tabulation
from scumble.model.cut import Cut, Specialization
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node
from scumble.privacy.query import DIVIDED, MAJORITY, GroupChoice, Region, Run, Sensitivity, Worth

PURITY_SCALE = 1 << 16
ENTROPY_SCALE = 1 << 20
LARGEST_SQUARES = 2**62
"""The largest sum of squared class counts of a group: exact in 64 bits."""


class Score(StrEnum):
    """How specializations are compared."""

    ACCURACY = "accuracy"
    GINI = "gini"
    MAX = "max"
    INFOGAIN = "infogain"

    @property
    def worth(self) -> Worth:
        """The worth of a group of records under this score."""
        return {Score.GINI: PURITY, Score.INFOGAIN: INFORMATION}.get(self, MAJORITY)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A specialization of one node: of a tree's node into its children, of an interval at a position."""

    attribute: str
    node: Node
    position: int = 0

    def step(self, schema: Schema) -> Specialization:
        children = schema[self.attribute].domain.split(self.node, self.position)
        return Specialization(attribute=self.attribute, node=self.node, children=children)


def purity(groups: Integers) -> Integers:
    """The sum of squares divided by the size, times 2^16, rounded down once per group; zero for an empty group.

    Exact: with S = q n + r, floor(M S / n) = M q + floor(M r / n). Counts are clipped to a public limit (1.5e9 for two
    classes), so that no square exceeds 64 bits. Clipping never increases the change that one record makes to a count.
    """
    clipped = np.minimum(groups, isqrt(LARGEST_SQUARES // groups.shape[-1]))
    size = clipped.sum(axis=-1)
    squares = np.einsum("...c,...c->...", clipped, clipped)
    quotient, remainder = np.divmod(squares, np.maximum(size, 1))
    return PURITY_SCALE * quotient + PURITY_SCALE * remainder // np.maximum(size, 1)


def information(groups: Integers) -> npt.NDArray[np.float64]:
    """For each group, its number of records times the entropy of its classes in bits."""
    size = groups.sum(axis=-1, keepdims=True)
    share = groups / np.maximum(size, 1)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return -(groups * logs).sum(axis=-1)


PURITY = Worth(of=purity, needs=DIVIDED)
INFORMATION = Worth(of=information, needs=DIVIDED)


@dataclass(frozen=True, kw_only=True)
class PartitionScores(GroupChoice):
    """`accuracy` or `gini`: the total worth of all cells of the table after each candidate's specialization."""

    cut: Cut
    candidates: tuple[Candidate, ...]
    score: Score

    @cached_property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=self.cut, fine=_attributes(self.candidates))

    @property
    def worth(self) -> Worth:
        return self.score.worth

    def runs(self, counts: Counts) -> Iterator[Run]:
        for candidates, table in _by_node(self.candidates, counts):
            node = candidates[0].node
            yield Run(made=_children(candidates, table), taken=table[:, node.low : node.high].sum(axis=1))

    def common(self, counts: Counts) -> Integers:
        return counts.cells

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one cell of the partition that a candidate makes, and changes the worth of that cell only.

        `accuracy`: adding a record to a group raises its largest class count by 0 or 1. So every score rises by 0 or 1:
        bound 1, monotone. Replacing is removing and adding: the change lies in [-1, 1].

        `gini`: adding a record of class j to a group of n records with class counts n_c and S = sum n_c^2 changes S/n
        by (n (2 n_j + 1) - S) / (n (n + 1)), which lies in (-1, 1]; by 1 where n = 0. Times M and rounded down once,
        the change lies in [-M, M]. It can be negative: not monotone. Replacing changes it twice.
        """
        if self.score is Score.ACCURACY:
            return Sensitivity(bound=1, monotone=True)
        return Sensitivity(bound=PURITY_SCALE * (1 if unit is Unit.ADD_REMOVE else 2))


@dataclass(frozen=True, kw_only=True)
class ValueScores(GroupChoice):
    """`max` or `infogain`, as published: a candidate's score depends on the records generalized to its node, whatever
    their other attributes are. The tables of single attributes by class are enough to compute it."""

    schema: Schema
    candidates: tuple[Candidate, ...]
    score: Score
    within: Region | None = None
    """The node that contains all candidates, if they lie in one node of one attribute."""
    as_published: bool = False
    """Whether to ignore that `max` is monotone, as the paper does. The same selection then costs twice as much."""

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=Cut.top(self.schema), fine=tuple(a.name for a in self.schema.predictors))

    @property
    def region(self) -> Region | None:
        return self.within

    @property
    def worth(self) -> Worth:
        return self.score.worth

    def runs(self, counts: Counts) -> Iterator[Run]:
        for candidates, table in _by_node(self.candidates, counts):
            yield Run(made=_children(candidates, table))

    def answer(self, counts: Counts) -> Integers:
        if self.score is Score.MAX:
            return super().answer(counts)
        return np.concatenate([self._gains(run) for run in self.runs(counts)])

    def _gains(self, run: Run) -> Integers:
        records = np.sum([groups[:, 0].sum(axis=(0, 1)) for groups in run.made], axis=0)
        size = max(int(records.sum()), 1)
        remaining = run.valued(map(self.worth.of, run.groups)).scores()
        gains = (information(records) - remaining) / size
        return np.clip(np.floor(gains * ENTROPY_SCALE), 0, self._ceiling).astype(np.int64)

    @property
    def _ceiling(self) -> int:
        return int(ENTROPY_SCALE * log2(len(self.schema.classes)))

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """`max`: a record lies in one child of a candidate, or in none. Adding it raises that child's largest class
        count by 0 or 1: bound 1, monotone. Replacing it changes the score by -1, 0 or 1.

        `infogain`: the score is clipped to the range from 0 to log2 |classes|, so under either unit it changes by at
        most the length of that range (a crude bound, as published).
        """
        del unit
        if self.score is Score.MAX:
            return Sensitivity(bound=1, monotone=not self.as_published)
        return Sensitivity(bound=max(self._ceiling, 1))


def _attributes(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(candidate.attribute for candidate in candidates))


def _by_node(candidates: Sequence[Candidate], counts: Counts) -> Iterator[tuple[tuple[Candidate, ...], Integers]]:
    """Runs of candidates of the same node, in order, with the finest counts of their attribute.

    A generator, because the tables of all attributes together may not fit in memory.
    """
    for (attribute, _), run in groupby(candidates, key=lambda candidate: (candidate.attribute, candidate.node)):
        yield tuple(run), counts.fine[attribute]


def _children(candidates: Sequence[Candidate], table: Integers) -> tuple[Integers, ...]:
    """For candidates of one node: the class counts of the groups into which each divides the node's records."""
    node = candidates[0].node
    if node.children:
        lows = [child.low - node.low for child in node.children]
        groups = np.add.reduceat(table[:, node.low : node.high], lows, axis=1)
        return (groups.reshape(len(groups), 1, -1, groups.shape[-1]),)
    below = np.cumsum(table[:, node.low : node.high], axis=1)
    cuts = np.array([candidate.position for candidate in candidates]) - node.low - 1
    left = below[:, cuts]
    return left, below[:, -1:] - left
