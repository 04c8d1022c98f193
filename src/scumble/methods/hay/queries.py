"""The query of `hay`: the counts of all nodes of a tree over each attribute, by class (proof: PROOF.md)."""

from dataclasses import dataclass

import numpy as np

from scumble.methods.histograms.method import ClassTables
from scumble.model.counts import Counts, Integers
from scumble.model.guarantee import Unit
from scumble.model.transforms.hierarchy import Hierarchy
from scumble.privacy.query import Sensitivity


@dataclass(frozen=True, kw_only=True)
class ClassHierarchies(ClassTables):
    """The number of records of each class in each node of each attribute's tree: one table per attribute."""

    hierarchies: tuple[Hierarchy, ...]
    """One for each predictor, in order."""

    def answer(self, counts: Counts) -> Integers:
        tables = super().tables(super().answer(counts))
        return np.concatenate([each.forward(t).ravel() for each, t in zip(self.hierarchies, tables, strict=True)])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record has one class and one value of each attribute. In the table of an attribute it is counted by the
        nodes on the path from the root to its value, at most as many as the tree has levels, each in the column of its
        class. Adding or removing it changes these counts by one; replacing it changes those of two paths, each by at
        most one. All heights add up to the bound. Each change is at most one, so squares have the same bound."""
        changes = sum(each.sensitivity for each in self.hierarchies) * (1 if unit is Unit.ADD_REMOVE else 2)
        return Sensitivity(bound=changes, squared=changes)

    def tables(self, measured: Integers) -> list[Integers]:
        """Split the measured vector into a table of shape (nodes, classes) for each predictor."""
        classes = len(self.schema.classes)
        lengths = [each.coefficients * classes for each in self.hierarchies]
        return [part.reshape(-1, classes) for part in np.split(measured, np.cumsum(lengths)[:-1])]
