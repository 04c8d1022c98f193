"""DiffGen (Mohammed, Chen, Fung, Yu, KDD 2011): generalizes top-down by private selection, publishes noisy counts.

There are two selection modes. `published` is Algorithm 1 of the paper; PROOF.md, section 6, lists the differences.
`together`, the default, chooses a value and its split in one private selection a round. Its scores use all attributes
at once, and monotone scores cost half as much.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from scumble.errors import InputError
from scumble.methods.diffgen.algorithm_1 import choose_as_published, published_spends
from scumble.methods.diffgen.cell_bounds import leaf_cells, most_cells
from scumble.methods.diffgen.detail.measure import DETAIL_NEEDS, add_detail
from scumble.methods.diffgen.detail.measured import MeasuredCells
from scumble.methods.diffgen.detail.spends import detail_spends
from scumble.methods.diffgen.number_bounds import numbers_of_cells, numbers_of_detail
from scumble.methods.diffgen.parameters import MOST_CLASSES, DiffGen, SelectionMode
from scumble.methods.diffgen.regime import (
    STATED_RECORDS,
    ClassCounts,
    Learnable,
    Regime,
    learnable,
    planned_notes,
    regime_of,
)
from scumble.methods.diffgen.settings import (
    RECORDS_SHARE,
    Settings,
    detail_settings,
    diffgen_settings,
    in_detail,
    information,
    public_records,
)
from scumble.methods.diffgen.together import choose_together, together_spends
from scumble.methods.method import Characteristics, require_target
from scumble.model.cut import Cut, Specialization
from scumble.model.guarantee import PureDP
from scumble.model.operation import Operation
from scumble.model.plan import Plan, Spend
from scumble.model.release import CellRelease
from scumble.model.rounding import Rounding
from scumble.model.row_limit import row_limit_story
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.noise import laplace_variance
from scumble.privacy.query import CellCounts, RecordCount

COUNT = "count the cells"
COUNT_RECORDS = "count the records"
REST = "all else"
SOME_RECORDS = [10**power for power in range(10)]
"""Numbers of records for which a plan looks at its settings, if the number is not public. A larger noisy count is
treated as the last."""
PUBLISHED_RESOLUTION = 1023
"""Published mode measures counts in units of 1/1023, so that rounding them gives the paper's rounded continuous noise.
The number is odd, so that no measured count lies half way between two whole numbers."""


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """How a selection mode chooses the cells, and how they are counted."""

    spends: Callable[[Schema, Fraction, Settings], tuple[Spend, ...]]
    """The spends of the choices, for a given epsilon."""
    choose: Callable[[Schema, Settings, Holder, Callable[[Specialization], None]], Cut]
    """Returns the cut; calls its last argument with each chosen specialization."""
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
    """The method `diffgen`."""

    name = "diffgen"
    summary = "A generalized table with noisy counts, made for classification (KDD 2011)."
    parameters = DiffGen
    characteristics = Characteristics(several_attributes=True, leaf_values=True, generalized_values=True)
    audited: ClassVar[tuple[dict[str, Any], ...]] = (
        {"leaves": True},
        {"detail": "yes"},
        *({"rounds": 2, "score": score} for score in ("accuracy", "gini", "max")),
        *({"rounds": 2, "selection": "published", "score": score} for score in ("max", "infogain")),
    )
    """The modes that `scumble audit` checks."""
    transcribed: ClassVar[tuple[dict[str, Any], ...]] = ({"detail": "no"}, {"records": 150}, {"records": 40_000})
    """Further modes under the transcript check, which is cheaper: some records lead to chosen tables, and many to
    combinations and weights."""

    def plan(self, schema: Schema, parameters: DiffGen) -> Plan:
        require_target(schema, "diffgen")
        if parameters.detail == "yes" and len(schema.classes) > MOST_CLASSES:
            raise InputError(f"{_too_many_classes(schema)} Group them in the schema, or set `detail: no`.")
        records = public_records(schema, parameters)
        counted = records is None and in_detail(schema, parameters)
        numbers = SOME_RECORDS if counted else [records]
        possible = [diffgen_settings(schema, parameters, number) for number in numbers]
        if not counted:
            spends = _spends(schema, parameters, possible[0], parameters.epsilon)
        else:
            spends = (
                Spend(
                    label=COUNT_RECORDS,
                    epsilon=parameters.epsilon * RECORDS_SHARE,
                    purpose="discrete Laplace noise on the number of records",
                ),
                Spend(
                    label=REST,
                    epsilon=parameters.epsilon * (1 - RECORDS_SHARE),
                    purpose="choices, cells and detail; the counted records decide how this is divided",
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
            notes=(*_notes(parameters, possible, schema, cells), *_learning_notes(schema, parameters, records)),
            needs=_needs(parameters, possible[0]),
            numbers_at_most=_numbers_at_most(schema, possible, cells) if in_detail(schema, parameters) else None,
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
        cells = MeasuredCells(cut=cut, split=split, measured=measured, variance=variance, count=count)
        detail = add_detail(cells, settings.detail, holder) if settings.detail else None
        made = CellRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=cut.published_schema(),
            measured=measured,
            resolution=procedure.resolution,
            variance=variance,
            rounding=procedure.rounding,
            count=count,
            story=(*(_describe(step) for step in steps), *(detail.story if detail else ())),
            fine=detail.fine if detail else None,
            documents={"detail": known | detail.document} if detail else {},
        )
        if detail:
            records = sum(detail.document["class totals"])
            learned = _learnable(schema, parameters, settings, records=records, cells=cut.cells)
            made = learned.added_to(made)
        return replace(made, story=(*made.story, *row_limit_story(made.count, made.row_counts)))

    def _settings(self, schema: Schema, parameters: DiffGen, holder: Holder) -> tuple[Settings, dict[str, int]]:
        """The settings, and the counted records for detail.json if they decide how the budget is divided."""
        records = public_records(schema, parameters)
        if records is not None or not in_detail(schema, parameters):
            return diffgen_settings(schema, parameters, records), {}
        counted = int(holder.measure(RecordCount(schema=schema), spend=COUNT_RECORDS)[0])
        # With a tiny epsilon, noise alone exceeds any table. The plan has looked at no larger number than the last.
        settings = diffgen_settings(schema, parameters, min(max(counted, 1), SOME_RECORDS[-1]))
        holder.divide(REST, _spends(schema, parameters, settings, holder.plan.price(REST)))
        return settings, {"records counted": counted}


def _spends(schema: Schema, parameters: DiffGen, settings: Settings, epsilon: Fraction) -> tuple[Spend, ...]:
    """The spends of cells and detail, which get `epsilon` together."""
    choices = _procedure(parameters).spends(schema, epsilon, settings)
    counting = epsilon * settings.cell_share - sum((s.total(schema.unit) for s in choices), Fraction(0))
    count = Spend(label=COUNT, epsilon=counting, purpose="discrete Laplace noise on every (cell, class) count")
    return (*choices, count, *(detail_spends(schema, epsilon, settings.detail) if settings.detail else ()))


def _numbers_at_most(schema: Schema, possible: Sequence[Settings], cells: int) -> int:
    rounds = max(settings.rounds for settings in possible)
    return numbers_of_cells(schema, rounds=rounds, cells=cells) + numbers_of_detail(schema)


def _notes(parameters: DiffGen, possible: Sequence[Settings], schema: Schema, cells: int) -> tuple[str, ...]:
    counts = f"At most {cells:,} cells x {len(schema.classes)} classes will be published."
    if parameters.leaves:
        return (counts, "No splits are chosen: the whole budget goes to the counts of the full contingency table.")
    settings = possible[0]
    details = [each.detail for each in possible if each.detail]
    if details:
        tables = _range([each.tables for each in details])
        tabulated = f"{tables} attributes will be counted by class; fine rows are drawn from these tables."
        hint = ("If the approximate row count is public, pass `--records` to see the split.",)
        return (counts, tabulated, *(hint if len(possible) > 1 else ()))
    too_many = (_too_many_classes(schema),) if parameters.in_detail and len(schema.classes) > MOST_CLASSES else ()
    share = "the paper's split" if parameters.selection is SelectionMode.PUBLISHED else str(settings.selection_share)
    return (
        counts,
        f"{settings.rounds} rounds with the score `{settings.score}`; share of the budget for selection: {share}.",
        *too_many,
    )


def _too_many_classes(schema: Schema) -> str:
    return f"No detail is measured: {schema.target!r} has {len(schema.classes):,} classes, more than {MOST_CLASSES}."


def _learning_notes(schema: Schema, parameters: DiffGen, records: int | None) -> tuple[str, ...]:
    """What can be learned, for a release with detail."""
    if not in_detail(schema, parameters):
        return ()
    powers = (number for number in SOME_RECORDS[1:] if _can_learn(schema, parameters, number))
    enough = next(powers, SOME_RECORDS[-1])
    enough = next((few for few in (enough // 5, enough // 2) if _can_learn(schema, parameters, few)), enough)
    stated = []
    for number in STATED_RECORDS if records is None else (records,):
        settings = diffgen_settings(schema, parameters, number)
        cells = most_cells(schema, settings.rounds, settings.max_cells)
        stated.append(_learnable(schema, parameters, settings, records=number, cells=cells))
    return planned_notes(stated, public=records is not None, enough=enough)


def _can_learn(schema: Schema, parameters: DiffGen, records: int) -> bool:
    settings = detail_settings(schema, parameters.epsilon, records)
    known = information(schema, parameters.epsilon, records)
    return regime_of(schema, settings, known) > Regime.CLASS_SHARES


def _learnable(schema: Schema, parameters: DiffGen, settings: Settings, *, records: int, cells: int) -> Learnable:
    """What can be learned from so many records at the planned prices."""
    assert settings.detail is not None
    public = public_records(schema, parameters) is not None
    spends = _spends(schema, parameters, settings, parameters.epsilon * (1 if public else 1 - RECORDS_SHARE))
    counted = [ClassCounts(price=spend.epsilon, entries=cells) for spend in spends if spend.label == COUNT]
    return learnable(schema, parameters.epsilon, settings.detail, spends, records=records, counted=counted)


def _range(numbers: Sequence[int]) -> str:
    """
    >>> _range([8, 6, 7]), _range([5])
    ('6 to 8', '5')
    """
    return f"{min(numbers)} to {max(numbers)}" if min(numbers) < max(numbers) else str(numbers[0])


def _needs(parameters: DiffGen, settings: Settings) -> dict[Operation, str]:
    """What the queries need. What several owners cannot do jointly has an alternative."""
    asked = CellCounts.needs | RecordCount.needs | (DETAIL_NEEDS if settings.detail else frozenset())
    if not parameters.leaves:
        asked |= settings.score.worth.needs
    instead = {
        Operation.DIVISION: f"the score `{settings.score}` needs division, which secret shares do not allow: use "
        "`accuracy` or `max`"
    }
    needs = {operation: instead.get(operation, "") for operation in sorted(asked)}
    if parameters.selection is SelectionMode.PUBLISHED:
        needs[Operation.EXPONENTIAL] = (
            "published mode uses the exponential mechanism: remove `selection: published`, keep `score: max`"
        )
    return needs


def _describe(step: Specialization) -> str:
    children = " | ".join(child.label for child in step.children)
    return f"{step.attribute}: {step.node.label} -> {children}"
