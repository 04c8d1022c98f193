"""The receipt of a charge: what a release folder publishes about it."""

from dataclasses import dataclass
from fractions import Fraction

from scumble.model.budget import budget_text, short_delta


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a release folder publishes about its charge: no dataset name. Amounts are those after the reservation."""

    entry: str
    charged: Fraction
    spent: Fraction
    ceiling: Fraction
    charged_delta: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)
    ceiling_delta: Fraction = Fraction(0)

    @property
    def text(self) -> str:
        """What was charged and what is spent, in a few words."""
        charged, spent, ceiling = (budget_text(each) for each in (self.charged, self.spent, self.ceiling))
        entry = f"ledger entry {self.entry[:12]}"
        if not self.ceiling_delta:
            return f"{charged}: {spent} of {ceiling} spent, {entry}"
        more, total, most = (short_delta(each) for each in (self.charged_delta, self.spent_delta, self.ceiling_delta))
        return f"{charged} and delta {more}: {spent} of {ceiling} and delta {total} of {most} spent, {entry}"

    def to_json(self) -> dict[str, str]:
        """The receipt as written to release.json, amounts as exact text; deltas only if the account has any."""
        amounts = {"charged": self.charged, "spent": self.spent, "ceiling": self.ceiling}
        if self.ceiling_delta:
            amounts |= {
                "charged_delta": self.charged_delta,
                "spent_delta": self.spent_delta,
                "ceiling_delta": self.ceiling_delta,
            }
        return {"entry": self.entry, **{name: budget_text(amount) for name, amount in amounts.items()}}
