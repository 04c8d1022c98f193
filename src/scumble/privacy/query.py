"""Queries: what may be asked of private counts, each with its proof obligation beside it.

A query names the counts it needs and has two pure functions: `answer`, whole numbers from exact counts, and
`sensitivity`, how far one person can move that answer. The neighbour law (`scumble.auditing.laws.queries`) checks
the second against the first for every query.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Block, Counts, Integers, Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.taxonomy import Node

Region = tuple[str, Node]
"""The records whose value of one attribute lies in one node: a box that spans all other attributes."""

Box = tuple[tuple[int, int], ...]
"""Records by all their attributes: for each attribute of the schema in order the codes [low, high)."""

Array = npt.NDArray[Any]
"""Whole numbers: counts and worths, or secret shares of them."""


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """A bound on the change of an answer between neighbouring tables: of each score of a choice, of the sum of all
    absolute changes of a measurement. `monotone`: adding a record lowers no score."""

    bound: int
    monotone: bool = False


class Query(ABC):
    """A question to the holder."""

    @property
    @abstractmethod
    def tabulation(self) -> Tabulation:
        """The counts that `answer` needs."""

    @property
    def region(self) -> Region | None:
        """The only records the answer depends on; None where all do."""
        return None

    @abstractmethod
    def answer(self, counts: Counts) -> Integers:
        """Whole numbers, a pure function of the counts."""

    @abstractmethod
    def sensitivity(self, unit: Unit) -> Sensitivity:
        """How far neighbouring tables can move the answer, with the argument in the docstring."""


class Choice(Query):
    """A query whose answer is one score per candidate; nothing is told but a privately chosen index."""


def majority(groups: Integers) -> Integers:
    """How many records of each group have its commonest class. Classes lie on the last axis."""
    return groups.max(axis=-1)


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a group of records is worth: a number made of its class counts, which lie on the last axis."""

    of: Callable[[Integers], Array]
    divides: bool
    """Whether it takes division. Several owners can compare secret numbers, but not divide them."""


MAJORITY = Worth(of=majority, divides=False)


@dataclass(frozen=True, kw_only=True)
class Run:
    """Candidates in a row and the groups of records that they make, or those groups' worths.

    The axes are (outer, candidates, inner, classes) of what is made, in one or several arrays, and (outer, inner,
    classes) of what all of the candidates take apart. Worths lack the last axis and may have others in front.
    """

    made: tuple[Array, ...]
    taken: Array | None = None

    @property
    def groups(self) -> tuple[Array, ...]:
        return self.made if self.taken is None else (*self.made, self.taken)

    def valued(self, worths: Iterable[Array]) -> "Run":
        """The same with worths in place of class counts, in the order of `groups`."""
        *made, last = worths
        return Run(made=(*made, last)) if self.taken is None else Run(made=tuple(made), taken=last)

    def scores(self) -> Array:
        """For each candidate the worth of the groups it makes, less the worth of those it takes apart."""
        kind = self.made[0].dtype
        score = self.made[0].sum(axis=(-3, -1), dtype=kind)
        for worths in self.made[1:]:
            score = score + worths.sum(axis=(-3, -1), dtype=kind)
        return score if self.taken is None else score - self.taken.sum(axis=(-2, -1), dtype=kind)[..., np.newaxis]


class GroupChoice(Choice):
    """A choice whose scores add up the worth of groups of records.

    Class counts of groups are sums of the table's, which several owners can add up without showing them; `worth` is all
    that a score needs beyond sums. So the score is stated once, for one owner and for several.
    """

    @property
    @abstractmethod
    def worth(self) -> Worth: ...

    @abstractmethod
    def runs(self, counts: Counts) -> Iterator[Run]:
        """The class counts of the groups, candidates in order. Each count adds up counts of the table."""

    def common(self, counts: Counts) -> Integers:
        """Groups, of shape (groups, classes), whose worth belongs to every score: it decides no choice."""
        return np.zeros((0, counts.cells.shape[-1]), dtype=np.int64)

    def answer(self, counts: Counts) -> Integers:
        scores = [run.valued(map(self.worth.of, run.groups)).scores() for run in self.runs(counts)]
        return np.concatenate(scores) + self.worth.of(self.common(counts)).sum()


class Measurement(Query):
    """A query whose answer is a vector, told with noise."""

    additive: ClassVar[bool] = False
    """Whether the answer about several tables' records together is the sum of the answers about each table."""


@dataclass(frozen=True, kw_only=True)
class CellCounts(Measurement):
    """How many records of each class lie in each cell of a cut, in units of 1/`resolution`, as one long vector."""

    additive = True
    cut: Cut
    resolution: int = 1

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=self.cut)

    def answer(self, counts: Counts) -> Integers:
        return counts.cells.ravel() * self.resolution

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in exactly one cell and has one class. Adding or removing it changes one count by one;
        replacing it takes one from one count and adds one to another. The resolution multiplies every count."""
        return Sensitivity(bound=(1 if unit is Unit.ADD_REMOVE else 2) * self.resolution)


class RowQuery(ABC):
    """A question that no small count table answers: it sees the coded rows, block by block, inside the holder alone.

    The same law holds as for every query, and the answer may not depend on how the rows are cut into blocks.
    """

    @property
    def parts(self) -> tuple[Box, ...]:
        """Boxes, one for each line of the answer, outside of which no record matters to that line; none: all matter."""
        return ()

    @abstractmethod
    def answer(self, blocks: Iterable[Block]) -> Integers:
        """Whole numbers, a pure function of the rows."""

    @abstractmethod
    def sensitivity(self, unit: Unit) -> Sensitivity:
        """How far neighbouring tables can move the answer, with the argument in the docstring."""


class SummedRows(RowQuery):
    """A row query that needs rows for sums alone: an engine whose rows lie apart can add these up where they lie."""

    @abstractmethod
    def gather(self, blocks: Iterable[Block]) -> Integers:
        """Whole numbers that add up over the rows, however these are cut into blocks."""

    def finish(self, sums: Integers) -> Integers:
        """The answer from the sums."""
        return sums

    def answer(self, blocks: Iterable[Block]) -> Integers:
        return self.finish(self.gather(blocks))


class RowChoice(RowQuery):
    """A row query whose answer has one line of scores for each part, or a single line; an index is chosen in each.

    `sensitivity` bounds the change of each score.
    """


class RowMeasurement(RowQuery):
    """A row query whose answer is told with noise. `sensitivity` bounds the sum of all absolute changes."""
