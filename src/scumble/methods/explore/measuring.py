"""Measures values, chooses pairs and further tables, measures them, and fits the model: the stages of `explore`.

Every stage spends what was planned for it. What lies between the answers is post-processing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from math import log, sqrt

import numpy as np

from scumble.methods.diffgen.detail.binning import merged
from scumble.methods.explore.fitting import FittedTable, fit
from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.junction_tree import Clique, JunctionTree, junction_tree
from scumble.methods.explore.margins import Margin, NoisyMargin, ValueBins
from scumble.methods.explore.one_way import EstimatedMargin, combined, total_records, value_margins, value_shares
from scumble.methods.explore.queries import MarginChoice, MarginCounts
from scumble.methods.explore.settings import (
    HANDICAP,
    LARGEST_CLIQUE,
    NO_FALSE_TABLE,
    TABLES_A_ROUND,
    bins_of_pairs,
    explore_settings,
)
from scumble.methods.explore.spends import (
    COUNT_RECORDS,
    COUNT_VALUES,
    REST,
    choose_label,
    count_label,
    round_spends,
)
from scumble.model.counts import Floats
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder


class Measuring:
    """Spends the budget stage by stage. `model` is the graphical model of what was measured so far."""

    def __init__(self, schema: Schema, holder: Holder) -> None:
        self.schema, self.holder = schema, holder
        self.tables: list[NoisyMargin] = []
        self.chosen: list[Clique] = []
        self.story: list[str] = []

    # Stages

    def count_records(self) -> None:
        """Count the records, unless their number is public, and divide the rest of the budget accordingly."""
        if self.schema.unit is Unit.ADD_REMOVE:
            self._count((Margin(places=(), bins=()),), (1,), COUNT_RECORDS)
        attributes = len(self.schema.attributes)
        information = self.records[0] / self._deviation(REST, attributes)
        self.settings = explore_settings(attributes, information)
        self.holder.divide(REST, round_spends(self.holder.plan.spend(REST), self.settings))

    def count_values(self, spend: str = COUNT_VALUES) -> None:
        margins, weights = value_margins(self.schema)
        self._count(margins, weights, spend)

    def choose_pairs(self) -> None:
        """Choose pairs that connect attributes to a forest, and measure them."""
        if not self.settings.pairs:
            return
        component = list(range(len(self.bins)))
        independent = self.fitted()
        chosen: list[Clique] = []
        for _ in range(self.settings.pairs):
            candidates = [
                pair for pair in combinations(range(len(self.bins)), 2) if component[pair[0]] != component[pair[1]]
            ]
            found = self._choose(candidates, independent, number=0, tables=self.settings.pairs)
            if found is None:
                break
            chosen.append(found)
            first, second = (component[place] for place in found)
            component = [first if each == second else each for each in component]
        self._count_chosen(chosen, number=0)

    def choose_further(self) -> None:
        """Round by round, choose tables that differ most from the model so far, and measure them."""
        for number in range(1, self.settings.rounds + 1):
            model = self.fitted()
            chosen: list[Clique] = []
            for _ in range(TABLES_A_ROUND):
                candidates = self._further(chosen)
                found = self._choose(candidates, model, number=number, tables=TABLES_A_ROUND) if candidates else None
                if found is None:
                    break
                chosen.append(found)
            self._count_chosen(chosen, number=number)

    # What is known

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
        return [value_shares(self._levels(place), records) for place in range(len(self.schema.attributes))]

    def _levels(self, place: int) -> list[NoisyMargin | EstimatedMargin]:
        """The one-way tables of an attribute: ranges, then values if these differ."""
        alone = [table for table in self.tables if table.margin.places == (place,)]
        by_bins: dict[tuple[ValueBins, ...], NoisyMargin | EstimatedMargin] = {}
        for table in alone:
            earlier = by_bins.get(table.margin.bins)
            by_bins[table.margin.bins] = table if earlier is None else combined(earlier, table)
        return list(by_bins.values())

    @cached_property
    def bins(self) -> list[ValueBins]:
        """The bins of each attribute in all tables of several attributes. They stay as they were when first needed."""
        tables = max(self.settings.pairs, 1)
        most = bins_of_pairs(self.records[0], self._deviation(count_label(0), tables))
        shares = self.shares
        return [
            ValueBins.of(merged(attribute.domain, most, share))
            for attribute, share in zip(self.schema.attributes, shares, strict=True)
        ]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.bins))

    def fitted(self) -> GraphicalModel:
        """The model that fits all tables so far."""
        records, _ = self.records
        targets = [self._one_way_target(place, share, records) for place, share in enumerate(self.shares)]
        targets += [
            FittedTable(
                places=table.margin.places,
                counts=table.counts.reshape(table.margin.shape),
                variance=table.variance,
            )
            for table in self.tables
            if len(table.margin.places) > 1
        ]
        return fit(self._tree(()), targets, records)

    def _one_way_target(self, place: int, share: Floats, records: float) -> FittedTable:
        """The counted ranges of an attribute, in its bins. A bin has the noise of the ranges that it covers."""
        bins, ranges = self.bins[place], self._levels(place)[0]
        covered = np.maximum(bins.widths * len(ranges.margin.bins[0]) / bins.size, 1.0)
        counts: Floats = records * np.bincount(bins.of_codes, weights=share).astype(np.float64)
        return FittedTable(places=(place,), counts=counts, variance=covered * ranges.variance)

    def _tree(self, further: Iterable[Clique]) -> JunctionTree:
        return junction_tree(self.sizes, [*self.chosen, *further])

    # Asking

    def _further(self, chosen: list[Clique]) -> list[Clique]:
        """Pairs, and triples with the class, that were not chosen yet and keep the cliques small."""
        pairs = list(combinations(range(len(self.bins)), 2))
        candidates: list[Clique] = [*pairs]
        if self.schema.target is not None:
            target = self.schema.names.index(self.schema.target)
            candidates += [tuple(sorted((*pair, target))) for pair in pairs if target not in pair]
        taken = {*self.chosen, *chosen}
        return [
            places
            for places in candidates
            if places not in taken and self._tree([*chosen, places]).largest <= LARGEST_CLIQUE
        ]

    def _margin(self, places: Clique) -> Margin:
        return Margin(places=places, bins=tuple(self.bins[place] for place in places))

    def _choose(
        self, candidates: Sequence[Clique], model: GraphicalModel, *, number: int, tables: int
    ) -> Clique | None:
        records, _ = self.records
        margins = tuple(map(self._margin, candidates))
        means = [records * model.marginal(places).ravel() for places in candidates]
        noise = HANDICAP * 0.8 * self._deviation(count_label(number), tables)
        query = MarginChoice(
            margins=margins,
            expected=tuple(np.rint(mean).astype(np.int64) for mean in means),
            handicaps=(0,) * len(margins),
            optional=True,
        )
        scale = float(self.holder.selection_scale(query, spend=choose_label(number)))
        head_start = scale * (log(len(candidates)) + NO_FALSE_TABLE)
        handicaps = tuple(int(head_start + noise * len(mean) + sampling_error(mean)) for mean in means)
        query = replace(query, handicaps=handicaps)
        index = self.holder.choose_in_parts(query, spend=choose_label(number))[0]
        return candidates[index] if index < len(candidates) else None

    def _count_chosen(self, chosen: Sequence[Clique], *, number: int) -> None:
        if not chosen:
            self.count_values(count_label(number))
            return
        self.chosen += chosen
        margins = tuple(map(self._margin, chosen))
        self._count(margins, (1,) * len(margins), count_label(number))
        for margin in margins:
            names = " and ".join(margin.names(self.schema))
            self.story.append(f"{names} together, in {' x '.join(map(str, margin.shape))} bins")

    def _count(self, margins: tuple[Margin, ...], weights: tuple[int, ...], spend: str) -> None:
        query = MarginCounts(margins=margins, weights=weights)
        variance = self.holder.variance(query, spend=spend)
        noisy = query.split(self.holder.measure(query, spend=spend))
        self.tables += [
            NoisyMargin(margin=margin, measured=counts, unit=weight, variance=variance / weight**2)
            for margin, weight, counts in zip(margins, weights, noisy, strict=True)
        ]

    def _deviation(self, spend: str, tables: int) -> float:
        """The standard deviation of the noise of counts, if a spend pays for so many tables."""
        return sqrt(self.holder.variance(MarginCounts(margins=(), weights=(1,) * tables), spend=spend))


def sampling_error(mean: Floats) -> float:
    """The expected sum of absolute differences between counts and their means, if the records are a sample."""
    return float(np.sqrt(2 / np.pi * mean).sum())
