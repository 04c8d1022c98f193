"""The result of a transcript check."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scumble.model.budget import budget_text, short_delta
from scumble.model.guarantee import Unit


@dataclass(frozen=True, kw_only=True)
class TranscriptFinding:
    """The largest privacy loss over all transcripts that were compared."""

    name: str
    unit: Unit
    epsilon: Fraction
    delta: Fraction | None = None
    """The declared delta; None if the guarantee is pure. With a delta, losses are rhos."""
    proved: bool
    """False if the method itself calls its guarantee unproven."""
    transcripts: int
    largest: Fraction
    """The largest loss of a whole transcript."""
    largest_share: Fraction
    """The largest loss of a single answer, as a share of its price."""
    violation: str = ""
    """What was found to be wrong, on which tables; empty if nothing was."""

    @property
    def sentence(self) -> str:
        """The result in one or two sentences."""
        delta = "" if self.delta is None else f" and delta {short_delta(self.delta)}"
        declared = f"{self.name} declares epsilon {budget_text(self.epsilon)}{delta}"
        if self.violation:
            return f"REFUTED: {declared}. {self.violation}"
        if not self.transcripts:
            return f"{declared}; no transcript was compared."
        loss = "privacy loss" if self.delta is None else "rho"
        return (
            f"No violation: {declared}; the largest {loss} of {self.transcripts:,} transcripts is "
            f"{float(self.largest):.4f}, and of a single answer {100 * float(self.largest_share):.1f} % of its price."
        )

    def to_json(self) -> dict[str, Any]:
        """The result as plain data, as `scumble audit --transcripts --json` prints it. Losses are rounded."""
        return {
            "method": self.name,
            "unit": self.unit.value,
            "declared": budget_text(self.epsilon),
            **({} if self.delta is None else {"declared_delta": budget_text(self.delta)}),
            "proved": self.proved,
            "transcripts": self.transcripts,
            "largest_loss": round(float(self.largest), 6),
            "largest_share_of_a_price": round(float(self.largest_share), 6),
            "refuted": bool(self.violation),
            "violation": self.violation,
        }
