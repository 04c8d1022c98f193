"""The spends of a plan: prices of answers in epsilon or in rho, and how a budget is shared out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from scumble.errors import BudgetError
from scumble.foreign.numbers import parse_fraction
from scumble.model.budget import budget_text
from scumble.model.guarantee import ApproxDP, Guarantee, PureDP, Unit, epsilon_of
from scumble.model.operation import Operation
from scumble.model.zcdp import rho_within


@dataclass(frozen=True, kw_only=True)
class Spend:
    """The price of an answer, in epsilon or in rho, and how often it may be paid.

    Under `ApproxDP` prices are rhos of zero-concentrated differential privacy (`scumble.model.zcdp`).

    A `shared` price is paid once for all parts of a partition (parallel composition). Under `replace` an epsilon then
    counts double and a rho four times, because a changed record leaves one part and enters another, or the same one.

    >>> Spend(label="count", epsilon=Fraction(1, 2), times=2, shared=True).total(Unit.REPLACE)
    Fraction(2, 1)
    """

    label: str
    epsilon: Fraction = Fraction(0)
    rho: Fraction | None = None
    times: int = 1
    shared: bool = False
    purpose: str = ""

    def __post_init__(self) -> None:
        if self.rho is not None and self.epsilon:
            raise BudgetError(f"The spend {self.label!r} has an epsilon and a rho. This is a bug of the method.")

    @property
    def amount(self) -> Fraction:
        """The price of one use: the rho, if there is one, else the epsilon."""
        return self.epsilon if self.rho is None else self.rho

    def total(self, unit: Unit) -> Fraction:
        """What the spend costs at most, under a unit of privacy."""
        return self.amount * self.times * self._changes(unit)

    def _changes(self, unit: Unit) -> int:
        """How often the price counts. Two steps of rho each cost 4 rho if they may fall into the same part."""
        if not self.shared or unit is Unit.ADD_REMOVE:
            return 1
        return 2 if self.rho is None else 4

    def part(self, *, label: str, share: Fraction, times: int = 1, purpose: str = "") -> "Spend":
        """A spend whose uses together cost a share of this one. For the parts of a division, whose shares add up to 1.

        >>> Spend(label="all", rho=Fraction(1, 10), times=2).part(label="half", share=Fraction(1, 2)).rho
        Fraction(1, 10)
        """
        amount = self.amount * self.times * share / times
        one = Spend(label=label, times=times, shared=self.shared, purpose=purpose)
        return replace(one, epsilon=amount) if self.rho is None else replace(one, rho=amount)

    def to_json(self) -> dict[str, Any]:
        """The spend as plain data, its epsilon or rho as exact text."""
        return {
            "label": self.label,
            "epsilon" if self.rho is None else "rho": budget_text(self.amount),
            "times": self.times,
            "shared": self.shared,
            "purpose": self.purpose,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spend":
        """The inverse of `to_json`."""
        price = {name: parse_fraction(data[name]) for name in ("epsilon", "rho") if name in data}
        return cls(**{**data, **price})


@dataclass(frozen=True, kw_only=True)
class Division:
    """A reserved spend that was replaced by several parts, which add up to it exactly."""

    whole: Spend
    parts: tuple[Spend, ...]

    def to_json(self) -> dict[str, Any]:
        return {"whole": self.whole.to_json(), "parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Division":
        return cls(whole=Spend.from_json(data["whole"]), parts=read_spends(data["parts"]))


SINGLE_OWNER = "owners who compute jointly add Laplace noise under pure epsilon only, so leave out --delta"
"""Why a plan under `ApproxDP` cannot be made jointly (`Plan.needs`)."""


def needs_for(asked: frozenset[Operation], delta: Fraction | None) -> dict[Operation, str]:
    """What a plan needs if its queries ask for these operations, and for Gaussian noise if there is a delta.

    >>> needs_for(frozenset({Operation.SUMS}), None)
    {<Operation.SUMS: 'sums over rows'>: ''}
    """
    return dict.fromkeys(sorted(asked), "") | ({} if delta is None else {Operation.GAUSSIAN: SINGLE_OWNER})


def guarantee_for(*, epsilon: Fraction, delta: Fraction | None, unit: Unit) -> PureDP | ApproxDP:
    """The guarantee of a method that offers a delta: pure without one."""
    if delta is None:
        return PureDP(epsilon=epsilon, unit=unit)
    return ApproxDP(epsilon=epsilon, delta=delta, unit=unit)


def budget_of(guarantee: Guarantee) -> Fraction | None:
    """What the spends of a plan may add up to: an epsilon, or a rho under `ApproxDP`; None if nothing may be spent."""
    if isinstance(guarantee, ApproxDP):
        return rho_within(guarantee.epsilon, guarantee.delta)
    return epsilon_of(guarantee)


def priced(
    guarantee: PureDP | ApproxDP,
    *,
    label: str,
    share: Fraction,
    times: int = 1,
    shared: bool = False,
    purpose: str = "",
) -> Spend:
    """A spend, in epsilon or rho as the guarantee needs it, whose uses together cost a share of the budget.

    Shares that add up to 1 make a valid plan.

    >>> priced(PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE), label="tables", share=Fraction(1, 2), times=5).epsilon
    Fraction(1, 10)
    """
    due = budget_of(guarantee) or Fraction(0)
    whole = Spend(label=label, shared=shared)
    whole = replace(whole, rho=due) if isinstance(guarantee, ApproxDP) else replace(whole, epsilon=due)
    return whole.part(label=label, share=share * due / whole.total(guarantee.unit), times=times, purpose=purpose)


def read_spends(data: Sequence[Mapping[str, Any]]) -> tuple[Spend, ...]:
    """The spends of plain data."""
    return tuple(Spend.from_json(spend) for spend in data)
