"""Blurred rows to learn a tree from, and the association of their values with intervals.

Global takes the rows as one group, ByClass a group for each class; a group's values are reconstructed together and
then shared out over the intervals. Under local privacy the class that counts is the randomized one: noise on a value is
independent of noise on the class, so the values of a randomized class are reconstructed like any others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.mining.perturbed.association import by_kind, by_rank
from scumble.mining.perturbed.growth import Codes
from scumble.mining.reconstruction.iteration import STOP_SHARE, Floats, Partition, partition, reconstruct
from scumble.model.counts import Integers
from scumble.model.local.randomized_attribute import BlurredAttribute

MOST_CODES = 2048
"""Boundaries offered on values taken as they are, about this many for an attribute."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Published codes, one column for each blurred attribute, and observed classes."""

    attributes: tuple[BlurredAttribute, ...]
    codes: npt.NDArray[np.integer]
    """A code at or beyond the attribute's outcomes is a missing value."""
    labels: Integers
    classes: int
    class_kernel: Floats | None = None
    """How likely each observed class is, given the true one, shape (observed, true); None where it is told."""

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.labels), len(self.attributes)):
            raise InputError(
                "The rows do not fit the attributes. Give one column of codes for each, and one class a row."
            )

    @cached_property
    def _partitions(self) -> dict[int, "Partitions"]:
        return {}

    def partitions(self, intervals: int) -> "Partitions":
        """Every attribute in so many intervals, or as many as it has cells."""
        if intervals not in self._partitions:
            self._partitions[intervals] = Partitions([partition(a, intervals) for a in self.attributes])
        return self._partitions[intervals]

    def as_they_are(self) -> tuple[Codes, list[Integers]]:
        """The published codes themselves, neighbours together where there are very many, and the edges between."""
        columns, edges = [], []
        for attribute, column in zip(self.attributes, self.codes.T, strict=True):
            outcomes = attribute.channel.outputs
            parts = min(outcomes, MOST_CODES)
            places = np.arange(parts + 1) * outcomes // parts
            columns.append(np.searchsorted(places[1:], column, side="right"))
            edges.append(places)
        return np.stack(columns, axis=1).astype(np.uint16), edges

    def reconstruct(
        self,
        rows: Integers,
        groups: Integers,
        parts: "Partitions",
        which: Sequence[int],
        stop_share: float = STOP_SHARE,
    ) -> Floats:
        """The shares of some attributes' values in their intervals, group by group among the rows: shape (attributes,
        groups, intervals)."""
        number = int(groups.max()) + 1 if len(groups) else 1
        bins = parts.kernels.shape[1]
        observed = np.zeros((len(which), number, bins))
        for lane, attribute in enumerate(which):
            places = parts.places(attribute, self.codes[rows, attribute])
            known = places >= 0
            table = np.bincount(groups[known] * bins + places[known], minlength=number * bins)
            observed[lane] = table.reshape(number, bins)
        return reconstruct(observed, parts.kernels[list(which)], stop_share=stop_share).shares

    def associate(
        self, rows: Integers, groups: Integers, parts: "Partitions", which: Sequence[int], shares: Floats
    ) -> Codes:
        """The interval of each of the rows' values of some attributes, so that each group has its shares. A missing
        value gets the number after the last interval."""
        result = np.empty((len(rows), len(which)), dtype=np.uint16)
        for lane, attribute in enumerate(which):
            part, column = parts.each[attribute], self.codes[rows, attribute]
            assign = by_rank if part.ordered else by_kind
            result[:, lane] = part.size
            for group in range(shares.shape[1]):
                members = np.flatnonzero((groups == group) & (column < part.bins[-1]))
                result[members, lane] = assign(column[members], shares[lane, group, : part.size])
        return result


class Partitions:
    """The partitions of all attributes with their kernels stacked, padded with zeros to one shape."""

    def __init__(self, each: list[Partition]) -> None:
        self.each = each
        self.sizes = np.array([part.size for part in each], dtype=np.int64)
        bins = max(len(part.bins) for part in each) - 1
        self.kernels = np.zeros((len(each), bins, int(self.sizes.max())))
        for place, part in enumerate(each):
            self.kernels[place, : len(part.bins) - 1, : part.size] = part.kernel
        # The last entry stands for every missing code.
        self._bin_of = [np.concatenate([part.bin_of(), [-1]]) for part in each]

    def places(self, attribute: int, codes: npt.NDArray[np.integer]) -> Integers:
        """The bin of each published code, -1 for a missing one."""
        table = self._bin_of[attribute]
        return table[np.minimum(codes, len(table) - 1)]
