"""The holder: the only place where records, noise and budget meet.

A method has nothing in hand but the holder's answers, so whatever it does with them is post-processing. A holder is an
engine, a source of noise, and a purse made from the plan; an answer with no planned spend cannot be had.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from scumble.errors import BudgetError
from scumble.model.counts import Counts, Integers, Tabulation
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan, PlanWithoutDP, Spend
from scumble.privacy.noise import Noise, Selection, selection_scale
from scumble.privacy.query import (
    Block,
    Box,
    Choice,
    Measurement,
    Query,
    RowChoice,
    RowMeasurement,
    RowQuery,
    Sensitivity,
    SummedRows,
)

OFFSET_BITS = 16
"""Scores are multiplied by 2^16 before offsets are added, so that an offset in 2^-16 steps is exact."""


class Tabulates(Protocol):
    """What the holder needs of an engine."""

    def tabulate(self, request: Tabulation) -> Counts: ...

    def blocks(self) -> Iterable[Block]: ...

    def add_up(self, work: Callable[[Iterable[Block]], Any]) -> Any: ...


class Answers(Protocol):
    """What a method may ask, each for a planned price: of one owner's `Holder`, or of several owners' together."""

    @property
    def unit(self) -> Unit: ...

    def choose(
        self,
        query: Choice,
        *,
        spend: str,
        selection: Selection = Selection.PERMUTE_AND_FLIP,
        log_weights: Sequence[float] | None = None,
    ) -> int:
        """The index of a privately chosen candidate. `log_weights` are public prior weights of the candidates."""

    def choose_apart(
        self,
        queries: Sequence[Choice],
        *,
        spend: str,
        selection: Selection = Selection.PERMUTE_AND_FLIP,
        log_weights: Sequence[float] | None = None,
    ) -> list[int]:
        """One choice for each query, for a single price, the queries being about disjoint regions."""

    def choose_in_parts(
        self, query: RowChoice, *, spend: str, selection: Selection = Selection.PERMUTE_AND_FLIP
    ) -> list[int]:
        """One choice for each part of a row query, for a single price, the parts being disjoint boxes."""

    def measure(self, query: Measurement | RowMeasurement, *, spend: str) -> Integers:
        """The query's answer with discrete Laplace noise."""

    def disclose(self, query: RowMeasurement) -> Integers:
        """The exact answer, for releases that are not differentially private and whose plan says so."""

    def divide(self, spend: str, parts: tuple[Spend, ...]) -> Plan:
        """Give out an unused spend as several that add up to it, by what was told before; the plan as it is then."""


class Purse:
    """The plan's spends, paid out one by one. What is not in it cannot be bought."""

    def __init__(self, plan: Plan | PlanWithoutDP) -> None:
        self.plan = plan
        self._unit = plan.unit
        self._spends = {spend.label: spend for spend in plan.spends}
        self._left = {spend.label: spend.times for spend in plan.spends}

    def pay(self, label: str, queries: Sequence[Query]) -> Fraction:
        """Take one use of a spend for these queries and return the epsilon each of them may cost.

        Several queries share one price only if the plan says so and no record can matter to two of them.
        """
        return self._take(label, apart=len(queries) < 2 or _disjoint(queries), several=len(queries) > 1)

    def pay_parts(self, label: str, parts: Sequence[Box]) -> Fraction:
        """The same for a query of several parts, whose boxes must not meet."""
        return self._take(label, apart=len(parts) < 2 or _disjoint_boxes(parts), several=len(parts) > 1)

    def divide(self, label: str, parts: tuple[Spend, ...]) -> Plan:
        """Replace a spend that was never used by several; `Plan` sees to it that they add up to it exactly."""
        whole = self._whole(label)
        if not isinstance(self.plan.guarantee, PureDP) or whole.times != 1 or self._left[label] < 1:
            raise BudgetError(f"The spend {label!r} is used up, or was not planned to be divided. Nothing was told.")
        assert isinstance(self.plan, Plan)
        self.plan = self.plan.divided(label, parts)
        self._spends |= {part.label: part for part in parts}
        self._left |= {label: 0} | {part.label: part.times for part in parts}
        return self.plan

    def unit(self, label: str) -> Unit:
        """The unit in which an answer bought by this spend must keep its price.

        Under `replace` a shared spend is counted twice in the plan, for a changed record leaves one part and enters
        another, or the same one: two steps of add-remove. So each part has to keep the price under add-remove.
        """
        spend = self._spends.get(label)
        return Unit.ADD_REMOVE if spend is not None and spend.shared else self._unit

    def _whole(self, label: str) -> Spend:
        spend = self._spends.get(label)
        if spend is None:
            raise BudgetError(f"No spend {label!r} was planned; planned: {', '.join(self._spends)}. Nothing was told.")
        return spend

    def _take(self, label: str, *, apart: bool, several: bool) -> Fraction:
        spend = self._whole(label)
        if self._left[label] < 1:
            raise BudgetError(f"All {spend.times} uses of the spend {label!r} are used up. Nothing was told.")
        if several and not (spend.shared and apart):
            raise BudgetError(f"The spend {label!r} pays for one answer, or for answers about disjoint records.")
        self._left[label] -= 1
        return spend.epsilon

    @property
    def left(self) -> dict[str, int]:
        """How many uses of each spend remain."""
        return dict(self._left)


def _disjoint(queries: Sequence[Query]) -> bool:
    regions = [query.region for query in queries]
    boxes = sorted((region[0], region[1].low, region[1].high) for region in regions if region is not None)
    if len(boxes) < len(regions):
        return False
    # Regions on different attributes cross, so all must lie on one.
    return all(before[0] == after[0] and before[2] <= after[1] for before, after in pairwise(boxes))


def _disjoint_boxes(parts: Sequence[Box]) -> bool:
    """Whether no two boxes meet. Two meet if their codes do in every attribute; an empty box meets none."""
    boxes = np.array(parts, dtype=np.int64)
    lows, highs = boxes[:, :, 0], boxes[:, :, 1]
    for number in range(len(boxes) - 1):
        meets = np.minimum(highs[number], highs[number + 1 :]) > np.maximum(lows[number], lows[number + 1 :])
        if meets.all(axis=1).any():
            return False
    return True


class Holder:
    """Answers queries about one table, each for a planned price."""

    def __init__(
        self,
        *,
        engine: Tabulates,
        noise: Noise,
        plan: Plan | PlanWithoutDP,
        answered: Callable[[str], None] | None = None,
    ) -> None:
        self._engine = engine
        self._noise = noise
        self._answered = answered or (lambda label: None)
        self._last: tuple[Tabulation, Counts] | None = None
        self._unit = plan.unit
        self._private = isinstance(plan, Plan)
        self.purse = Purse(plan)

    @property
    def unit(self) -> Unit:
        return self._unit

    def choose(
        self,
        query: Choice,
        *,
        spend: str,
        selection: Selection = Selection.PERMUTE_AND_FLIP,
        log_weights: Sequence[float] | None = None,
    ) -> int:
        """The index of a privately chosen candidate. `log_weights` are public prior weights of the candidates."""
        return self.choose_apart([query], spend=spend, selection=selection, log_weights=log_weights)[0]

    def choose_apart(
        self,
        queries: Sequence[Choice],
        *,
        spend: str,
        selection: Selection = Selection.PERMUTE_AND_FLIP,
        log_weights: Sequence[float] | None = None,
    ) -> list[int]:
        """One choice for each query, for a single price, the queries being about disjoint regions."""
        epsilon = self.purse.pay(spend, queries)
        unit = self.purse.unit(spend)
        chosen = [
            self._select(self._answer(query), query.sensitivity(unit), unit, epsilon, selection, log_weights)
            for query in queries
        ]
        self._answered(spend)
        return chosen

    def choose_in_parts(
        self, query: RowChoice, *, spend: str, selection: Selection = Selection.PERMUTE_AND_FLIP
    ) -> list[int]:
        """One choice for each part of a row query, for a single price, the parts being disjoint boxes."""
        epsilon = self.purse.pay_parts(spend, query.parts)
        unit = self.purse.unit(spend)
        sensitivity = query.sensitivity(unit)
        lines = self._answer_from_rows(query)
        if len(lines) != max(1, len(query.parts)):
            raise BudgetError(f"{type(query).__name__} answers in more lines than it has parts. Nothing was told.")
        chosen = [self._select(scores, sensitivity, unit, epsilon, selection, None) for scores in lines]
        self._answered(spend)
        return chosen

    def measure(self, query: Measurement | RowMeasurement, *, spend: str) -> Integers:
        """The query's answer with exact discrete Laplace noise."""
        epsilon = self.purse.pay(spend, [query]) if isinstance(query, Query) else self.purse.pay_parts(spend, ())
        bound = query.sensitivity(self.purse.unit(spend)).bound
        exact = self._answer(query) if isinstance(query, Query) else self._answer_from_rows(query)
        noisy = self._noise.laplace(exact, sensitivity=bound, epsilon=epsilon)
        self._answered(spend)
        return noisy

    def disclose(self, query: RowMeasurement) -> Integers:
        """The exact answer, for releases that are not differentially private and whose plan says so."""
        if self._private:
            raise BudgetError("An exact answer cannot be had under a plan that promises differential privacy.")
        return query.answer(self._engine.blocks())

    def divide(self, spend: str, parts: tuple[Spend, ...]) -> Plan:
        """Give out an unused spend as several that add up to it, by what was told before; the plan as it is then."""
        return self.purse.divide(spend, parts)

    def _answer(self, query: Query) -> Integers:
        """The exact answer. The last counts are kept, for many queries in a row ask for the same ones."""
        if self._last is None or self._last[0] != query.tabulation:
            self._last = query.tabulation, self._engine.tabulate(query.tabulation)
        return query.answer(self._last[1])

    def _answer_from_rows(self, query: RowQuery) -> Integers:
        if isinstance(query, SummedRows):
            return query.finish(self._engine.add_up(query.gather))
        return query.answer(self._engine.blocks())

    def _select(
        self,
        exact: Integers,
        sensitivity: Sensitivity,
        unit: Unit,
        epsilon: Fraction,
        selection: Selection,
        log_weights: Sequence[float] | None,
    ) -> int:
        monotone = sensitivity.monotone and unit is Unit.ADD_REMOVE
        scale = selection_scale(sensitivity=sensitivity.bound, monotone=monotone, epsilon=epsilon)
        scores = exact << OFFSET_BITS
        if log_weights is not None:
            # Exact arithmetic is slow, and candidates are many where weights are few.
            offsets = {weight: round(Fraction(weight) * scale * 2**OFFSET_BITS) for weight in set(log_weights)}
            scores = scores + np.array([offsets[weight] for weight in log_weights], dtype=np.int64)
        return self._noise.select(
            scores,
            sensitivity=sensitivity.bound << OFFSET_BITS,
            monotone=monotone,
            epsilon=epsilon,
            selection=selection,
        )
