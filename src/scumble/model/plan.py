"""The plan of a release: every answer that a method will ask for, with its price, made before any row is read.

What the ledger reserves, what the holder lets a method spend and what the release publishes are one `Plan`. It is never
changed: dividing a reserved spend gives a new plan that also states what was reserved and how it was divided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from scumble.errors import BudgetError
from scumble.model.budget import budget_text, delta_text
from scumble.model.display import Displayed, Listing, Summary, plural
from scumble.model.guarantee import ApproxDP, Guarantee, LocalDP, Unit, epsilon_of, persons_of, unit_of
from scumble.model.guarantee_json import from_json, to_json
from scumble.model.operation import Operation
from scumble.model.spend import Division, Spend, budget_of, read_spends

__all__ = ["WARNING", "Division", "Plan", "Spend", "guarantee_text"]

WARNING = "Warning: "
"""A note that begins with this is a warning: the data owner should read it before the budget is charged."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Displayed):
    """The guarantee, the spends that add up to it, and the largest number of cells there can be.

    What is checked follows from the guarantee. The spends add up to its epsilon exactly, those of an unproven claim to
    the claim's. Under `ApproxDP` they are rhos and stay within the rho that its epsilon and delta allow. Guarantees
    without an epsilon have no spends. Spends are prices for one row: where the guarantee protects persons with up to k
    rows each, an epsilon counts k times and a rho k^2 times.
    """

    guarantee: Guarantee
    spends: tuple[Spend, ...]
    """In order, as they are paid: parts in the place of a spend that was divided."""
    cells_at_most: int
    notes: tuple[str, ...] = ()
    needs: Mapping[Operation, str] = field(default_factory=lambda: {Operation.ROWS: ""})
    """What the answers need. A holder may not offer all of it: the text says what it is needed for and what to do
    instead; empty if there is no more to say."""
    numbers_at_most: int | None = None
    """The most numbers that noise is added to in all answers together, candidates of choices and counts, however the
    spends are divided; None if no spend is divided, and no answer has more numbers than there are cells by class."""
    schema_unit: Unit | None = None
    """The schema's unit, for guarantees that do not name one themselves."""
    divisions: tuple[Division, ...] = ()
    """The reserved spends that were divided, in that order."""

    def __post_init__(self) -> None:
        own = unit_of(self.guarantee)
        if own is None and self.schema_unit is None:
            raise BudgetError("The guarantee names no unit, so the plan must. This is a bug of the method.")
        if own is not None and self.schema_unit not in (own, None):
            raise BudgetError("The plan's unit is not the guarantee's. This is a bug of the method.")
        self._check_spends(self.spends)
        for division in self.divisions:
            parts = self._total(division.parts)
            if parts != division.whole.total(self.unit):
                raise BudgetError(
                    f"The parts of {division.whole.label!r} add up to {budget_text(parts)}, "
                    f"{budget_text(division.whole.total(self.unit))} was reserved. This is a bug of the method."
                )
        if self.divisions:
            self._check_spends(self.reserved)

    def _check_spends(self, spends: Sequence[Spend]) -> None:
        labels = [spend.label for spend in spends]
        if len(set(labels)) != len(labels):
            raise BudgetError(f"A plan's labels are unique, these are not: {labels}. This is a bug of the method.")
        due = budget_of(self.guarantee)
        if due is None and spends:
            raise BudgetError("A guarantee without epsilon leaves nothing to spend. This is a bug of the method.")
        concentrated = isinstance(self.guarantee, ApproxDP)
        if any((spend.rho is not None) != concentrated for spend in spends):
            raise BudgetError(
                "Spends are priced in rho under approximate differential privacy and in epsilon otherwise. This is a "
                "bug of the method."
            )
        # A person may perturb an attribute completely, at an epsilon of zero; a holder's answer always costs something.
        too_small = any(s.amount < 0 or (s.amount == 0 and not isinstance(self.guarantee, LocalDP)) for s in spends)
        total, limit = self.for_persons(self._total(spends)), due or Fraction(0)
        fits = 0 < total <= limit if concentrated else total == limit
        if not fits or too_small or any(spend.times < 1 for spend in spends):
            allowed = "the guarantee allows a rho of" if concentrated else "the guarantee says"
            raise BudgetError(
                f"The spends add up to {budget_text(total)}, {allowed} {budget_text(limit)}. This is a bug of the "
                "method."
            )

    def for_persons(self, total: Fraction) -> Fraction:
        """What a price of one row becomes for the rows of a person, by group privacy."""
        rows = self.rows_each_at_most
        return total * (rows**2 if isinstance(self.guarantee, ApproxDP) else rows)

    def _total(self, spends: Sequence[Spend]) -> Fraction:
        return sum((spend.total(self.unit) for spend in spends), Fraction(0))

    @property
    def rows_each_at_most(self) -> int:
        """How many rows the guarantee protects together: 1, or the bound on the rows of a person."""
        persons = persons_of(self.guarantee)
        return 1 if persons is None else persons.rows_each_at_most

    @property
    def unit(self) -> Unit:
        """Which tables are neighbours: the guarantee's unit, or the schema's where the guarantee names none."""
        unit = unit_of(self.guarantee) or self.schema_unit
        assert unit is not None
        return unit

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the data owner should read before the charge: those notes that are warnings, without the word."""
        return tuple(note.removeprefix(WARNING) for note in self.notes if note.startswith(WARNING))

    @property
    def reserved(self) -> tuple[Spend, ...]:
        """The spends as they were reserved, before any was divided."""
        spends = self.spends
        for division in reversed(self.divisions):
            parts = division.parts
            start = spends.index(parts[0]) if parts and parts[0] in spends else len(spends)
            if not parts or spends[start : start + len(parts)] != parts:
                raise BudgetError(f"The parts of {division.whole.label!r} are not among the spends.")
            spends = (*spends[:start], division.whole, *spends[start + len(parts) :])
        return spends

    @property
    def summary(self) -> Summary:
        """The guarantee, the notes, and a row for each spend, with the total below."""
        rows = [
            (
                str(number),
                spend.label,
                budget_text(spend.amount),
                str(spend.times),
                budget_text(spend.total(self.unit)),
                spend.purpose,
            )
            for number, spend in enumerate(self.spends, start=1)
        ]
        price = "rho" if isinstance(self.guarantee, ApproxDP) else "epsilon"
        spends = Listing(
            columns=("", "spend", price, "times", "total", "for"),
            rows=tuple(rows),
            unit="spends",
            total=("", "all together", "", "", budget_text(self._total(self.spends)), self._unit_text),
        )
        facts = [("guarantee", self.guarantee.sentence), ("cells at most", f"{self.cells_at_most:,}")]
        facts += [("note", note) for note in self.notes]
        size = f"{guarantee_text(self.guarantee)}, {plural(len(self.spends), 'spend')}, unit {self.unit.value}"
        return Summary(kind="Plan", size=size, facts=tuple(facts), listings=(spends,))

    @property
    def _unit_text(self) -> str:
        text = f"unit: {self.unit.value}"
        total = self._total(self.spends)
        if persons_of(self.guarantee) is not None:
            rows = self.rows_each_at_most
            times = rows**2 if isinstance(self.guarantee, ApproxDP) else rows
            text += f", for one row; for one person, times {times}: {budget_text(self.for_persons(total))}"
        if isinstance(self.guarantee, ApproxDP):
            text += f"; epsilon and delta allow a rho of {budget_text(budget_of(self.guarantee) or Fraction(0))}"
        return text

    def spend(self, label: str) -> Spend:
        """The spend with this label."""
        for spend in self.spends:
            if spend.label == label:
                return spend
        raise BudgetError(f"No spend {label!r} was planned; planned: {', '.join(s.label for s in self.spends)}.")

    def price(self, label: str) -> Fraction:
        """The epsilon of one use of a spend. Refused for a spend in rho, which is not an epsilon."""
        spend = self.spend(label)
        if spend.rho is not None:
            raise BudgetError(f"The spend {label!r} is priced in rho, not in epsilon. This is a bug of the method.")
        return spend.epsilon

    def divided(self, label: str, parts: tuple[Spend, ...]) -> "Plan":
        """The same plan with one spend replaced by several, which must add up to it.

        How a spend is divided may depend on answers released before: the epsilons of answers add up even if each is
        chosen by looking at the earlier ones, as long as their sum is bounded beforehand (Rogers, Roth, Ullman & Vadhan
        2016). The same is true of rhos (Feldman & Zrnic 2021).
        """
        (whole,) = (spend for spend in self.spends if spend.label == label)
        spends = tuple(part for spend in self.spends for part in (parts if spend is whole else (spend,)))
        return replace(self, spends=spends, divisions=(*self.divisions, Division(whole=whole, parts=parts)))

    def spends_json(self) -> dict[str, Any]:
        """The spends as they are paid; and, if any was divided, as they were reserved, and the divisions."""
        paid = {"spends": [spend.to_json() for spend in self.spends]}
        if not self.divisions:
            return paid
        return {
            **paid,
            "reserved": [spend.to_json() for spend in self.reserved],
            "divisions": [division.to_json() for division in self.divisions],
        }

    def to_json(self) -> dict[str, Any]:
        """The plan as plain data, as `scumble plan --json` prints it; budgets as exact text."""
        return {
            "guarantee": to_json(self.guarantee),
            "unit": self.unit.value,
            **self.spends_json(),
            "cells_at_most": self.cells_at_most,
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Plan":
        """The inverse of `to_json`. It also reads release.json, which has the same keys among others."""
        guarantee = from_json(data["guarantee"])
        plan = cls(
            guarantee=guarantee,
            spends=read_spends(data["spends"]),
            cells_at_most=data["cells_at_most"],
            notes=tuple(data["notes"]),
            schema_unit=Unit(data["unit"]) if unit_of(guarantee) is None else None,
            divisions=tuple(Division.from_json(division) for division in data.get("divisions", ())),
        )
        if "reserved" in data and read_spends(data["reserved"]) != plan.reserved:
            raise BudgetError("The spends that were paid are not the reserved ones as they were divided.")
        return plan


def guarantee_text(guarantee: Guarantee) -> str:
    """A guarantee in a few words: its kind, and its epsilon and delta where it has them."""
    epsilon = epsilon_of(guarantee)
    delta = f" and delta {delta_text(guarantee.delta)}" if isinstance(guarantee, ApproxDP) else ""
    return type(guarantee).__name__ + ("" if epsilon is None else f" with epsilon {budget_text(epsilon)}{delta}")
