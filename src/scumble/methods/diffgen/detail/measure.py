"""Detail inside the cells: paid class tables beside them, and rows that follow both."""

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt
from typing import Any

import numpy as np

from scumble.methods.diffgen.detail.calibration import calibrate
from scumble.methods.diffgen.detail.groups import ODDS_UNIT, Evidence, Grouping, Stage, bins_of
from scumble.methods.diffgen.detail.queries import Margins, StageChoice, StageCounts
from scumble.methods.diffgen.detail.rows import Rows
from scumble.methods.diffgen.detail.shrinkage import consistent, odds_of_cells, shifts_of
from scumble.methods.diffgen.levels import DetailSettings
from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.fine_rows import fine_counts, scaled
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.model.release import FineRows
from scumble.model.rounding import project
from scumble.model.schema import Schema
from scumble.model.values import published_values
from scumble.privacy.holder import Holder
from scumble.privacy.noise import laplace_variance, simulation

CHOOSE_TABLE = "choose a table"
COUNT_TABLE = "count a table"
CALIBRATE = "count the groups"
COUNT_REST = "count the other attributes"

CALIBRATION_GROUPS = 12
DRAFT_ROWS = 100_000


def detail_spends(schema: Schema, epsilon: Fraction, settings: DetailSettings) -> tuple[Spend, ...]:
    """What the detail costs: tables the same each where they are chosen, else more for an attribute of more bins."""
    counting = epsilon * settings.table_share
    purpose = "discrete Laplace noise, in groups of records of like odds"
    spends = []
    if settings.choice_share:
        spends += [
            Spend(
                label=CHOOSE_TABLE,
                epsilon=epsilon * settings.choice_share / settings.tables,
                times=settings.tables,
                purpose="one private selection: which attribute adds most to what is known",
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
                purpose="discrete Laplace noise on a histogram of each attribute without a table",
            )
        )
    spends.append(
        Spend(
            label=CALIBRATE,
            epsilon=epsilon * settings.calibration_share,
            purpose="discrete Laplace noise on the classes in groups of records of like odds",
        )
    )
    return tuple(spends)


def _count(attribute: str) -> str:
    return f"count {attribute} by class"


def table_shares(schema: Schema, fewest_bins: int) -> dict[str, Fraction]:
    """What part of the tables' epsilon each attribute has, where all have a table: by the root of its number of bins.

    With n records spread evenly over b bins, noise at a price e moves the chance of a class in each by some b / (n e).
    The sum of squares over all attributes is least with prices by b^(2/3). The root is on the safe side of that, for
    the records of many attributes lie in a few of their bins.
    """
    roots = [isqrt(10_000 * (int(bins_of(each.domain, fewest_bins)[-1]) + 1)) for each in schema.predictors]
    ends = [1000 * end // sum(roots) for end in accumulate(roots, initial=0)]
    names = [each.name for each in schema.predictors]
    return {name: Fraction(high - low, 1000) for name, (low, high) in zip(names, pairwise(ends), strict=True)}


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What detail starts from."""

    cut: Cut
    split: tuple[str, ...]
    """The attributes that the cut splits, in the order in which they were chosen."""
    measured: Integers
    """Of shape (cells, classes), as they came; `variance` is that of their noise."""
    variance: float
    count: Integers
    """The same, fit for use as a table."""


@dataclass(frozen=True, kw_only=True)
class Detail:
    """What came of it."""

    fine: FineRows
    document: dict[str, Any]
    story: tuple[str, ...]


def add_detail(cells: Cells, settings: DetailSettings, holder: Holder) -> Detail:
    """Measure, stage by stage, then draw the rows.

    What was measured so far is looked at on a draft: rows drawn from it, no more than groups need.
    """
    cut, schema = cells.cut, cells.cut.schema
    names = [attribute.name for attribute in schema.predictors]
    generator = simulation(_seed(cells.count))
    odds = odds_of_cells(cells.measured, cells.variance**0.5, cut.shape, [names.index(name) for name in cells.split])
    few = scaled(cells.count, most=DRAFT_ROWS)
    left = list(range(len(schema.predictors)))
    groups = _groups(schema, settings, left)
    first = Grouping.learn(odds[np.repeat(np.arange(len(few)), few.sum(axis=1))], groups)
    evidence = Evidence(schema=schema, cut=cut, cells=odds, first=first, fewest_bins=settings.fewest_bins)
    draft, rows = Rows(evidence, few, generator), Rows(evidence, fine_counts(cells.count), generator)
    measured: list[dict[str, Any]] = []
    for number in range(settings.tables):
        place, spend = left[0], _count(names[left[0]])
        if settings.choice_share:
            query = StageChoice(evidence=evidence, places=tuple(left))
            place, spend = left[holder.choose_in_parts(query, spend=CHOOSE_TABLE)[0]], COUNT_TABLE
        left.remove(place)
        table = _measure(evidence, place, spend, holder)
        groups = CALIBRATION_GROUPS if number == settings.tables - 1 else _groups(schema, settings, left)
        stage = _stage(draft, place, table, _deviation(holder, spend), evidence.bins(place), groups)
        rows.draw(place, consistent(table))
        rows.advance(stage)
        evidence = replace(evidence, stages=(*evidence.stages, stage))
        measured.append({"attribute": names[place], "groups": len(table), "counts": table.tolist()})
    story = tuple(f"{each['attribute']} by class, in {_grouped(each['groups'])}" for each in measured)
    if left:
        margins = Margins(evidence=evidence, places=tuple(left))
        noisy = margins.split(holder.measure(margins, spend=COUNT_REST))
        for place, margin in zip(left, noisy, strict=True):
            rows.draw_by_margin(place, project(margin, max(rows.rows, 1)))
            measured.append({"attribute": names[place], "counts": margin.tolist()})
    table = _measure(evidence, None, CALIBRATE, holder)
    rows.calibrate(calibrate(table[:, 0], draft.odds, draft.groups, _deviation(holder, CALIBRATE)))
    measured.append({"groups": len(table), "counts": table.tolist()})
    codes = dict(zip(names, rows.codes, strict=True)) | {str(schema.target): rows.deal()}
    columns = {a.name: published_values(a.domain, codes[a.name]) for a in schema.attributes}
    return Detail(
        fine=FineRows(schema=schema, columns=columns),
        document={"unit of log-odds": f"1/{ODDS_UNIT}", "split": list(cells.split), "measured": measured},
        story=story,
    )


def _grouped(groups: int) -> str:
    return "one group" if groups == 1 else f"{groups} groups"


def _groups(schema: Schema, settings: DetailSettings, left: list[int]) -> int:
    """In how many groups the next table is counted: in one, if it is known to have too many bins for more."""
    if settings.choice_share:
        return settings.groups
    bins = bins_of(schema.predictors[left[0]].domain, settings.fewest_bins)[-1] + 1
    return 1 if bins > settings.bins_in_groups else settings.groups


def _measure(evidence: Evidence, place: int | None, spend: str, holder: Holder) -> Integers:
    query = StageCounts(evidence=evidence, place=place)
    return holder.measure(query, spend=spend).reshape(query.shape)


def _stage(draft: Rows, place: int, table: Integers, deviation: float, bins: Integers, groups: int) -> Stage:
    """The stage that a table makes; the draft takes its values and odds from it."""
    shifts = shifts_of(table, draft.told(len(table), place), deviation)
    draft.draw(place, consistent(table))
    unsorted = Stage(place=place, bins=bins, shifts=shifts, after=Grouping.learn(draft.odds[:0], 1))
    draft.advance(unsorted)
    stage = replace(unsorted, after=Grouping.learn(draft.odds, groups))
    draft.groups = stage.after.sort(draft.odds)
    return stage


def _deviation(holder: Holder, spend: str) -> float:
    """The standard deviation of the noise of a table that was bought by this spend."""
    sensitivity = 1 if holder.unit is Unit.ADD_REMOVE else 2
    return laplace_variance(sensitivity=sensitivity, epsilon=holder.plan.price(spend)) ** 0.5


def _seed(count: Integers) -> int:
    return int.from_bytes(hashlib.sha256(np.ascontiguousarray(count, dtype="<i8").tobytes()).digest(), "big")
