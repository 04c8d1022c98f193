"""Measures class tables beside the cells, stage by stage, and draws fine rows that agree with both (docs/detail.md)."""

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble.methods.diffgen.detail.calibration import calibrate
from scumble.methods.diffgen.detail.groups import LOG_ODDS_UNIT, LogOddsGroups, LogOddsModel, Stage, bins_of
from scumble.methods.diffgen.detail.queries import MarginalCounts, StageChoice, StageCounts
from scumble.methods.diffgen.detail.shrinkage import consistent, log_odds_of_cells, log_odds_shifts
from scumble.methods.diffgen.levels import DetailSettings
from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.fine_rows import fine_counts
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.model.release import FineRows
from scumble.model.rounding import project
from scumble.model.row_limit import scaled
from scumble.model.schema import Schema
from scumble.model.values import published_values
from scumble.privacy.holder import Holder
from scumble.privacy.noise import laplace_variance, simulation

if TYPE_CHECKING:
    from scumble.methods.diffgen.detail.rows import RowSampler

CHOOSE_TABLE = "choose a table"
COUNT_TABLE = "count a table"
CALIBRATE = "count the groups"
COUNT_REST = "count the other attributes"

CALIBRATION_GROUPS = 12
DRAFT_ROWS = 100_000


def detail_spends(schema: Schema, epsilon: Fraction, settings: DetailSettings) -> tuple[Spend, ...]:
    """The spends of the detail.

    Privately chosen tables share their budget equally. If every attribute has a table, one with more bins gets more.
    """
    counting = epsilon * settings.table_share
    purpose = "discrete Laplace noise, in groups of records with similar log-odds"
    spends = []
    if settings.choice_share:
        spends += [
            Spend(
                label=CHOOSE_TABLE,
                epsilon=epsilon * settings.choice_share / settings.tables,
                times=settings.tables,
                purpose="one private selection of the attribute that says most about the class",
            ),
            Spend(
                label=COUNT_TABLE,
                epsilon=counting / settings.tables,
                times=settings.tables,
                purpose=purpose,
            ),
        ]
    else:
        spends += [
            Spend(label=_count(name), epsilon=counting * share, purpose=purpose)
            for name, share in table_shares(schema, settings.fewest_bins).items()
        ]
    if settings.rest_share:
        spends.append(
            Spend(
                label=COUNT_REST,
                epsilon=epsilon * settings.rest_share,
                purpose="discrete Laplace noise on the marginal of each attribute without a table",
            )
        )
    spends.append(
        Spend(
            label=CALIBRATE,
            epsilon=epsilon * settings.calibration_share,
            purpose="discrete Laplace noise on the class counts of groups of records with similar log-odds",
        )
    )
    return tuple(spends)


def _count(attribute: str) -> str:
    return f"count {attribute} by class"


def table_shares(schema: Schema, fewest_bins: int) -> dict[str, Fraction]:
    """Each attribute's share of the tables' epsilon, if all have a table: by the square root of its number of bins.

    With n records spread evenly over b bins, noise at a price e changes the probability of a class in a bin by about
    b / (n e). The sum of squares over all attributes is least for prices proportional to b^(2/3). The square root is
    more cautious, because the records of many attributes lie in few of their bins.
    """
    roots = [isqrt(10_000 * (int(bins_of(each.domain, fewest_bins)[-1]) + 1)) for each in schema.predictors]
    ends = [1000 * end // sum(roots) for end in accumulate(roots, initial=0)]
    names = [each.name for each in schema.predictors]
    return {name: Fraction(high - low, 1000) for name, (low, high) in zip(names, pairwise(ends), strict=True)}


@dataclass(frozen=True, kw_only=True)
class MeasuredCells:
    """The cells that detail is measured in, with their noisy counts."""

    cut: Cut
    split: tuple[str, ...]
    """The attributes that the cut splits, in the order in which they were chosen."""
    measured: Integers
    """The noisy counts, of shape (cells, classes)."""
    variance: float
    """The variance of their noise."""
    count: Integers
    """The published counts, of the same shape: whole and not negative."""


@dataclass(frozen=True, kw_only=True)
class Detail:
    """The fine rows, the measured tables as a document, and the story of what was measured."""

    fine: FineRows
    document: dict[str, Any]
    story: tuple[str, ...]


def add_detail(cells: MeasuredCells, settings: DetailSettings, holder: Holder) -> Detail:
    """Measure the class tables stage by stage, then draw the fine rows.

    `draft` holds rows drawn from what was measured so far. They give the edges of the groups and the prior of each
    table, which needs fewer rows than are published.
    """
    from scumble.methods.diffgen.detail.rows import RowSampler  # imported late, because plans do not draw rows

    cut, schema = cells.cut, cells.cut.schema
    names = [attribute.name for attribute in schema.predictors]
    generator = simulation(_seed(cells.count))
    log_odds = log_odds_of_cells(
        cells.measured, cells.variance**0.5, cut.shape, [names.index(name) for name in cells.split]
    )
    few = scaled(cells.count, most=DRAFT_ROWS)
    left = list(range(len(schema.predictors)))
    groups = _groups(schema, settings, left)
    model = LogOddsModel(
        schema=schema,
        cut=cut,
        cell_log_odds=log_odds,
        first_groups=LogOddsGroups.by_quantiles(np.repeat(log_odds, few.sum(axis=1), axis=0), groups),
        fewest_bins=settings.fewest_bins,
    )
    draft = RowSampler(model, few, generator)
    rows = RowSampler(model, fine_counts(cells.count), generator)
    measured: list[dict[str, Any]] = []
    for number in range(settings.tables):
        place, spend = left[0], _count(names[left[0]])
        if settings.choice_share:
            query = StageChoice(model=model, places=tuple(left))
            place, spend = left[holder.choose_in_parts(query, spend=CHOOSE_TABLE)[0]], COUNT_TABLE
        left.remove(place)
        table = _measure(model, place, spend, holder)
        groups = CALIBRATION_GROUPS if number == settings.tables - 1 else _groups(schema, settings, left)
        stage = _stage(draft, place, table, _deviation(holder, spend), model.bins(place), groups)
        rows.draw(place, consistent(table))
        rows.apply_stage(stage)
        model = replace(model, stages=(*model.stages, stage))
        measured.append({"attribute": names[place], "groups": len(table), "counts": table.tolist()})
    story = tuple(f"{each['attribute']} by class, in {_grouped(each['groups'])}" for each in measured)
    if left:
        marginals = MarginalCounts(model=model, places=tuple(left))
        noisy = marginals.split(holder.measure(marginals, spend=COUNT_REST))
        for place, marginal in zip(left, noisy, strict=True):
            rows.draw_by_marginal(place, project(marginal, max(rows.rows, 1)))
            measured.append({"attribute": names[place], "counts": marginal.tolist()})
    table = _measure(model, None, CALIBRATE, holder)
    rows.calibrate(calibrate(table[:, 0], draft.log_odds, draft.groups, _deviation(holder, CALIBRATE)))
    measured.append({"groups": len(table), "counts": table.tolist()})
    codes = dict(zip(names, rows.codes, strict=True)) | {str(schema.target): rows.draw_classes()}
    columns = {a.name: published_values(a.domain, codes[a.name]) for a in schema.attributes}
    return Detail(
        fine=FineRows(schema=schema, columns=columns),
        document={"unit of log-odds": f"1/{LOG_ODDS_UNIT}", "split": list(cells.split), "measured": measured},
        story=story,
    )


def _grouped(groups: int) -> str:
    return "one group" if groups == 1 else f"{groups} groups"


def _groups(schema: Schema, settings: DetailSettings, left: list[int]) -> int:
    """The number of groups in which the next table is counted: one, if its attribute is known and has too many bins."""
    if settings.choice_share:
        return settings.groups
    bins = bins_of(schema.predictors[left[0]].domain, settings.fewest_bins)[-1] + 1
    return 1 if bins > settings.bins_in_groups else settings.groups


def _measure(model: LogOddsModel, place: int | None, spend: str, holder: Holder) -> Integers:
    query = StageCounts(model=model, place=place)
    return holder.measure(query, spend=spend).reshape(query.shape)


def _stage(draft: "RowSampler", place: int, table: Integers, deviation: float, bins: Integers, groups: int) -> Stage:
    """The stage of a measured table. The draft draws the attribute from it and adds its shifts."""
    shifts = log_odds_shifts(table, draft.prior_probabilities(len(table), place), deviation)
    draft.draw(place, consistent(table))
    ungrouped = Stage(
        place=place, bins=bins, shifts=shifts, groups_after=LogOddsGroups.by_quantiles(draft.log_odds[:0], 1)
    )
    draft.apply_stage(ungrouped)
    stage = replace(ungrouped, groups_after=LogOddsGroups.by_quantiles(draft.log_odds, groups))
    draft.groups = stage.groups_after.assign(draft.log_odds)
    return stage


def _deviation(holder: Holder, spend: str) -> float:
    """The standard deviation of the noise of a table that this spend pays for."""
    sensitivity = 1 if holder.unit is Unit.ADD_REMOVE else 2
    return laplace_variance(sensitivity=sensitivity, epsilon=holder.plan.price(spend)) ** 0.5


def _seed(count: Integers) -> int:
    return int.from_bytes(hashlib.sha256(np.ascontiguousarray(count, dtype="<i8").tobytes()).digest(), "big")
