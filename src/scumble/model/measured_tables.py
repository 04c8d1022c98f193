"""Measured tables: contingency tables that a release publishes with noise, each with the law and variance of its noise.

Every method that publishes signed noisy counts can describe them as a `MeasuredTable`. `scumble.querying` answers
questions from such tables; `scumble.files.kinds` finds those of a release.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.domain import Domain
from scumble.model.guarantee import ApproxDP, Guarantee
from scumble.model.taxonomy import Tree
from scumble.model.transforms.transform import Transform, coefficient_weights, reconstructed

LARGEST_COUNT = 2.0**70
"""No count is larger: noisy counts are integers of 64 bits, and estimates are sums of few of them."""
LARGEST_VARIANCE = 2.0**140
"""No variance is larger: noise of a larger scale does not fit into 64 bits."""
LARGEST_UNIT = 2**31
"""The largest unit of counts, and the most draws of noise in one entry."""


class NoiseKind(StrEnum):
    """The law of the noise of a count, as documents name it."""

    LAPLACE = "discrete Laplace"
    GAUSSIAN = "discrete Gaussian"

    @classmethod
    def of(cls, guarantee: Guarantee) -> "NoiseKind":
        """The law of the noise of measurements under a guarantee."""
        return cls.GAUSSIAN if isinstance(guarantee, ApproxDP) else cls.LAPLACE


@dataclass(frozen=True, kw_only=True, eq=False)
class AttributeBins:
    """The bins of one attribute: disjoint sets of values that cover its domain.

    Bins of categories are given by `of_leaf`, the bin of each leaf of the finest taxonomy. Bins of numbers are given by
    `edges`: bin i holds the numbers in [edges[i], edges[i + 1]). `missing` is the bin of missing numbers, if there is
    one; it may be the last bin of numbers.
    """

    attribute: str
    size: int
    of_leaf: Integers | None = None
    edges: Floats | None = None
    missing: int | None = None

    @classmethod
    def of_domain(cls, attribute: str, domain: Domain) -> "AttributeBins":
        """One bin for each code of a domain, which may be a generalized one."""
        if isinstance(domain, Tree):
            return cls(attribute=attribute, size=domain.size, of_leaf=np.array(domain.codes_of_finest, dtype=np.int64))
        return cls(attribute=attribute, size=domain.size, edges=domain.edge_floats, missing=domain.missing_code)

    @classmethod
    def from_starts(cls, attribute: str, domain: Domain, starts: Integers) -> "AttributeBins":
        """Bins of neighbouring codes, given the first code of each. Raises `ValueError` if they do not ascend from 0.

        >>> from decimal import Decimal
        >>> from scumble.model.grid import Grid
        >>> age = Grid.regular(low=Decimal(0), high=Decimal(4), step=Decimal(1), missing="?")
        >>> bins = AttributeBins.from_starts("age", age, np.array([0, 2]))
        >>> bins.edges.tolist(), bins.missing
        ([0.0, 2.0, 4.0], 1)
        """
        bounds = np.append(starts, domain.size)
        if len(starts) == 0 or starts[0] != 0 or (np.diff(bounds) <= 0).any():
            raise ValueError(f"the bins of {attribute!r} do not ascend from 0")
        if isinstance(domain, Tree):
            bins = np.repeat(np.arange(len(starts)), np.diff(bounds))
            return cls(attribute=attribute, size=len(starts), of_leaf=bins[list(domain.codes_of_finest)])
        edges = domain.edge_floats[np.unique(np.minimum(bounds, domain.cells))]
        return cls(
            attribute=attribute,
            size=len(starts),
            edges=edges,
            missing=None if domain.missing is None else len(starts) - 1,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Inference:
    """How the counts of a table were inferred from a measured vector with independent noise.

    One transform for each attribute of the inferred table, in order; `places` are the places of its coefficients in the
    vector, which has `length` numbers. Tables that were inferred from one vector have the same `source`.
    """

    source: str
    transforms: tuple[Transform, ...]
    places: Integers
    length: int
    summed: tuple[int, ...] = ()
    """The axes of the inferred table over which the counts were added up afterwards."""

    def of_vector(self, weights: Floats) -> Floats:
        """The weight of every number of the vector in a weighted sum of counts."""
        whole = np.expand_dims(weights, self.summed)
        whole = np.broadcast_to(whole, [each.values for each in self.transforms])
        found = np.zeros(self.length)
        found[self.places] = coefficient_weights(whole.astype(np.float64), self.transforms).ravel()
        return found

    def estimates(self, vector: Floats) -> Floats:
        """The counts of the inferred table."""
        shape = [each.coefficients for each in self.transforms]
        return reconstructed(vector[self.places].reshape(shape), self.transforms)

    def marginal(self, axes: tuple[int, ...]) -> "Inference":
        """The inference of the sums over further axes, given by their place among those that are left."""
        left = [axis for axis in range(len(self.transforms)) if axis not in self.summed]
        return replace(self, summed=tuple(sorted({*self.summed, *(left[axis] for axis in axes)})))


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTable:
    """A noisy contingency table: an axis for each attribute, an unbiased signed count of records in every entry.

    The noise of the entries is independent, unless the counts were `inferred`. Each entry has the sum of `terms` draws
    of the noise `kind`, which has `variance` and is a multiple of 1/`unit`. The law and the variance are those that the
    release states. Those of inferred counts are the law and the variance of the noise of the measured vector.
    """

    name: str
    """What was counted, in a few words."""
    bins: tuple[AttributeBins, ...]
    counts: Floats
    kind: NoiseKind
    variance: float
    unit: int = 1
    terms: int = 1
    inferred: Inference | None = None

    def __post_init__(self) -> None:
        if self.counts.shape != tuple(each.size for each in self.bins):
            raise ValueError(f"the table {self.name!r} has counts of shape {self.counts.shape}, which its bins are not")
        known = bool((np.abs(self.counts) <= LARGEST_COUNT).all()) and 0 <= self.variance <= LARGEST_VARIANCE
        if not known or not (1 <= self.unit <= LARGEST_UNIT and 1 <= self.terms <= LARGEST_UNIT):
            raise ValueError(f"the counts, the variance or the unit of the table {self.name!r} are not possible")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, by axis."""
        return tuple(each.attribute for each in self.bins)

    @property
    def entry_variance(self) -> float:
        """The variance of the noise of one entry or, if the counts were inferred, of one number of the vector."""
        return self.terms * self.variance

    def independent(self, weights: Floats) -> Floats:
        """The weights of independent noise in a weighted sum of counts: those of the entries, or of the vector."""
        return weights if self.inferred is None else self.inferred.of_vector(weights)

    def marginal(self, attributes: Collection[str]) -> "MeasuredTable":
        """The table summed over all other attributes. Each entry has the noise of all entries that were added."""
        summed = tuple(axis for axis, each in enumerate(self.bins) if each.attribute not in attributes)
        if not summed:
            return self
        added = prod(self.bins[axis].size for axis in summed) if self.inferred is None else 1
        return replace(
            self,
            bins=tuple(each for each in self.bins if each.attribute in attributes),
            counts=self.counts.sum(axis=summed),
            terms=self.terms * added,
            inferred=None if self.inferred is None else self.inferred.marginal(summed),
        )
