"""The queries of `explore`, with their sensitivities (proofs: PROOF.md, section 2).

Both need sums over the records and comparisons of such sums, so several owners can answer them together.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from scumble.methods.explore.margins import Margin, count_margins
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.model.operation import SUMS
from scumble.privacy.query import DistanceChoice, RowMeasurement, Sensitivity, SummedRows


@dataclass(frozen=True, kw_only=True)
class MarginCounts(RowMeasurement, SummedRows):
    """The number of records in each entry of several margins, each multiplied by a public weight.

    All entries get noise of one scale, so the counts of a margin with a larger weight have less.
    """

    needs = SUMS
    margins: tuple[Margin, ...]
    weights: tuple[int, ...]

    def gather(self, blocks: Iterable[Block]) -> Integers:
        counted = count_margins(self.margins, blocks)
        return np.concatenate([weight * table for weight, table in zip(self.weights, counted, strict=True)])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one entry of each margin. Adding or removing it changes that entry by the margin's weight;
        replacing it changes at most two entries of each margin so. All changes add up to the sum of the weights, their
        squares to the sum of the squared weights; to twice that if a record is replaced."""
        changes = 1 if unit is Unit.ADD_REMOVE else 2
        squares = sum(weight**2 for weight in self.weights)
        return Sensitivity(bound=sum(self.weights) * changes, squared=squares * changes)

    def split(self, measured: Integers) -> list[Integers]:
        """The noisy counts of each margin, in units of one over its weight."""
        return list(np.split(measured, np.cumsum([margin.cells for margin in self.margins])[:-1]))


@dataclass(frozen=True, kw_only=True)
class MarginChoice(DistanceChoice):
    """Which margin differs most from what the model expects.

    The score of a margin is the sum of the absolute differences between its counts and the expected ones, minus a
    public handicap. If `optional`, a last candidate has the score zero: it stands for choosing none.
    """

    margins: tuple[Margin, ...]
    """All that are counted. A holder counts them once for all choices with the same margins."""
    candidates: tuple[int, ...]
    """The indices of those that can be chosen."""
    expected: tuple[Integers, ...]
    """Public whole numbers: the expected counts of each candidate, which follow from answers paid before."""
    handicaps: tuple[int, ...]
    optional: bool = False

    @property
    def sums_key(self) -> Hashable:
        return MarginChoice, self.margins

    def gather(self, blocks: Iterable[Block]) -> Integers:
        return np.concatenate(count_margins(self.margins, blocks))

    def differences(self, sums: Integers) -> list[Integers]:
        counted = np.split(sums, np.cumsum([margin.cells for margin in self.margins])[:-1])
        return [counted[candidate] - mean for candidate, mean in zip(self.candidates, self.expected, strict=True)]

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """The expected counts and the handicaps are public. A record lies in one entry of each margin. Adding or
        removing it changes that count by one, so it changes the sum of absolute differences by at most one. It can
        lower a score, so scores are not monotone. Replacing a record changes two counts."""
        return Sensitivity(bound=1 if unit is Unit.ADD_REMOVE else 2)
