"""The query of `privelet`: weighted wavelet coefficients of a whole table, as integers (proof: PROOF.md)."""

from dataclasses import dataclass

from scumble.model.counts import Counts, Integers, Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.operation import SUMS
from scumble.model.transforms.transform import Transform, sensitivity_of, squared_of, transformed
from scumble.privacy.query import Measurement, Sensitivity


@dataclass(frozen=True, kw_only=True)
class CellCoefficients(Measurement):
    """The coefficients of the counts of all cells of a cut by class, with a transform along each axis."""

    needs = SUMS
    cut: Cut
    transforms: tuple[Transform, ...]
    """One for each predictor, in order, and one for the class."""

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=self.cut)

    def answer(self, counts: Counts) -> Integers:
        table = counts.cells.reshape(*self.cut.shape, -1)
        return transformed(table, self.transforms).ravel()

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one cell and has one class. Along each axis it changes the coefficients of one value, by at
        most `Transform.sensitivity` together; its change of the table is the outer product of these changes, so the sum
        of the absolute values of all changes is the product of the sums, and likewise for squares. Replacing a record
        is removing one and adding one: the sum of the changes at most doubles, that of their squares at most
        quadruples."""
        bound, squared = sensitivity_of(self.transforms), squared_of(self.transforms)
        if unit is Unit.ADD_REMOVE:
            return Sensitivity(bound=bound, squared=squared)
        return Sensitivity(bound=2 * bound, squared=4 * squared)
