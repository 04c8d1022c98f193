"""What was measured so far, and everything that follows from it at no price: shares, bins, and the fitted model.

Post-processing only. `measuring.py` pays for the answers.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

from scumble.methods.explore.fitting import FittedTable, fit
from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.junction_tree import Clique, JunctionTree, junction_tree
from scumble.methods.explore.margins import Margin, NoisyMargin, ValueBins
from scumble.methods.explore.one_way import (
    EstimatedMargin,
    bin_counts,
    combined,
    public_ranges,
    total_records,
    value_shares,
    without_noise,
)
from scumble.methods.explore.value_bins import bins_by_records
from scumble.model.counts import Floats
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema


class Known:
    """The noisy tables, and what follows from them."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.tables: list[NoisyMargin] = []
        self.chosen: list[Clique] = []
        """The attributes of the tables of several attributes."""
        self._parameters: Mapping[Clique, Floats] = {}
        """Those of the last fit, from which the next one starts."""
        self._without_noise: dict[int, tuple[float, EstimatedMargin]] = {}
        """By attribute: counts of its ranges, after the variance of those that they were made from."""

    @property
    def records(self) -> tuple[float, float]:
        """The estimated number of records, at least one, and its standard error."""
        if self.schema.unit is Unit.REPLACE:
            return float(max(self.schema.rows or 0, 1)), 0.0
        estimate, error = total_records(self.tables)
        return max(estimate, 1.0), error

    @property
    def shares(self) -> list[Floats]:
        """The share of each value of each attribute."""
        records, _ = self.records
        found = []
        for place, attribute in enumerate(self.schema.attributes):
            values = self._one_way(place, ValueBins.single(attribute.domain.size))
            assert values is not None
            found.append(value_shares(self._ranges(place), values, records))
        return found

    def _ranges(self, place: int) -> EstimatedMargin:
        """The counts of the public ranges of an attribute, without noise as far as that can be known."""
        attribute = self.schema.attributes[place]
        counted = self._one_way(place, public_ranges(attribute))
        assert counted is not None
        known = self._without_noise.get(place)
        if known is None or known[0] != counted.variance:
            known = self._without_noise[place] = counted.variance, without_noise(counted, attribute)
        return known[1]

    def _one_way(self, place: int, bins: ValueBins) -> NoisyMargin | EstimatedMargin | None:
        return self._counted(Margin(places=(place,), bins=(bins,)))

    def _counted(self, margin: Margin) -> NoisyMargin | EstimatedMargin | None:
        """All counts of a margin as one table; None if there are none."""
        found: NoisyMargin | EstimatedMargin | None = None
        for table in self.tables:
            if table.margin == margin:
                found = table if found is None else combined(found, table)
        return found

    def divide_values(self, most: int) -> None:
        """Fix the bins of each attribute in all tables of several attributes: about so many, by its shares."""
        self.bins = [
            bins_by_records(attribute.domain, public_ranges(attribute), share, most)
            for attribute, share in zip(self.schema.attributes, self.shares, strict=True)
        ]

    def finer_than_ranges(self) -> list[int]:
        """The attributes some of whose bins lie inside a range, so that ranges do not count them."""
        return [
            place
            for place, attribute in enumerate(self.schema.attributes)
            if not set(self.bins[place].starts) <= set(public_ranges(attribute).starts)
        ]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.bins))

    def in_bins(self, place: int) -> FittedTable:
        """The counts of an attribute in its bins."""
        counts, variance = bin_counts(self.bins[place], self._ranges(place), self._one_way(place, self.bins[place]))
        return FittedTable(places=(place,), counts=counts, variance=variance)

    def fitted(self) -> GraphicalModel:
        """The model that fits all tables so far."""
        targets = [self.in_bins(place) for place in range(len(self.bins))]
        for places in self.chosen:
            table = self._counted(Margin(places=places, bins=tuple(self.bins[place] for place in places)))
            assert table is not None
            targets.append(
                FittedTable(places=places, counts=table.counts.reshape(table.margin.shape), variance=table.variance)
            )
        found = fit(self.tree_with(()), targets, self.records[0], self._parameters)
        self._parameters = found.parameters
        return found.model

    def tree_with(self, further: Iterable[Clique]) -> JunctionTree:
        """The junction tree of the measured tables and of further ones."""
        return junction_tree(self.sizes, [*self.chosen, *further])
