"""Queries about private data, each with its declared sensitivity.

A query names the counts that it needs and has two pure functions. `answer` computes integers from exact counts.
`sensitivity` bounds how far one person can change that answer. `scumble.auditing.laws.queries` checks the bound of
every query on random neighbouring tables.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Block, Counts, Integers, Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.operation import COMPARED, ROWS, SUMS, Operation
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node

Region = tuple[str, Node]
"""The records whose value of one attribute lies in one node, whatever their other attributes are."""

Box = tuple[tuple[int, int], ...]
"""A range of codes [low, high) for each attribute of the schema, in order."""

Array = npt.NDArray[Any]
"""Integers: counts and worths, or secret shares of them."""


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """A bound on the change of an answer between neighbouring tables.

    For a choice, `bound` bounds the change of each score; for a measurement, the sum of all absolute changes (L1).
    `monotone` means that adding a record lowers no score.

    >>> Sensitivity(bound=3).l2_squared, Sensitivity(bound=3, squared=3).l2_squared
    (9, 3)
    """

    bound: int
    monotone: bool = False
    squared: int | None = None
    """For a measurement, a bound on the sum of all squared changes, which Gaussian noise needs; None: not known."""

    @property
    def l2_squared(self) -> int:
        """A bound on the square of the L2 distance: the declared one, or the square of the L1 bound.

        L2 is at most L1, because the square of a sum of absolute values is at least the sum of their squares. If every
        number of the answer changes by at most m, a query may declare m times its L1 bound, because each square is then
        at most m times the absolute change.
        """
        return self.bound**2 if self.squared is None else self.squared


class Query(ABC):
    """A question to the holder that counts can answer."""

    needs: ClassVar[frozenset[Operation]] = ROWS
    """What the answers to queries of this kind need. Everything, unless a subclass says that less is enough."""

    @property
    def operations(self) -> frozenset[Operation]:
        """What the answer to this query needs."""
        return self.needs

    @property
    @abstractmethod
    def tabulation(self) -> Tabulation:
        """The counts that `answer` needs."""

    @property
    def region(self) -> Region | None:
        """The only records that the answer depends on; None if it depends on all."""
        return None

    @abstractmethod
    def answer(self, counts: Counts) -> Integers:
        """Integers, a pure function of the counts."""

    @abstractmethod
    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A bound on the change of the answer between neighbouring tables. Subclasses prove it in the docstring."""


class Choice(Query):
    """A query whose answer is one score per candidate. Only a privately selected index is released."""


def majority(groups: Integers) -> Integers:
    """The number of records with the most frequent class of each group. Classes lie on the last axis."""
    return groups.max(axis=-1)


@dataclass(frozen=True, kw_only=True)
class Worth:
    """The worth of a group of records: a number computed from its class counts, which lie on the last axis."""

    of: Callable[[Integers], Array]
    needs: frozenset[Operation]


MAJORITY = Worth(of=majority, needs=COMPARED)
DIVIDED = COMPARED | {Operation.DIVISION}


@dataclass(frozen=True, kw_only=True)
class Run:
    """Consecutive candidates and the groups of records that they make, or the worths of those groups.

    `made` are the groups that each candidate makes, in one or several arrays with the axes (outer, candidates, inner,
    classes). `taken` are the groups that all of the candidates divide, with the axes (outer, inner, classes). Worths
    lack the last axis and may have others in front.
    """

    made: tuple[Array, ...]
    taken: Array | None = None

    @property
    def groups(self) -> tuple[Array, ...]:
        return self.made if self.taken is None else (*self.made, self.taken)

    def valued(self, worths: Iterable[Array]) -> "Run":
        """This run with worths in place of class counts, in the order of `groups`."""
        *made, last = worths
        return Run(made=(*made, last)) if self.taken is None else Run(made=tuple(made), taken=last)

    def scores(self) -> Array:
        """For each candidate, the worth of the groups that it makes minus the worth of those that it divides."""
        kind = self.made[0].dtype
        score = self.made[0].sum(axis=(-3, -1), dtype=kind)
        for worths in self.made[1:]:
            score = score + worths.sum(axis=(-3, -1), dtype=kind)
        return score if self.taken is None else score - self.taken.sum(axis=(-2, -1), dtype=kind)[..., np.newaxis]


class GroupChoice(Choice):
    """A choice whose scores add up the worth of groups of records.

    The class counts of groups are sums of counts of the table, which several owners can add up without revealing them.
    `worth` is all that a score needs beyond sums, so the same definition serves one owner and several.
    """

    @property
    @abstractmethod
    def worth(self) -> Worth: ...

    @property
    def operations(self) -> frozenset[Operation]:
        return self.worth.needs

    @abstractmethod
    def runs(self, counts: Counts) -> Iterator[Run]:
        """The class counts of the groups, with candidates in order. Each is a sum of counts of the table."""

    def common(self, counts: Counts) -> Integers:
        """Groups, of shape (groups, classes), whose worth is part of every score, so that it does not affect the
        choice."""
        return np.zeros((0, counts.cells.shape[-1]), dtype=np.int64)

    def answer(self, counts: Counts) -> Integers:
        scores = [run.valued(map(self.worth.of, run.groups)).scores() for run in self.runs(counts)]
        return np.concatenate(scores) + self.worth.of(self.common(counts)).sum()


class Measurement(Query):
    """A query whose answer is a vector that is released with noise.

    It may declare that it needs sums only if the answer for the union of several tables is the sum of the answers for
    each table.
    """


@dataclass(frozen=True, kw_only=True)
class CellCounts(Measurement):
    """The number of records of each class in each cell of a cut, in units of 1/`resolution`, as one vector."""

    needs = SUMS
    cut: Cut
    resolution: int = 1

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=self.cut)

    def answer(self, counts: Counts) -> Integers:
        return counts.cells.ravel() * self.resolution

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in exactly one cell and has one class. Adding or removing it changes one count by one;
        replacing it lowers one count by one and raises another by one. The resolution multiplies every count. So one
        or two counts change, each by the resolution."""
        changes = 1 if unit is Unit.ADD_REMOVE else 2
        return Sensitivity(bound=changes * self.resolution, squared=changes * self.resolution**2)


@dataclass(frozen=True, kw_only=True)
class RecordCount(Measurement):
    """The number of records, as a vector of one number."""

    needs = SUMS
    schema: Schema

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=Cut.top(self.schema))

    def answer(self, counts: Counts) -> Integers:
        return counts.cells.sum(keepdims=True).ravel()

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """Adding or removing a record changes the number by one. Replacing one does not change it, and the bound of one
        is kept, so that the answer is never exact."""
        return Sensitivity(bound=1)


class RowQuery(ABC):
    """A query that needs the coded rows, because no small table of counts answers it. Only the holder computes it.

    The answer must not depend on how the rows are divided into blocks.
    """

    needs: ClassVar[frozenset[Operation]] = ROWS
    """As for `Query`. A measurement that needs sums only is a `SummedRows` whose answer is the sums."""

    @property
    def operations(self) -> frozenset[Operation]:
        """What the answer to this query needs."""
        return self.needs

    @property
    def parts(self) -> tuple[Box, ...]:
        """For each line of the answer, the box of the only records that it depends on. Empty if all lines depend on
        all."""
        return ()

    @abstractmethod
    def answer(self, blocks: Iterable[Block]) -> Integers:
        """Integers, a pure function of the rows."""

    @abstractmethod
    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A bound on the change of the answer between neighbouring tables. Subclasses prove it in the docstring."""


class SummedRows(RowQuery):
    """A row query that needs only sums over rows, which a distributed engine computes on each partition."""

    @property
    def sums_key(self) -> Hashable | None:
        """Queries with equal keys gather the same sums, so a holder may gather them once; None if it may not."""
        return None

    @abstractmethod
    def gather(self, blocks: Iterable[Block]) -> Integers:
        """Integers that add up over the rows, however these are divided into blocks."""

    def finish(self, sums: Integers) -> Integers:
        """The answer, computed from the sums."""
        return sums

    def answer(self, blocks: Iterable[Block]) -> Integers:
        return self.finish(self.gather(blocks))


class RowChoice(RowQuery):
    """A row query whose answer has one line of scores for each part, or a single line. An index is selected in each
    line.

    `sensitivity` bounds the change of each score.
    """


class DistanceChoice(RowChoice, SummedRows):
    """A row choice whose scores are distances between sums over rows and public expectations.

    A candidate's score is the sum of the absolute differences between its sums and what is expected, minus a public
    handicap. If `optional`, a last candidate has the score zero: it stands for choosing none.
    """

    needs = COMPARED
    handicaps: tuple[int, ...]
    optional: bool

    @abstractmethod
    def differences(self, sums: Integers) -> list[Integers]:
        """For each candidate, the gathered sums that belong to it, minus what is expected: linear, up to a constant."""

    def finish(self, sums: Integers) -> Integers:
        found = (int(np.abs(part).sum()) for part in self.differences(sums))
        scores = [distance - handicap for distance, handicap in zip(found, self.handicaps, strict=True)]
        return np.array([scores + [0] * self.optional])


class RowMeasurement(RowQuery):
    """A row query whose answer is released with noise. `sensitivity` bounds the sum of all absolute changes."""

    @property
    def numbers_per_row(self) -> int:
        """If the answer lists so many numbers for each row, in the order of the rows; else 0.

        A table is a multiset, so the order of its rows is not public. The holder then releases the noisy lines in
        ascending order. Their distribution does not depend on the order of the rows, so neighbouring tables may be
        compared in an order in which they differ in one place, and `sensitivity` has to bound the change there.
        """
        return 0
