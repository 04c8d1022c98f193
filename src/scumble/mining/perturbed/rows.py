"""Perturbed rows to learn a tree from, and the association of their values with intervals.

Global treats all rows as one group, ByClass has one group per class. The values of a group are reconstructed together
and then associated with the intervals. Under local differential privacy the groups are the randomized classes. The
noise on a value is independent of the noise on the class, so their values are reconstructed in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.mining.perturbed.association import by_category, by_rank
from scumble.mining.perturbed.growth import IntervalCodes
from scumble.mining.reconstruction.iteration import (
    STOP_SHARE,
    IntervalPartition,
    interval_partition,
    reconstruct_shares,
)
from scumble.model.counts import Floats, Integers
from scumble.model.local.randomized_attribute import RandomizedAttribute

MOST_CODES = 2048
"""Largest number of candidate boundaries of an attribute whose values are not corrected."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PerturbedRows:
    """Reported codes, one column per attribute, and the reported classes."""

    attributes: tuple[RandomizedAttribute, ...]
    codes: npt.NDArray[np.integer]
    """A code of the number of outputs of the channel or more is a missing value."""
    labels: Integers
    classes: int
    class_kernel: Floats | None = None
    """Pr[reported class | true class], shape (reported, true); None if the class is reported without noise."""

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.labels), len(self.attributes)):
            raise InputError(
                "The rows do not fit the attributes. Give one column of codes per attribute and one class per row."
            )

    @cached_property
    def _partitions(self) -> dict[int, "IntervalPartitions"]:
        return {}

    def partitions(self, intervals: int) -> "IntervalPartitions":
        """Each attribute divided into this many intervals, or into its cells if it has fewer."""
        if intervals not in self._partitions:
            self._partitions[intervals] = IntervalPartitions(
                [interval_partition(a, intervals) for a in self.attributes]
            )
        return self._partitions[intervals]

    def as_they_are(self) -> tuple[IntervalCodes, list[Integers]]:
        """The uncorrected reported codes, adjacent ones merged if there are very many, and the edges between them."""
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
        parts: "IntervalPartitions",
        which: Sequence[int],
        stop_share: float = STOP_SHARE,
    ) -> Floats:
        """The reconstructed distribution of the attributes `which` in each group.

        The result has shape (attributes, groups, intervals).
        """
        number = int(groups.max()) + 1 if len(groups) else 1
        bins = parts.kernels.shape[1]
        observed = np.zeros((len(which), number, bins))
        for lane, attribute in enumerate(which):
            places = parts.places(attribute, self.codes[rows, attribute])
            known = places >= 0
            table = np.bincount(groups[known] * bins + places[known], minlength=number * bins)
            observed[lane] = table.reshape(number, bins)
        return reconstruct_shares(observed, parts.kernels[list(which)], stop_share=stop_share).shares

    def associate(
        self, rows: Integers, groups: Integers, parts: "IntervalPartitions", which: Sequence[int], shares: Floats
    ) -> IntervalCodes:
        """The interval of each value of the attributes `which`, so that each group gets its reconstructed shares.

        A missing value gets the number of intervals.
        """
        result = np.empty((len(rows), len(which)), dtype=np.uint16)
        for lane, attribute in enumerate(which):
            part, column = parts.each[attribute], self.codes[rows, attribute]
            assign = by_rank if part.ordered else by_category
            # Categories keep their interval, which contains several of them if there are more than intervals.
            known = column if part.ordered else part.interval_of(column)
            result[:, lane] = part.size
            for group in range(shares.shape[1]):
                members = np.flatnonzero((groups == group) & (column < part.bins[-1]))
                result[members, lane] = assign(known[members], shares[lane, group, : part.size])
        return result


class IntervalPartitions:
    """The partitions of all attributes, with their kernels in one array, padded with zeros."""

    def __init__(self, each: list[IntervalPartition]) -> None:
        self.each = each
        self.sizes = np.array([part.size for part in each], dtype=np.int64)
        bins = max(len(part.bins) for part in each) - 1
        self.kernels = np.zeros((len(each), bins, int(self.sizes.max())))
        for place, part in enumerate(each):
            self.kernels[place, : len(part.bins) - 1, : part.size] = part.kernel
        # The last entry is for all missing codes.
        self._bin_of = [np.concatenate([part.bin_of(), [-1]]) for part in each]

    def places(self, attribute: int, codes: npt.NDArray[np.integer]) -> Integers:
        """The bin of each reported code; -1 for a missing value."""
        table = self._bin_of[attribute]
        return table[np.minimum(codes, len(table) - 1)]
