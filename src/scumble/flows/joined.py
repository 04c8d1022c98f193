"""The result of a joint release, as one party sees it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scumble.flows.release import charge_text, release_summary
from scumble.joint.session.meter import Phase
from scumble.model.display import Displayed, Summary
from scumble.model.release import Release
from scumble.privacy.ledger import Receipt


@dataclass(frozen=True, kw_only=True, repr=False)
class Joined(Displayed):
    """A published joint release, as one party sees it. A party without rows has no receipt."""

    party: str
    folder: Path
    release: Release
    receipt: Receipt | None
    seconds: float
    phases: tuple[Phase, ...]
    transcript: Path

    @property
    def summary(self) -> Summary:
        """The party, the folder, the charge, and what the release says of itself."""
        made = self.release.summary
        own = (("party", self.party), ("folder", str(self.folder)), ("transcript", str(self.transcript)))
        charged = () if self.receipt is None else (("charged", charge_text(self.receipt)),)
        return replace(made, kind="Joined", size=f"{made.size}, in {self.folder}", facts=(*own, *charged, *made.facts))

    def to_json(self) -> dict[str, Any]:
        """The result as plain data, as `scumble join --json` prints it."""
        return {
            **release_summary(self.folder, self.release),
            "party": self.party,
            "phases": [phase.to_json() for phase in self.phases],
            "transcript": str(self.transcript),
            "seconds": round(self.seconds, 3),
        }
