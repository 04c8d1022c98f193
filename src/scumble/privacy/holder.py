"""The holder: the only object that accesses records, and the only one that adds noise to answers.

A method receives only the holder's answers, so whatever it computes from them is post-processing. `Holder` defines what
a method may ask. Each answer is first paid for by a spend of the plan; without a planned spend there is no answer.
`CentralHolder` answers for one owner's table, with an engine and a source of noise. The holder of `scumble.joint`
answers for the tables of several owners, and that of `scumble.auditing` also records the queries.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from types import UnionType
from typing import Any, Protocol

import numpy as np

from scumble import interrupts
from scumble.errors import BudgetError
from scumble.model.counts import Block, Counts, Integers, Tabulation
from scumble.model.guarantee import Unit, allows_exact_answers
from scumble.model.measured_tables import NoiseKind
from scumble.model.plan import Plan, Spend
from scumble.privacy.noise import Noise, Selection
from scumble.privacy.price import Price
from scumble.privacy.purse import Purse
from scumble.privacy.query import (
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
LARGEST_SCORE, LARGEST_OFFSET = 2**62 - 1, 2**61
"""Scores and offsets are clipped to these after multiplication, so that their sums stay within 64 bits. Clipping keeps
sensitivity and monotonicity."""


class Tabulates(Protocol):
    """The part of an engine that the holder uses."""

    def tabulate(self, request: Tabulation) -> Counts: ...

    def blocks(self) -> Iterable[Block]: ...

    def add_up(self, work: Callable[[Iterable[Block]], Any]) -> Any: ...


class Holder(ABC):
    """What a method may ask. Each answer is paid for by a planned spend.

    This class pays for the answers; a subclass computes them in `_select`, `_select_in_parts`, `_measure` and
    `_disclose`, which are called only after the payment, and refuses in `_check` what it cannot answer.
    """

    def __init__(self, *, plan: Plan, answered: Callable[[str], None] | None = None) -> None:
        """`answered` is called with the label of a spend after each answer that the spend paid for."""
        self.purse = Purse(plan)
        self._answered = answered or (lambda label: None)

    @property
    def plan(self) -> Plan:
        """The reserved plan, with the divisions made since."""
        return self.purse.plan

    @property
    def unit(self) -> Unit:
        return self.plan.unit

    @property
    def noise_kind(self) -> NoiseKind:
        """The law of the noise of measurements under the plan's guarantee."""
        return NoiseKind.of(self.plan.guarantee)

    def choose(
        self,
        query: Choice,
        *,
        spend: str,
        selection: Selection | None = None,
        log_weights: Sequence[float] | None = None,
    ) -> int:
        """The index of a privately selected candidate. `log_weights` are public log-weights of the candidates.

        Without `selection`, the mechanism is the better one under the plan's guarantee.
        """
        return self.choose_apart([query], spend=spend, selection=selection, log_weights=log_weights)[0]

    def choose_apart(
        self,
        queries: Sequence[Choice],
        *,
        spend: str,
        selection: Selection | None = None,
        log_weights: Sequence[float] | None = None,
    ) -> list[int]:
        """One private selection for each query, for a single price. The regions of the queries must be disjoint."""
        selection = selection or self.purse.price(spend).selection
        for query in queries:
            _require(query, Choice)
            self._check(query, selection)
        price = self.purse.pay(spend, queries)
        chosen = [self._select(query, price, selection, log_weights) for query in queries]
        self._answered(spend)
        return chosen

    def choose_in_parts(self, query: RowChoice, *, spend: str, selection: Selection | None = None) -> list[int]:
        """One private selection for each part of a row query, for a single price. The parts must be disjoint boxes."""
        _require(query, RowChoice)
        selection = selection or self.purse.price(spend).selection
        self._check(query, selection)
        price = self.purse.pay_parts(spend, query.parts)
        chosen = self._select_in_parts(query, price, selection)
        self._answered(spend)
        return chosen

    def measure(self, query: Measurement | RowMeasurement, *, spend: str) -> Integers:
        """The query's answer with discrete Laplace noise or, if the spend is priced in rho, discrete Gaussian noise."""
        _require(query, Measurement | RowMeasurement)
        self._check(query)
        price = self.purse.pay(spend, [query]) if isinstance(query, Query) else self.purse.pay_parts(spend, ())
        noisy = self._measure(query, price)
        self._answered(spend)
        return noisy

    def variance(self, query: Measurement | RowMeasurement, *, spend: str) -> float:
        """The variance of the noise of each number that `measure` would return. It is public and costs nothing."""
        price = self.purse.price(spend)
        return price.variance(query.sensitivity(price.unit))

    def selection_scale(self, query: Choice | RowChoice, *, spend: str, selection: Selection | None = None) -> Fraction:
        """The noise scale of a choice, in units of its scores. It is public and costs nothing."""
        price = self.purse.price(spend)
        return price.selection_scale(query.sensitivity(price.unit), selection)

    def disclose(self, query: RowMeasurement) -> Integers:
        """The exact answer. Refused if the plan guarantees differential privacy."""
        if not allows_exact_answers(self.plan.guarantee):
            raise BudgetError("A plan that guarantees differential privacy allows no exact answer. None was released.")
        self._check(query)
        interrupts.check()
        return self._disclose(query)

    def divide(self, spend: str, parts: tuple[Spend, ...]) -> Plan:
        """Replace an unused spend by several that add up to it, and return the plan with this division.

        The division may depend on earlier answers.
        """
        return self.purse.divide(spend, parts)

    @abstractmethod
    def _check(self, query: Query | RowQuery, selection: Selection | None = None) -> None:
        """Raise `BudgetError` if this holder cannot answer the query. Called before any payment."""

    @abstractmethod
    def _select(self, query: Choice, price: Price, selection: Selection, log_weights: Sequence[float] | None) -> int:
        """A private selection that costs no more than the price."""

    @abstractmethod
    def _select_in_parts(self, query: RowChoice, price: Price, selection: Selection) -> list[int]:
        """A private selection for each part, none of which costs more than the price."""

    @abstractmethod
    def _measure(self, query: Measurement | RowMeasurement, price: Price) -> Integers:
        """A noisy answer that costs no more than the price."""

    @abstractmethod
    def _disclose(self, query: RowMeasurement) -> Integers:
        """The exact answer."""


class CentralHolder(Holder):
    """Answers queries about one table. Reads it through an engine and adds noise from one source."""

    def __init__(
        self, *, engine: Tabulates, noise: Noise, plan: Plan, answered: Callable[[str], None] | None = None
    ) -> None:
        super().__init__(plan=plan, answered=answered)
        self._engine = engine
        self._noise = noise
        self._last: tuple[Tabulation, Counts] | None = None
        self._last_sums: tuple[Hashable, Integers] | None = None

    def _check(self, query: Query | RowQuery, selection: Selection | None = None) -> None:
        """Never refuses: with the whole table, every query can be answered."""

    def _select(self, query: Choice, price: Price, selection: Selection, log_weights: Sequence[float] | None) -> int:
        return self._draw(self._exact(query), query.sensitivity(price.unit), price, selection, log_weights)

    def _select_in_parts(self, query: RowChoice, price: Price, selection: Selection) -> list[int]:
        sensitivity = query.sensitivity(price.unit)
        lines = self._exact_from_rows(query)
        if len(lines) != max(1, len(query.parts)):
            raise BudgetError(
                f"{type(query).__name__} answers in more lines than it has parts. No answer was released."
            )
        return [self._draw(scores, sensitivity, price, selection, None) for scores in lines]

    def _measure(self, query: Measurement | RowMeasurement, price: Price) -> Integers:
        exact = self._exact(query) if isinstance(query, Query) else self._exact_from_rows(query)
        noisy = price.noisy(self._noise, exact, query.sensitivity(price.unit))
        width = query.numbers_per_row if isinstance(query, RowMeasurement) else 0
        return _in_ascending_order(noisy.reshape(-1, width)).ravel() if width else noisy

    def _disclose(self, query: RowMeasurement) -> Integers:
        return query.answer(self._engine.blocks())

    def _exact(self, query: Query) -> Integers:
        """The exact answer. The last counts are cached, because consecutive queries often need the same ones."""
        if self._last is None or self._last[0] != query.tabulation:
            self._last = query.tabulation, self._engine.tabulate(query.tabulation)
        return query.answer(self._last[1])

    def _exact_from_rows(self, query: RowQuery) -> Integers:
        if isinstance(query, SummedRows):
            key = query.sums_key
            if key is None:
                return query.finish(self._engine.add_up(query.gather))
            if self._last_sums is None or self._last_sums[0] != key:
                self._last_sums = key, self._engine.add_up(query.gather)
            return query.finish(self._last_sums[1])
        return query.answer(self._engine.blocks())

    def _draw(
        self,
        exact: Integers,
        sensitivity: Sensitivity,
        price: Price,
        selection: Selection,
        log_weights: Sequence[float] | None,
    ) -> int:
        scale = price.selection_scale(sensitivity, selection)
        limit = LARGEST_SCORE >> OFFSET_BITS
        scores = np.clip(exact, -limit, limit) << OFFSET_BITS
        if log_weights is not None:
            # Exact arithmetic is slow, and candidates are many where weights are few.
            offsets = {weight: _offset(Fraction(weight) * scale) for weight in set(log_weights)}
            scores = scores + np.array([offsets[weight] for weight in log_weights], dtype=np.int64)
        return self._noise.select(
            scores,
            sensitivity=sensitivity.bound << OFFSET_BITS,
            monotone=price.monotone(sensitivity),
            epsilon=price.selection_epsilon(selection),
            selection=selection,
        )


def _require(query: object, kind: type | UnionType) -> None:
    """Refuse a query of another kind: a bound on each score is not a bound on the sum of all changes."""
    if not isinstance(query, kind):
        raise BudgetError(f"{type(query).__name__} is not a query of this kind. No answer was released.")


def _in_ascending_order(lines: Integers) -> Integers:
    """The lines sorted by their first number, then the second, and so on: the same for every order they come in."""
    return lines[np.lexsort(lines.T[::-1])]


def _offset(score: Fraction) -> int:
    """A public offset of a score in the units in which scores are compared."""
    return max(-LARGEST_OFFSET, min(LARGEST_OFFSET, round(score * 2**OFFSET_BITS)))
