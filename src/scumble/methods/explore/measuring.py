"""Measures values, chooses pairs and further tables, measures them, and fits the model: the stages of `explore`.

Every stage spends what was planned for it. What lies between the answers is post-processing.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import log, prod, sqrt

import numpy as np

from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.junction_tree import Clique
from scumble.methods.explore.known import Known
from scumble.methods.explore.margins import Margin, NoisyMargin
from scumble.methods.explore.one_way import value_margins
from scumble.methods.explore.queries import MarginChoice, MarginCounts
from scumble.methods.explore.settings import (
    CHOICES_SHARE,
    HANDICAP,
    LARGEST_CLIQUE,
    NO_FALSE_TABLE,
    TABLES_A_ROUND,
    bins_of_pairs,
    explore_settings,
)
from scumble.methods.explore.spends import (
    COUNT_BINS,
    COUNT_RECORDS,
    COUNT_VALUES,
    REST,
    TABLES,
    choose_label,
    count_label,
    round_spends,
    value_spends,
)
from scumble.model.counts import Floats
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.price import Price


class Measuring(Known):
    """Spends the budget stage by stage."""

    def __init__(self, schema: Schema, holder: Holder) -> None:
        super().__init__(schema)
        self.holder = holder
        self.story: list[str] = []

    # Stages

    def count_records(self) -> None:
        """Count the records, unless their number is public, and divide the rest of the budget accordingly."""
        if self.schema.unit is Unit.ADD_REMOVE:
            self._count((Margin(places=(), bins=()),), (1,), COUNT_RECORDS)
        attributes = len(self.schema.attributes)
        records, _ = self.records
        self.settings = explore_settings(
            attributes,
            records / self._deviation(REST, attributes),
            lambda tables, share: self._deviation(REST, tables, share) / records,
        )
        self.holder.divide(REST, value_spends(self.holder.plan.spend(REST), self.settings))

    def count_values(self, spend: str = COUNT_VALUES) -> None:
        margins, weights = value_margins(self.schema)
        self._count(margins, weights, spend)

    def count_bins(self) -> None:
        """Fix the bins of all further tables, and count those that lie inside a range."""
        pairs = max(self.settings.pairs, 1)
        share = self.settings.pairs_share * (1 - CHOICES_SHARE)
        self.divide_values(bins_of_pairs(self.records[0], self._deviation(TABLES, pairs, share)))
        finer = self.finer_than_ranges()
        tables = self.holder.plan.spend(TABLES)
        self.holder.divide(TABLES, round_spends(tables, self.settings, len(finer) / len(self.bins)))
        if finer:
            self._count(tuple(self._margin((place,)) for place in finer), (1,) * len(finer), COUNT_BINS)

    def choose_pairs(self) -> None:
        """Choose pairs that connect attributes to a forest, and some pairs with the class; measure them.

        With a class, `class_pairs` of all pairs contain it, whether or not they differ from what is known.
        """
        target = None if self.schema.target is None else self.schema.names.index(self.schema.target)
        wanted = 0 if target is None else self.settings.class_pairs
        every = list(combinations(range(len(self.bins)), 2))
        margins = tuple(map(self._margin, every))
        component = list(range(len(self.bins)))
        independent = self.fitted()
        chosen: list[Clique] = []
        for _ in range(self.settings.pairs - wanted):
            candidates = [pair for pair in every if component[pair[0]] != component[pair[1]]]
            found = self._choose(candidates, margins, independent, number=0, optional=True) if candidates else None
            if found is None:
                break
            chosen.append(found)
            first, second = (component[place] for place in found)
            component = [first if each == second else each for each in component]
        for _ in range(wanted - sum(target in pair for pair in chosen)):
            candidates = [pair for pair in every if target in pair and pair not in chosen]
            found = self._choose(candidates, margins, independent, number=0, optional=False)
            chosen += [] if found is None else [found]
        self._count_chosen(chosen, number=0)

    def choose_further(self) -> None:
        """Round by round, choose tables that differ most from the model so far, and measure them."""
        pairs: list[Clique] = [*combinations(range(len(self.bins)), 2)]
        every = list(pairs)
        if self.schema.target is not None:
            target = self.schema.names.index(self.schema.target)
            every += [tuple(sorted((*pair, target))) for pair in pairs if target not in pair]
        margins = tuple(self._margin(places) for places in every if self._entries(places) <= LARGEST_CLIQUE)
        possible: list[Clique] = [margin.places for margin in margins]
        for number in range(1, self.settings.rounds + 1):
            model = self.fitted()
            chosen: list[Clique] = []
            for _ in range(TABLES_A_ROUND):
                candidates = self._further(chosen, possible)
                found = self._choose(candidates, margins, model, number=number, optional=True) if candidates else None
                if found is None:
                    break
                if self.tree_with([*chosen, found]).largest > LARGEST_CLIQUE:
                    possible.remove(found)  # another order of elimination would do, but this one does not
                else:
                    chosen.append(found)
            self._count_chosen(chosen, number=number)

    # Asking

    def _further(self, chosen: list[Clique], possible: Sequence[Clique]) -> list[Clique]:
        """Those of the possible sets of attributes that were not chosen yet and keep the cliques small."""
        taken = {*self.chosen, *chosen}
        tree = self.tree_with(chosen)
        return [places for places in possible if places not in taken and tree.entries_with(places) <= LARGEST_CLIQUE]

    def _entries(self, places: Clique) -> int:
        return prod(self.sizes[place] for place in places)

    def _margin(self, places: Clique) -> Margin:
        return Margin(places=places, bins=tuple(self.bins[place] for place in places))

    def _choose(
        self,
        candidates: Sequence[Clique],
        margins: tuple[Margin, ...],
        model: GraphicalModel,
        *,
        number: int,
        optional: bool,
    ) -> Clique | None:
        """A private choice among candidates, all of which are among the margins; None if none is chosen."""
        tables = self.settings.pairs if number == 0 else TABLES_A_ROUND
        records, _ = self.records
        means = [records * model.marginal(places).ravel() for places in candidates]
        index_of = {margin.places: index for index, margin in enumerate(margins)}
        noise = HANDICAP * 0.8 * self._deviation(count_label(number), tables)
        query = MarginChoice(
            margins=margins,
            candidates=tuple(index_of[places] for places in candidates),
            expected=tuple(np.rint(mean).astype(np.int64) for mean in means),
            handicaps=(0,) * len(candidates),
            optional=optional,
        )
        scale = float(self.holder.selection_scale(query, spend=choose_label(number)))
        head_start = scale * (log(len(candidates)) + NO_FALSE_TABLE)
        known = [0.8 * np.sqrt(self.in_bins(place).variance).sum() for place in range(len(self.bins))]
        handicaps = tuple(
            int(head_start + noise * len(mean) + sampling_error(mean) + sum(known[place] for place in places))
            for mean, places in zip(means, candidates, strict=True)
        )
        query = replace(query, handicaps=handicaps)
        index = self.holder.choose_in_parts(query, spend=choose_label(number))[0]
        return candidates[index] if index < len(candidates) else None

    def _count_chosen(self, chosen: Sequence[Clique], *, number: int) -> None:
        """Count the chosen tables; if none was chosen, those that were chosen before once more, or else the values."""
        if not chosen and not self.chosen:
            self.count_values(count_label(number))
            return
        self.chosen += chosen
        margins = tuple(map(self._margin, chosen or self.chosen))
        self._count(margins, (1,) * len(margins), count_label(number))
        for margin in margins if chosen else ():
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

    def _deviation(self, spend: str, tables: int, share: Fraction = Fraction(1)) -> float:
        """The standard deviation of the noise of counts, if a share of a spend pays for so many tables."""
        query = MarginCounts(margins=(), weights=(1,) * tables)
        part = self.holder.plan.spend(spend).part(label=spend, share=share)
        return sqrt(Price.of(part, self.holder.unit).variance(query.sensitivity(self.holder.unit)))


def sampling_error(mean: Floats) -> float:
    """The expected sum of absolute differences between counts and their means, if the records are a sample."""
    return float(np.sqrt(2 / np.pi * mean).sum())
