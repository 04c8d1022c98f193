"""DiffGen (Mohammed, Chen, Fung, Yu, KDD 2011): generalize top-down by private choices, then publish noisy counts.

Two ways to choose. `published` is the paper's Algorithm 1, equal to it in every probability (PROOF.md names the one
difference, a public grid for split values). `together`, the default, chooses value and split in one private selection a
round, at half the price where the score is monotone, with scores that see all attributes at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from scumble.methods.diffgen.algorithm_1 import choose_as_published, published_spends
from scumble.methods.diffgen.cell_bounds import leaf_cells, most_cells
from scumble.methods.diffgen.detail.measure import Cells, add_detail, detail_spends
from scumble.methods.diffgen.levels import (
    LEVELS,
    RECORDS_SHARE,
    Level,
    Settings,
    in_detail,
    level_for,
    public_records,
    settle,
)
from scumble.methods.diffgen.parameters import DiffGen, SelectionMode
from scumble.methods.diffgen.together import choose_together, together_spends
from scumble.methods.method import require_target
from scumble.model.cut import Cut, Specialization
from scumble.model.guarantee import PureDP
from scumble.model.plan import Plan, Spend
from scumble.model.release import CellRelease
from scumble.model.rounding import Rounding
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.noise import laplace_variance
from scumble.privacy.query import CellCounts

COUNT = "count the cells"
COUNT_RECORDS = "count the records"
REST = "all else"
PUBLISHED_RESOLUTION = 1023
"""Published mode measures counts in 1/1023rds, so that rounding them gives the paper's rounded continuous noise. Odd,
so that none lies half way between two whole numbers."""


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """A way to choose the cells and to count them."""

    spends: Callable[[Schema, Fraction, Settings], tuple[Spend, ...]]
    """What its choices cost, of so much epsilon."""
    choose: Callable[[Schema, Settings, Holder, Callable[[Specialization], None]], Cut]
    """The cut; each specialization is recorded when it was chosen."""
    resolution: int = 1
    rounding: Rounding = Rounding.PROJECT


FINEST = Procedure(
    spends=lambda schema, epsilon, settings: (),
    choose=lambda schema, settings, holder, record: Cut.leaves(schema),
)
"""No choices: the full contingency table."""

PROCEDURES = {
    SelectionMode.TOGETHER: Procedure(spends=together_spends, choose=choose_together),
    SelectionMode.PUBLISHED: Procedure(
        spends=published_spends,
        choose=choose_as_published,
        resolution=PUBLISHED_RESOLUTION,
        rounding=Rounding.NEAREST,
    ),
}


def _procedure(parameters: DiffGen) -> Procedure:
    return FINEST if parameters.leaves else PROCEDURES[parameters.selection]


class DiffGenMethod:
    """The method, as the straight line calls it."""

    name = "diffgen"
    summary = "A generalized table with noisy counts, made for classification (KDD 2011)."
    parameters = DiffGen
    audited: ClassVar[tuple[dict[str, Any], ...]] = (
        {"leaves": True},
        {"detail": "yes"},
        *({"rounds": 2, "score": score} for score in ("accuracy", "gini", "max")),
        *({"rounds": 2, "selection": "published", "score": score} for score in ("max", "infogain")),
    )
    """Its modes, for `scumble audit`."""
    levels: ClassVar[tuple[Level, ...]] = LEVELS

    def _levels(self, schema: Schema, parameters: DiffGen) -> Sequence[Level | None]:
        """The levels that detail may be measured by: one where the number of records is public; None without detail."""
        if not in_detail(schema, parameters):
            return [None]
        records = public_records(schema, parameters)
        return self.levels if records is None else [level_for(self.levels, schema, parameters.epsilon, records)]

    def plan(self, schema: Schema, parameters: DiffGen) -> Plan:
        require_target(schema, "diffgen")
        levels = self._levels(schema, parameters)
        records = public_records(schema, parameters)
        possible = [settle(schema, parameters, level, records) for level in levels]
        if len(levels) == 1:
            spends = _spends(schema, parameters, possible[0], parameters.epsilon)
        else:
            spends = (
                Spend(
                    label=COUNT_RECORDS,
                    epsilon=parameters.epsilon * RECORDS_SHARE,
                    purpose="discrete Laplace noise on the number of records of each class",
                ),
                Spend(
                    label=REST,
                    epsilon=parameters.epsilon * (1 - RECORDS_SHARE),
                    purpose="choices, cells and detail, divided by how many records were counted",
                ),
            )
        if parameters.leaves:
            cells = leaf_cells(schema, possible[0].max_cells)
        else:
            cells = max(most_cells(schema, settings.rounds, settings.max_cells) for settings in possible)
        return Plan(
            guarantee=PureDP(epsilon=parameters.epsilon, unit=schema.unit),
            spends=spends,
            cells_at_most=cells,
            notes=_notes(parameters, possible, schema, cells),
            single_owner_reason=_single_owner_reason(parameters, possible[0]),
        )

    def run(self, schema: Schema, parameters: DiffGen, holder: Holder) -> CellRelease:
        settings, known = self._settings(schema, parameters, holder)
        procedure = _procedure(parameters)
        steps: list[Specialization] = []
        cut = procedure.choose(schema, settings, holder, steps.append)
        query = CellCounts(cut=cut, resolution=procedure.resolution)
        measured = holder.measure(query, spend=COUNT).reshape(cut.cells, len(schema.classes))
        bound = query.sensitivity(schema.unit).bound
        variance = laplace_variance(sensitivity=bound, epsilon=holder.plan.price(COUNT)) / procedure.resolution**2
        count = procedure.rounding.apply(measured, procedure.resolution)
        split = tuple(dict.fromkeys(step.attribute for step in steps))
        cells = Cells(cut=cut, split=split, measured=measured, variance=variance, count=count)
        detail = add_detail(cells, settings.detail, holder) if settings.detail else None
        return CellRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=cut.published_schema(),
            measured=measured,
            resolution=procedure.resolution,
            variance=variance,
            rounding=procedure.rounding,
            count=count,
            story=(*(_sentence(step) for step in steps), *(detail.story if detail else ())),
            fine=detail.fine if detail else None,
            documents={"detail": known | detail.document} if detail else {},
        )

    def _settings(self, schema: Schema, parameters: DiffGen, holder: Holder) -> tuple[Settings, dict[str, Any]]:
        """The settings, and the counted records where the plan divides its budget by them."""
        levels = self._levels(schema, parameters)
        if len(levels) == 1:
            return settle(schema, parameters, levels[0], public_records(schema, parameters)), {}
        counted = holder.measure(CellCounts(cut=Cut.top(schema)), spend=COUNT_RECORDS)
        records = int(counted.sum())
        settings = settle(schema, parameters, level_for(self.levels, schema, parameters.epsilon, records), records)
        holder.divide(REST, _spends(schema, parameters, settings, holder.plan.price(REST)))
        return settings, {"records counted": counted.tolist()}


def _spends(schema: Schema, parameters: DiffGen, settings: Settings, epsilon: Fraction) -> tuple[Spend, ...]:
    """What cells and detail cost, for so much epsilon together."""
    choices = _procedure(parameters).spends(schema, epsilon, settings)
    counting = epsilon * settings.cell_share - sum((s.total(schema.unit) for s in choices), Fraction(0))
    count = Spend(label=COUNT, epsilon=counting, purpose="discrete Laplace noise on every (cell, class) count")
    return (*choices, count, *(detail_spends(schema, epsilon, settings.detail) if settings.detail else ()))


def _notes(parameters: DiffGen, possible: Sequence[Settings], schema: Schema, cells: int) -> tuple[str, ...]:
    counts = f"At most {cells:,} cells x {len(schema.classes)} classes will be published."
    if parameters.leaves:
        return (counts, "No choices are made: the whole budget goes to the counts of the full contingency table.")
    settings = possible[0]
    details = [each.detail for each in possible if each.detail]
    if details:
        tables, groups = _range([each.tables for each in details]), max(each.groups for each in details)
        told = f"{tables} attributes will be counted by class, in up to {groups} groups: rows are drawn from these."
        divided = ("How the rest is divided, `--records` tells, where about how many there are is public.",)
        return (counts, told, *(divided if len(possible) > 1 else ()))
    share = "the paper's split" if parameters.selection is SelectionMode.PUBLISHED else str(settings.selection_share)
    return (counts, f"{settings.rounds} rounds by `{settings.score}`, share of the budget for choosing: {share}.")


def _range(numbers: Sequence[int]) -> str:
    """
    >>> _range([8, 6, 7]), _range([5])
    ('6 to 8', '5')
    """
    return f"{min(numbers)} to {max(numbers)}" if min(numbers) < max(numbers) else str(numbers[0])


def _single_owner_reason(parameters: DiffGen, settings: Settings) -> str:
    if parameters.leaves:
        return ""
    if settings.detail:
        return "detail is measured on whole rows: give `detail: no`"
    if settings.score.worth.divides:
        return f"the score `{settings.score}` divides, but secret numbers are only compared: take `accuracy` or `max`"
    if parameters.selection is SelectionMode.PUBLISHED:
        return "published mode uses the exponential mechanism: leave out `selection: published`, keep `score: max`"
    return ""


def _sentence(step: Specialization) -> str:
    children = " | ".join(child.label for child in step.children)
    return f"{step.attribute}: {step.node.label} -> {children}"
