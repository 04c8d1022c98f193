"""What was measured so far, and everything that follows from it at no price: shares, bins, and the fitted model.

Post-processing only. `measuring.py` pays for the answers.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

from scumble.methods.explore.fitting import FittedTable, fit
from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.junction_tree import Clique, JunctionTree, junction_tree
from scumble.methods.explore.margins import NoisyMargin, ValueBins
from scumble.methods.explore.one_way import (
    EstimatedMargin,
    bin_counts,
    combined,
    public_ranges,
    total_records,
    value_shares,
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
            ranges = self._one_way(place, public_ranges(attribute.domain))
            values = self._one_way(place, ValueBins.single(attribute.domain.size))
            assert ranges is not None and values is not None
            found.append(value_shares(ranges, values, records))
        return found

    def _one_way(self, place: int, bins: ValueBins) -> NoisyMargin | EstimatedMargin | None:
        """All counts of an attribute in these bins as one table; None if there are none."""
        found: NoisyMargin | EstimatedMargin | None = None
        for table in self.tables:
            if table.margin.places == (place,) and table.margin.bins == (bins,):
                found = table if found is None else combined(found, table)
        return found

    def divide_values(self, most: int) -> None:
        """Fix the bins of each attribute in all tables of several attributes: about so many, by its shares."""
        self.bins = [
            bins_by_records(attribute.domain, public_ranges(attribute.domain), share, most)
            for attribute, share in zip(self.schema.attributes, self.shares, strict=True)
        ]

    def finer_than_ranges(self) -> list[int]:
        """The attributes some of whose bins lie inside a range, so that ranges do not count them."""
        return [
            place
            for place, attribute in enumerate(self.schema.attributes)
            if not set(self.bins[place].starts) <= set(public_ranges(attribute.domain).starts)
        ]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.bins))

    def in_bins(self, place: int) -> FittedTable:
        """The counts of an attribute in its bins."""
        ranges = self._one_way(place, public_ranges(self.schema.attributes[place].domain))
        assert ranges is not None
        counts, variance = bin_counts(self.bins[place], ranges, self._one_way(place, self.bins[place]))
        return FittedTable(places=(place,), counts=counts, variance=variance)

    def fitted(self) -> GraphicalModel:
        """The model that fits all tables so far."""
        targets = [self.in_bins(place) for place in range(len(self.bins))]
        targets += [
            FittedTable(
                places=table.margin.places,
                counts=table.counts.reshape(table.margin.shape),
                variance=table.variance,
            )
            for table in self.tables
            if len(table.margin.places) > 1
        ]
        found = fit(self.tree_with(()), targets, self.records[0], self._parameters)
        self._parameters = found.parameters
        return found.model

    def tree_with(self, further: Iterable[Clique]) -> JunctionTree:
        """The junction tree of the measured tables and of further ones."""
        return junction_tree(self.sizes, [*self.chosen, *further])
