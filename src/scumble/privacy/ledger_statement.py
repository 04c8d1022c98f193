"""A statement of a ledger: what every dataset has spent, as a value to print, show in a notebook or write as JSON.

It has no fingerprints, which never leave the ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from json import loads
from pathlib import Path
from typing import Any

from scumble.model.budget import budget_text, short_delta
from scumble.model.display import Displayed, Listing, Summary, plural
from scumble.model.guarantee import Unit
from scumble.privacy.ledger_account import Account
from scumble.privacy.ledger_entries import Entry


@dataclass(frozen=True, kw_only=True)
class StatedEntry:
    """One entry of an account. `content` depends on the kind of entry: a charge, a ceiling, a release."""

    sequence: int
    time: str
    kind: str
    hash: str
    content: Mapping[str, Any]

    @classmethod
    def of(cls, entry: Entry) -> "StatedEntry":
        """The entry without its fingerprint."""
        content = {name: value for name, value in loads(entry.body).items() if name != "fingerprint"}
        return cls(sequence=entry.sequence, time=entry.time, kind=entry.kind, hash=entry.hash, content=content)

    @property
    def text(self) -> str:
        """The main content, in a few words."""
        content = self.content
        if "event" in content:
            return ", ".join(str(content[name]) for name in ("event", "reason") if name in content)
        if "charged" in content:
            return f"{content['method']}, charged {content['charged']}{self._delta_text('charged_delta')}"
        if "ceiling" in content:
            reason = f", {content['reason']}" if "reason" in content else ""
            return f"ceiling {content['ceiling']}{self._delta_text('ceiling_delta')}{reason}"
        published = "signed release published" if "signature" in content else "release published"
        return {"rows": "rows read", "settle": published}.get(self.kind, "")

    def _delta_text(self, name: str) -> str:
        return f" and delta {short_delta(Fraction(self.content[name]))}" if name in self.content else ""

    def to_json(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {"sequence": self.sequence, "time": self.time, "kind": self.kind, "hash": self.hash, **self.content}


@dataclass(frozen=True, kw_only=True)
class StatedAccount:
    """The budget of one dataset: what it has spent, its ceiling, and the entries that led there."""

    name: str
    unit: Unit
    spent: Fraction
    ceiling: Fraction
    entries: tuple[StatedEntry, ...]
    person: str | None = None
    """The column whose persons the account protects; None if it protects single records."""
    spent_delta: Fraction = Fraction(0)
    """The sum of the deltas of all releases. Pure releases have none."""
    ceiling_delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, name: str, account: Account) -> "StatedAccount":
        """An account as it stands now."""
        entries = tuple(StatedEntry.of(entry) for entry in account.entries)
        balance = {
            "spent": account.spent,
            "ceiling": account.ceiling,
            "spent_delta": account.spent_delta,
            "ceiling_delta": account.ceiling_delta,
        }
        return cls(name=name, unit=account.unit, entries=entries, person=account.person, **balance)

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.ceiling - self.spent

    @property
    def balance(self) -> str:
        """What is spent, in words: of epsilon and, if there is any, of delta."""
        spent, ceiling = budget_text(self.spent), budget_text(self.ceiling)
        balance = f"{spent} of {ceiling} spent"
        if not self.ceiling_delta:
            return balance
        return f"{balance}, delta {short_delta(self.spent_delta)} of {short_delta(self.ceiling_delta)} spent"

    @property
    def amounts(self) -> tuple[str, str]:
        """What is spent and the ceiling, each with its delta if there is any."""
        pairs = ((self.spent, self.spent_delta), (self.ceiling, self.ceiling_delta))
        texts = [
            budget_text(epsilon) + (f" and delta {short_delta(delta)}" if self.ceiling_delta else "")
            for epsilon, delta in pairs
        ]
        return texts[0], texts[1]

    @property
    def listing(self) -> Listing:
        """The entries as a table, below the balance."""
        return Listing(
            heading=f"{self.name} ({self._protects}): {self.balance}",
            columns=("time", "entry", "what", "hash"),
            rows=tuple((entry.time, entry.kind, entry.text, entry.hash[:12]) for entry in self.entries),
            unit="entries",
        )

    @property
    def _protects(self) -> str:
        return self.unit.value if self.person is None else f"{self.unit.value}, persons by {self.person!r}"

    @property
    def _deltas(self) -> dict[str, str]:
        if not self.ceiling_delta:
            return {}
        return {"spent_delta": budget_text(self.spent_delta), "ceiling_delta": budget_text(self.ceiling_delta)}

    def to_json(self) -> dict[str, Any]:
        """The account as plain data, budgets as exact text."""
        return {
            "name": self.name,
            "unit": self.unit.value,
            **({} if self.person is None else {"person": self.person}),
            "spent": budget_text(self.spent),
            "ceiling": budget_text(self.ceiling),
            **self._deltas,
            "entries": [entry.to_json() for entry in self.entries],
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class LedgerStatement(Displayed):
    """All accounts of a ledger at one moment, in the order in which they were opened."""

    path: Path
    accounts: tuple[StatedAccount, ...] = ()
    events: tuple[StatedEntry, ...] = ()
    """What happened to the ledger itself: created, converted from an earlier format, accepted after a loss."""

    def __getitem__(self, name: str) -> StatedAccount:
        """The account of a dataset. Raises KeyError if the ledger has none of that name."""
        for account in self.accounts:
            if account.name == name:
                return account
        raise KeyError(name)

    @property
    def summary(self) -> Summary:
        """The balances; and the entries, if there are few accounts."""
        if len(self.accounts) <= FEW_ACCOUNTS:
            listings = tuple(account.listing for account in self.accounts)
        else:
            listings = (self._balances,)
        size = f"{plural(len(self.accounts), 'dataset')} in {self.path}"
        return Summary(kind="LedgerStatement", size=size, listings=listings)

    @property
    def _balances(self) -> Listing:
        return Listing(
            columns=("dataset", "unit", "spent", "ceiling", "entries"),
            rows=tuple((each.name, each.unit.value, *each.amounts, str(len(each.entries))) for each in self.accounts),
            unit="datasets",
        )

    def to_json(self) -> dict[str, Any]:
        """The statement as plain data, as `scumble ledger show --json` prints it."""
        events = {"ledger": [event.to_json() for event in self.events]} if self.events else {}
        return {"datasets": [account.to_json() for account in self.accounts], **events}


FEW_ACCOUNTS = 3
"""A statement of more accounts displays their balances only."""
