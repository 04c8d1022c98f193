"""The holder: the only place where records, noise and budget meet.

A method has nothing in hand but the holder's answers, so whatever it does with them is post-processing. A holder is an
engine, a source of noise, and a purse made from the plan; an answer with no planned spend cannot be had.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

import numpy as np

from scumble.errors import BudgetError
from scumble.model.counts import Counts, Integers, Tabulation
from scumble.model.guarantee import Unit
from scumble.model.plan import Plan
from scumble.privacy.noise import Noise, Selection, selection_scale
from scumble.privacy.query import Choice, Measurement, Query

OFFSET_BITS = 16
"""Scores are multiplied by 2^16 before offsets are added, so that an offset in 2^-16 steps is exact."""


class Tabulates(Protocol):
    """What the holder needs of an engine."""

    def tabulate(self, request: Tabulation) -> Counts: ...


class Purse:
    """The plan's spends, paid out one by one. What is not in it cannot be bought."""

    def __init__(self, plan: Plan) -> None:
        self._spends = {spend.label: spend for spend in plan.spends}
        self._left = {spend.label: spend.times for spend in plan.spends}

    def pay(self, label: str, queries: Sequence[Query]) -> Fraction:
        """Take one use of a spend for these queries and return the epsilon each of them may cost.

        Several queries share one price only if the plan says so and no record can matter to two of them.
        """
        spend = self._spends.get(label)
        if spend is None:
            raise BudgetError(f"No spend {label!r} was planned; planned: {', '.join(self._spends)}. Nothing was told.")
        if self._left[label] == 0:
            raise BudgetError(f"All {spend.times} uses of the spend {label!r} are used up. Nothing was told.")
        if len(queries) > 1 and not (spend.shared and _disjoint(queries)):
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


class Holder:
    """Answers queries about one table, each for a planned price."""

    def __init__(
        self, *, engine: Tabulates, noise: Noise, plan: Plan, answered: Callable[[str], None] | None = None
    ) -> None:
        self._engine = engine
        self._noise = noise
        self._answered = answered or (lambda label: None)
        self._last: tuple[Tabulation, Counts] | None = None
        self._unit = plan.guarantee.unit
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
        chosen = [self._select(query, epsilon, selection, log_weights) for query in queries]
        self._answered(spend)
        return chosen

    def measure(self, query: Measurement, *, spend: str) -> Integers:
        """The query's answer with exact discrete Laplace noise."""
        epsilon = self.purse.pay(spend, [query])
        bound = query.sensitivity(self._unit).bound
        noisy = self._noise.laplace(self._answer(query), sensitivity=bound, epsilon=epsilon)
        self._answered(spend)
        return noisy

    def _answer(self, query: Query) -> Integers:
        """The exact answer. The last counts are kept, for many queries in a row ask for the same ones."""
        if self._last is None or self._last[0] != query.tabulation:
            self._last = query.tabulation, self._engine.tabulate(query.tabulation)
        return query.answer(self._last[1])

    def _select(
        self, query: Choice, epsilon: Fraction, selection: Selection, log_weights: Sequence[float] | None
    ) -> int:
        sensitivity = query.sensitivity(self._unit)
        monotone = sensitivity.monotone and self._unit is Unit.ADD_REMOVE
        scale = selection_scale(sensitivity=sensitivity.bound, monotone=monotone, epsilon=epsilon)
        scores = self._answer(query) << OFFSET_BITS
        if log_weights is not None:
            offsets = [round(Fraction(weight) * scale * 2**OFFSET_BITS) for weight in log_weights]
            scores = scores + np.array(offsets, dtype=np.int64)
        return self._noise.select(
            scores,
            sensitivity=sensitivity.bound << OFFSET_BITS,
            monotone=monotone,
            epsilon=epsilon,
            selection=selection,
        )
