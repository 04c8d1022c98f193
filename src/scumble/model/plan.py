"""A plan: every answer a method will ask for, with its price, before any row is read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from scumble.errors import BudgetError
from scumble.model.budget import budget_text
from scumble.model.guarantee import IntervalPrivacy, JointDP, KAnonymity, LocalDP, PureDP, Unit, Unproven, to_json


@dataclass(frozen=True, kw_only=True)
class Spend:
    """A price paid up to `times` times. `shared` prices are paid once for all parts of a partition (parallel
    composition), which under `replace` counts double: a changed record leaves one part and enters another."""

    label: str
    epsilon: Fraction
    times: int = 1
    shared: bool = False
    purpose: str = ""

    def total(self, unit: Unit) -> Fraction:
        return self.epsilon * self.times * (2 if self.shared and unit is Unit.REPLACE else 1)

    def to_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "epsilon": budget_text(self.epsilon),
            "times": self.times,
            "shared": self.shared,
            "purpose": self.purpose,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spend":
        return cls(**{**data, "epsilon": Fraction(data["epsilon"])})


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The spends in order, which add up to the guarantee exactly, and the largest number of cells there can be."""

    guarantee: PureDP | JointDP
    spends: tuple[Spend, ...]
    cells_at_most: int
    notes: tuple[str, ...] = ()
    alone: str = "its answers need whole rows, or were not made to be added up"
    """Why only one owner can have the plan answered; empty where several can, together."""

    def __post_init__(self) -> None:
        labels = [spend.label for spend in self.spends]
        if len(set(labels)) != len(labels):
            raise BudgetError(f"A plan's labels are unique, these are not: {labels}. This is a bug of the method.")
        total = sum((spend.total(self.guarantee.unit) for spend in self.spends), Fraction(0))
        if total != self.guarantee.epsilon or any(s.epsilon <= 0 or s.times < 1 for s in self.spends):
            raise BudgetError(
                f"The spends add up to {budget_text(total)}, the guarantee says {budget_text(self.guarantee.epsilon)}. "
                "This is a bug of the method."
            )

    @property
    def unit(self) -> Unit:
        return self.guarantee.unit

    def divided(self, label: str, parts: tuple[Spend, ...]) -> "Plan":
        """The same plan with one spend given out as several, which must add up to it.

        What is divided how may follow from answers told before: under pure differential privacy the epsilons of answers
        add up even if each is chosen by looking at the earlier ones, as long as their sum is bounded beforehand
        (Rogers, Roth, Ullman & Vadhan 2016).
        """
        spends = [part for spend in self.spends for part in (parts if spend.label == label else (spend,))]
        return replace(self, spends=tuple(spends))

    def to_json(self) -> dict[str, Any]:
        return {
            "guarantee": to_json(self.guarantee),
            "spends": [spend.to_json() for spend in self.spends],
            "cells_at_most": self.cells_at_most,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, kw_only=True)
class PlanWithoutDP:
    """A plan whose release is not differentially private, and says so: only under one may a holder tell exact answers.

    The spends of an unproven claim add up to the claim; k-anonymity has none.
    """

    guarantee: KAnonymity | Unproven
    unit: Unit
    spends: tuple[Spend, ...]
    cells_at_most: int
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.guarantee, Unproven):
            claim = self.guarantee.claim
            Plan(guarantee=claim, spends=self.spends, cells_at_most=self.cells_at_most)
            if claim.unit is not self.unit:
                raise BudgetError("The plan's unit is not the claim's. This is a bug of the method.")
        elif self.spends:
            raise BudgetError("A plan without differential privacy has nothing to spend. This is a bug of the method.")

    def to_json(self) -> dict[str, Any]:
        return {
            "guarantee": to_json(self.guarantee),
            "unit": self.unit.value,
            "spends": [spend.to_json() for spend in self.spends],
            "cells_at_most": self.cells_at_most,
            "notes": list(self.notes),
        }


Planned = Plan | PlanWithoutDP
"""What a method plans, and a holder answers by."""


@dataclass(frozen=True, kw_only=True)
class BlurPlan:
    """What people spend who blur their own records: an epsilon for each attribute that local privacy covers.

    Nobody holds a table here, so no holder and no ledger knows this plan.
    """

    guarantee: LocalDP | IntervalPrivacy
    unit: Unit
    spends: tuple[Spend, ...]
    cells_at_most: int
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        due = self.guarantee.epsilon if isinstance(self.guarantee, LocalDP) else Fraction(0)
        if sum((spend.total(self.unit) for spend in self.spends), Fraction(0)) != due:
            raise BudgetError("The blurs do not cost what the guarantee says. Take a noise model's own guarantee.")
