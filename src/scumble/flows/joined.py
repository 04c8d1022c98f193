"""The result of a joint release, as one party sees it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scumble.flows.count_warnings import count_warnings
from scumble.flows.release import release_summary
from scumble.joint.session.meter import Phase
from scumble.model.display import Displayed, Summary
from scumble.model.release import Release
from scumble.privacy.receipt import Receipt


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
    rows_at_most: int | None = None
    """`Agreement.records_at_most`: counts near it may have been clipped."""
    notices: tuple[str, ...] = ()
    """What the owner should know about its ledger: that it is new, or replaces one that was lost."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the owners should look at, from published numbers only."""
        return count_warnings(self.release, rows_at_most=self.rows_at_most)

    @property
    def summary(self) -> Summary:
        """The party, the folder, the charge, and what the release says of itself."""
        made = self.release.summary
        own = (("party", self.party), ("folder", str(self.folder)), ("transcript", str(self.transcript)))
        charged = () if self.receipt is None else (("charged", self.receipt.text),)
        warned = tuple(("warning", warning) for warning in self.warnings)
        noticed = tuple(("notice", notice) for notice in self.notices)
        facts = (*own, *charged, *noticed, *warned, *made.facts)
        return replace(made, kind="Joined", size=f"{made.size}, in {self.folder}", facts=facts)

    def to_json(self) -> dict[str, Any]:
        """The result as plain data, as `scumble join --json` prints it."""
        return {
            **release_summary(self.folder, self.release),
            "party": self.party,
            "phases": [phase.to_json() for phase in self.phases],
            "transcript": str(self.transcript),
            "warnings": list(self.warnings),
            "notices": list(self.notices),
            "seconds": round(self.seconds, 3),
        }
