"""Measures detail beside the cells: values, class tables, combinations of attributes, calibration and weights.

Every stage spends what `DetailSettings` planned for it. Between the stages, rows are drawn from what was measured so
far; they stand for the records wherever the model's mean predictions or a public limit are needed, at no price.
"""

from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from scumble.methods.diffgen.detail.binning import is_binned, range_width, value_shares
from scumble.methods.diffgen.detail.calibration import calibrate, expected_slope
from scumble.methods.diffgen.detail.candidates import candidate_combinations, refined
from scumble.methods.diffgen.detail.class_totals import NoisyTable, class_totals
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.counts import ClassTable, GroupCounts, ValueCounts
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT
from scumble.methods.diffgen.detail.groups import LogOddsGroups
from scumble.methods.diffgen.detail.measured import Measured, MeasuredCells, Table
from scumble.methods.diffgen.detail.residuals import CERTAIN, ResidualChoice, ResidualSums
from scumble.methods.diffgen.detail.shrinkage import consistent, shifts_of_combinations, shifts_of_values
from scumble.methods.diffgen.detail.slopes import OverlapSums, SlopeSums
from scumble.methods.diffgen.detail.spends import (
    CALIBRATE,
    CHOOSE_COMBINATION,
    CHOOSE_FURTHER,
    CHOOSE_TABLE,
    COUNT_TABLE,
    COUNT_VALUES,
    MOST_COMBINATIONS,
    OVERLAPS,
    SLOPES,
    combination_label,
    combination_spends,
    count_label,
    fit_label,
    weight_spends,
)
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term, class_probabilities, means_by_key
from scumble.methods.diffgen.detail.weights import limits, weighted, with_offsets
from scumble.methods.diffgen.settings import DetailSettings
from scumble.model.coded_columns import CodedColumns, code_array
from scumble.model.counts import Integers
from scumble.model.fine_rows import FINE_ROWS_EACH, MOST_FINE_ROWS, ROWS_FROM_TABLES
from scumble.model.guarantee import Unit
from scumble.model.operation import Operation
from scumble.model.release import FineRows
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.noise import laplace_variance

DETAIL_NEEDS = frozenset[Operation]().union(
    *(
        query.needs
        for query in (ValueCounts, ResidualChoice, ClassTable, GroupCounts, ResidualSums, SlopeSums, OverlapSums)
    )
)
"""What the queries of the detail need."""
CALIBRATION_GROUPS = 12
LEAST_INFORMATION, INFORMATION_PER_BIN = 600.0, 20.0
"""An attribute is counted in two groups by log-odds if its table has this much information, and for each bin of each
group that much: an attribute that repeats an earlier one then adds nothing."""
BINS_TO_CHOOSE_BY = 4
"""An attribute with more values is chosen by its residuals in about so many bins: sums of many records stand out."""
NO_FALSE_COMBINATION = 1.5
"""Adding no combination has a head start over all candidates by this many noise scales, on top of the logarithm of
their number: without an interaction, a combination is added with a probability of about exp(-1.5)."""


@dataclass(frozen=True, kw_only=True)
class Detail:
    """The fine rows, the measured tables as a document, and the story of what was measured."""

    fine: FineRows
    document: dict[str, Any]
    story: tuple[str, ...]


def add_detail(cells: MeasuredCells, settings: DetailSettings, holder: Holder) -> Detail:
    """Measure stage by stage, then draw the fine rows."""
    measuring = _Measuring(cells, settings, holder)
    measuring.count_values()
    measuring.count_tables()
    measuring.calibrate(expected_slope(settings.tables))
    measuring.add_combinations()
    measuring.fit_weights()
    measuring.calibrate(1.0)
    return measuring.detail()


class _Measuring(Measured):
    """Spends the budget of the detail, stage by stage."""

    def __init__(self, cells: MeasuredCells, settings: DetailSettings, holder: Holder) -> None:
        super().__init__(cells, settings)
        self.holder = holder
        self.chosen: list[tuple[int, ...]] = []
        self.document: list[dict[str, Any]] = []
        self.story: list[str] = []

    # Stages

    def count_values(self) -> None:
        places = values_counted(self.schema, self.settings)
        if not places:
            return
        query = ValueCounts(schema=self.schema, places=places)
        deviation = self._deviation(COUNT_VALUES, query.histograms)
        noisy = query.split(self.holder.measure(query, spend=COUNT_VALUES))
        for place, counts in zip(places, noisy, strict=True):
            self.shares[place] = value_shares(self.domains[place], counts, deviation)
            self.document.append(
                {
                    "attribute": self.names[place],
                    "values": counts.tolist(),
                    "range": range_width(self.domains[place]),
                    "deviation": deviation,
                }
            )

    def count_tables(self) -> None:
        left = list(range(len(self.names)))
        draft, log_odds = self.draft(), np.zeros((0, len(self.schema.classes)), dtype=np.int32)
        for number in range(self.settings.tables):
            place, spend = left[0], count_label(self.names[left[0]])
            if self.settings.choice_share:
                candidates = tuple(self.alone(place, BINS_TO_CHOOSE_BY) for place in left)
                handicaps = tuple(self.sampling_error(candidate) for candidate in candidates)
                expected = scaled_terms(self.model, expected_slope(number))
                query = ResidualChoice(model=expected, candidates=candidates, handicaps=handicaps)
                place, spend = left[self.holder.choose_in_parts(query, spend=CHOOSE_TABLE)[0]], COUNT_TABLE
            left.remove(place)
            combination = Combination(places=(place,), bins=(self.binning(place).bins,))
            groups, prior = None, self.class_shares()[np.newaxis]
            if number and self._in_groups(len(combination)):
                log_odds = self.model.log_odds(draft.codes)
                groups = LogOddsGroups.by_quantiles(log_odds, 2)
                found = class_probabilities(log_odds)
                prior = means_by_key(found, groups.assign(log_odds), np.repeat(prior, len(groups), axis=0))
            table, deviation = self._count(combination, groups, spend)
            self.tables[place] = Table(counts=table, deviation=deviation, groups=groups)
            shifts = shifts_of_values(table, prior, deviation, tables=self.settings.tables)
            self.model = replace(self.model, terms=(*self.model.terms, Term.of(combination, shifts, groups)))
            draft.draw(place, self.weights(place), None if groups is None else groups.assign(log_odds))
            grouped = "" if groups is None else f" and {len(groups)} groups by log-odds"
            self.story.append(f"{self.names[place]} by class, in {len(combination)} bins{grouped}")
        if all(table.groups is None for table in self.tables.values()):
            self._use_all_class_totals()

    def _in_groups(self, bins: int) -> bool:
        """Whether a table with so many bins has enough information for two groups."""
        return self.settings.information >= max(LEAST_INFORMATION, 2 * bins * INFORMATION_PER_BIN)

    def _use_all_class_totals(self) -> None:
        """The tables' terms again, as all tables together give better class shares than those before each."""
        self.model, shares = self.base(), self.class_shares()[np.newaxis]
        for place, table in self.tables.items():
            combination = Combination(places=(place,), bins=(self.binning(place).bins,))
            shifts = shifts_of_values(table.counts, shares, table.deviation, tables=self.settings.tables)
            term = Term.of(combination, shifts)
            self.model = replace(self.model, terms=(*self.model.terms, term))

    def calibrate(self, slope: float) -> None:
        """Calibrate the model, whose slope is expected to be this. Done before combinations and weights, and after."""
        if not self.tables:
            return
        if not self.settings.calibration_share:
            self.model = scaled_terms(self.model, slope)
            return
        draft = self.draft()
        log_odds = self.model.log_odds(draft.codes)
        groups = LogOddsGroups.by_quantiles(log_odds, CALIBRATION_GROUPS)
        query = GroupCounts(model=self.model, groups=groups)
        deviation = self._deviation(CALIBRATE)
        table = self.holder.measure(query, spend=CALIBRATE).reshape(query.shape)
        self.totals.append((table, deviation))
        self.document.append({"groups": len(table), "counts": table.tolist()})
        self.grouped = self.model, groups, consistent(table).sum(axis=1)
        fit = calibrate(table, log_odds, groups.assign(log_odds), deviation, slope)
        self.model = fit.apply(self.model)

    def add_combinations(self) -> None:
        """Choose combinations of attributes that add to the model, and measure what each adds."""
        if not self.settings.fit_share:
            return
        for number in range(MOST_COMBINATIONS):
            combination = self._choose_combination(fit_label(number))
            if combination is None:
                break
            spend = combination_label(number)
            whole = fit_label(number)
            self.holder.divide(whole, combination_spends(self.holder.plan.price(whole), number))
            combination = refined(self, combination, float(self.holder.plan.price(spend)))
            query = ResidualSums(model=self.model, combination=combination)
            sums = query.by_class(self.holder.measure(query, spend=spend))
            names = [self.names[place] for place in combination.places]
            self.document.append({"attributes": names, "residuals": sums.tolist()})
            self.story.append(f"{' and '.join(names)} together by class, in {len(combination)} combinations of bins")
            self._add_term(combination, sums, self._deviation(spend, query.bound) / CERTAIN)
            self.chosen.append(combination.places)

    def fit_weights(self) -> None:
        if not self.settings.fit_share:
            return
        left = fit_label(len(self.chosen))
        self.holder.divide(left, weight_spends(self.holder.plan.price(left)))
        model = with_offsets(self.model)
        of_slopes, of_overlaps = limits(model, self.draft().codes)
        slopes = self.holder.measure(SlopeSums(model=model, limit=of_slopes), spend=SLOPES)
        overlaps = self.holder.measure(OverlapSums(model=model, limit=of_overlaps), spend=OVERLAPS)
        self.document.append({"slopes": slopes.tolist(), "limit": of_slopes})
        self.document.append({"overlaps": overlaps.tolist(), "limit": of_overlaps})
        self.model = weighted(model, slopes, overlaps, self._deviation(SLOPES, of_slopes))

    def detail(self) -> Detail:
        rows = self.rows(most=MOST_FINE_ROWS, each=FINE_ROWS_EACH)
        rows.resample(self.wanted(rows))
        codes = dict(zip(self.names, rows.codes, strict=True))
        labels = rows.draw_classes(self.model, self.class_shares())
        codes[str(self.schema.target)] = code_array(labels, len(self.schema.classes))
        return Detail(
            fine=FineRows(schema=self.schema, columns=CodedColumns(self.schema, codes)),
            document={
                "unit of log-odds": f"1/{LOG_ODDS_UNIT}",
                "split": list(self.cells.split),
                "rows": ROWS_FROM_TABLES,
                "class totals": np.rint(class_totals(self.totals)).astype(int).tolist(),
                "measured": self.document,
            },
            story=tuple(self.story),
        )

    # Measuring

    def _count(self, combination: Combination, groups: LogOddsGroups | None, spend: str) -> NoisyTable:
        query = ClassTable(model=self.model, combination=combination, groups=groups)
        table = self.holder.measure(query, spend=spend).reshape(query.shape)
        self.totals.append((table, self._deviation(spend)))
        names = [self.names[place] for place in combination.places]
        (bins,) = combination.bins
        self.document.append(
            {
                "attributes": names,
                "groups": len(table),
                "bins": np.flatnonzero(np.diff(bins, prepend=-1)).tolist(),
                "deviation": self._deviation(spend),
                "counts": table.tolist(),
            }
        )
        return table, self._deviation(spend)

    def _choose_combination(self, left: str) -> Combination | None:
        price = float(self.holder.plan.price(left)) / 3
        candidates = candidate_combinations(self, self.chosen, price)
        if not candidates:
            return None
        bound = 2 * CERTAIN * self._changes
        choosing = CHOOSE_FURTHER if self.chosen else CHOOSE_COMBINATION
        scale = 2 * bound / float(self.holder.plan.price(choosing))
        head_start = scale * (log(len(candidates)) + NO_FALSE_COMBINATION)
        noise = CERTAIN * self._changes * len(self.schema.classes) / price / 4
        combinations = tuple(each.combination for each in candidates)
        handicaps = tuple(
            int(each.head_starts * head_start) + self.sampling_error(combination) + int(noise * len(combination))
            for each, combination in zip(candidates, combinations, strict=True)
        )
        query = ResidualChoice(model=self.model, candidates=combinations, handicaps=handicaps, optional=True)
        index = self.holder.choose_in_parts(query, spend=choosing)[0]
        chosen = combinations[index] if index < len(combinations) else None
        self.document.append({"chosen": [self.names[place] for place in chosen.places] if chosen else []})
        return chosen

    @property
    def _changes(self) -> int:
        """The number of counts that a person changes."""
        return 1 if self.holder.unit is Unit.ADD_REMOVE else 2

    def _deviation(self, spend: str, bound: int = 1) -> float:
        """The standard deviation of the noise of each number that this spend pays for."""
        return laplace_variance(sensitivity=bound * self._changes, epsilon=self.holder.plan.price(spend)) ** 0.5

    def _add_term(self, combination: Combination, sums: Integers, deviation: float) -> None:
        """Add what a combination shows beyond what the model expects for it."""
        draft = self.draft()
        found, keys = class_probabilities(self.model.log_odds(draft.codes)), combination.keys(draft.codes)
        expected = means_by_key(found, keys, np.tile(self.class_shares(), (len(combination), 1)))
        records = class_totals(self.totals).sum() * np.bincount(keys, minlength=len(combination)) / max(len(keys), 1)
        counts = records[:, np.newaxis] * expected + sums / CERTAIN
        shifts = shifts_of_combinations(counts, expected, deviation)
        self.model = replace(self.model, terms=(*self.model.terms, Term.of(combination, shifts)))


def scaled_terms(model: LogOddsModel, slope: float) -> LogOddsModel:
    """The model with all terms multiplied by a slope."""
    terms = tuple(replace(term, shifts=np.rint(term.shifts * slope).astype(np.int32)) for term in model.terms)
    return replace(model, terms=terms)


def values_counted(schema: Schema, settings: DetailSettings) -> tuple[int, ...]:
    """The attributes whose values are counted: those in bins, and all if only some get a class table."""
    every = settings.tables < len(schema.predictors)
    return tuple(
        place
        for place, attribute in enumerate(schema.predictors)
        if every or is_binned(attribute.domain, settings.bins)
    )
