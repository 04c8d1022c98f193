"""The query of `barak`: the Fourier coefficients of some marginals, as integers (proof: PROOF.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from scumble.model.counts import Counts, Integers, Tabulation, places_of
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.operation import SUMS
from scumble.model.transforms.transform import transformed
from scumble.model.transforms.walsh import Walsh
from scumble.privacy.query import Measurement, Sensitivity


@dataclass(frozen=True, kw_only=True)
class MarginalCoefficients(Measurement):
    """The Walsh coefficients of all marginals, each coefficient once, although several marginals contain it.

    The axes are those of the cut, in order, and the class last. A marginal is a set of axes, ascending.
    """

    needs = SUMS
    cut: Cut
    marginals: tuple[tuple[int, ...], ...]

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=self.cut)

    @cached_property
    def walsh(self) -> tuple[Walsh, ...]:
        """The transform of each axis."""
        return tuple(Walsh(size=size) for size in (*self.cut.shape, len(self.cut.schema.classes)))

    @cached_property
    def coefficients(self) -> Integers:
        """The coefficients, ascending, by their place among those of all axes."""
        return np.unique(np.concatenate([self._own(marginal) for marginal in self.marginals]))

    def _own(self, marginal: Sequence[int]) -> Integers:
        """The coefficients of one marginal: sets of bits of its axes, and no bit of another."""
        shape = [each.coefficients for each in self.walsh]
        digits = [np.zeros(1, dtype=np.int64)] * len(shape)
        for axis, column in zip(marginal, np.indices([shape[axis] for axis in marginal]), strict=True):
            digits[axis] = column.ravel()
        return places_of(np.broadcast_arrays(*digits), shape)

    def places(self, marginal: Sequence[int]) -> Integers:
        """The places of the coefficients of one marginal in the answer, in row-major order."""
        return np.searchsorted(self.coefficients, self._own(marginal))

    def transforms(self, marginal: Sequence[int]) -> tuple[Walsh, ...]:
        """The transforms of the axes of one marginal."""
        return tuple(self.walsh[axis] for axis in marginal)

    def answer(self, counts: Counts) -> Integers:
        return self.of_table(counts.cells.reshape(*self.cut.shape, -1))

    def of_table(self, table: Integers) -> Integers:
        """The coefficients of a table with all axes."""
        found = np.zeros(len(self.coefficients), dtype=np.int64)
        for marginal in self.marginals:
            others = tuple(axis for axis in range(table.ndim) if axis not in marginal)
            found[self.places(marginal)] = transformed(table.sum(axis=others), self.transforms(marginal)).ravel()
        return found

    @property
    def cells(self) -> int:
        """The number of cells of all axes together."""
        return prod(each.values for each in self.walsh)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A coefficient adds up 1 or -1 for each record, by the parity of some bits of its values. Adding or removing a
        record changes every coefficient by one. Replacing a record changes each by nothing or by two. So with c
        coefficients the changes add up to c and their squares to c; at most to 2 c and 4 c if a record is replaced."""
        number = len(self.coefficients)
        if unit is Unit.ADD_REMOVE:
            return Sensitivity(bound=number, squared=number)
        return Sensitivity(bound=2 * number, squared=4 * number)
