"""The rules of the ledger as pure code: a hash chain of entries, and the accounts that they add up to.

There is no file and no clock here. Reading and writing both go through `EntryChain.add`. So nothing can be written that
`Ledger.verify` would reject, and a ledger that was tampered with accepts no further charge.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from scumble.errors import CheckError, InputError
from scumble.foreign.documents import parse_json
from scumble.foreign.numbers import parse_fraction
from scumble.model.budget import budget_text, short_delta
from scumble.model.guarantee import JointDP, Unit
from scumble.model.guarantee_json import from_json
from scumble.privacy.ledger_charge import Cost, charge

START = "0" * 64


class BrokenRule(Exception):
    """An entry breaks a rule of the ledger, which `rule` states."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of the ledger. `body` is canonical JSON; `previous` is the hash of the entry before."""

    sequence: int
    time: str
    kind: str
    dataset: str
    body: str
    previous: str
    hash: str


@dataclass(kw_only=True)
class Account:
    """The budget of one dataset after the entries read so far."""

    unit: Unit
    ceiling: Fraction
    ceiling_delta: Fraction = Fraction(0)
    person: str | None = None
    """The column whose persons the account protects; None if it protects single records."""
    spent: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)
    entries: list[Entry] = field(default_factory=list)


@dataclass(kw_only=True)
class Reservation:
    """A charge: the account's balance after it, the rows it was spent on, and the release it paid for.

    A joint release has a session. An owner is charged once for a session, however often its run is resumed.
    """

    dataset: str
    charged: Fraction
    spent: Fraction
    ceiling: Fraction
    charged_delta: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)
    ceiling_delta: Fraction = Fraction(0)
    session: str | None = None
    fingerprint: str | None = None
    release: str | None = None


def no_room(dataset: str, account: Account, price: Cost, why: str) -> tuple[str, str]:
    """Why an account cannot pay a price, and the arguments of the `grant` that lets it."""
    enough = budget_text(max(account.spent + price.epsilon, account.ceiling))
    refusal = (
        f"The dataset {dataset!r} has spent {budget_text(account.spent)} of its ceiling of "
        f"{budget_text(account.ceiling)}, and this release needs {budget_text(price.epsilon)}{why}."
    )
    if account.spent_delta + price.delta <= account.ceiling_delta:
        return refusal, enough
    has = "allows no delta"
    if account.ceiling_delta:
        spent, ceiling = short_delta(account.spent_delta), short_delta(account.ceiling_delta)
        has = f"has spent {spent} of its ceiling of delta, {ceiling}"
    needs = f"this release needs a delta of {short_delta(price.delta)}"
    refusal += f" It {has}, and {needs}. Leave out --delta, or grant it."
    return refusal, f"{enough} --delta {short_delta(account.spent_delta + price.delta)}"


def canonical(value: object) -> str:
    """JSON in a canonical form, so that equal values have equal hashes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def entry_hash(entry: Entry, key: bytes) -> str:
    """The hash an entry must carry: SHA-256, keyed, over all its other fields.

    Keyed, because a release publishes the hash of its entry: a plain one could be inverted by trying dataset names.
    """
    fields = [entry.sequence, entry.time, entry.kind, entry.dataset, entry.body, entry.previous]
    return hmac.new(key, canonical(fields).encode(), hashlib.sha256).hexdigest()


class EntryChain:
    """The entries replayed in order, each checked against the rules as it is added."""

    def __init__(self, key: bytes) -> None:
        self.length = 0
        self.accounts: dict[str, Account] = {}
        self.reservations: dict[str, Reservation] = {}
        self.owners: dict[str, str] = {}  # from the fingerprint of a table to the dataset that it is charged to
        self._key = key
        self._head = START

    def write(self, *, time: str, kind: str, dataset: str, body: Mapping[str, Any]) -> Entry:
        """Append the next entry and return it."""
        fields: dict[str, Any] = {"sequence": self.length + 1, "time": time, "kind": kind, "dataset": dataset}
        fields |= {"body": canonical(body), "previous": self._head}
        entry = Entry(**fields, hash=entry_hash(Entry(**fields, hash=""), self._key))
        self.add(entry)
        return entry

    def add(self, entry: Entry) -> None:
        """Add an entry, or raise `CheckError` naming the rule it breaks."""
        try:
            self._check_chain(entry)
            self._take(entry, parse_json(entry.body))
        except BrokenRule as error:
            raise self.broken(error.rule) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, InputError) as error:
            raise self.broken(f"its body cannot be read ({error!r})") from error
        self.accounts[entry.dataset].entries.append(entry)
        self.length += 1
        self._head = entry.hash

    def broken(self, reason: str) -> CheckError:
        """The error for an invalid or missing next entry."""
        return CheckError(
            f"Entry {self.length + 1} of the ledger is not valid: {reason}. The ledger was changed by something other "
            "than scumble, or its disk failed. Restore it from a backup; until then it accepts no charge."
        )

    def _check_chain(self, entry: Entry) -> None:
        if entry.sequence != self.length + 1:
            raise BrokenRule(f"its sequence number is {entry.sequence}")
        if entry.previous != self._head:
            raise BrokenRule("it does not contain the hash of the entry before it")
        if entry.hash != entry_hash(entry, self._key):
            raise BrokenRule("its hash does not match its contents")

    def _take(self, entry: Entry, body: dict[str, Any]) -> None:
        if (entry.kind == "open") == (entry.dataset in self.accounts):
            raise BrokenRule("an account is opened exactly once, by its first entry")
        match entry.kind:
            case "open":
                self.accounts[entry.dataset] = Account(
                    unit=Unit(body["unit"]),
                    ceiling=parse_fraction(body["ceiling"]),
                    ceiling_delta=parse_fraction(body.get("ceiling_delta", "0")),
                    person=body.get("person"),
                )
            case "grant":
                self._take_grant(self.accounts[entry.dataset], body)
            case "reserve":
                self._take_reserve(entry, self.accounts[entry.dataset], body)
            case "rows":
                self._take_rows(entry, body["reserve"], body["fingerprint"])
            case "settle":
                reservation = self._reservation(entry, body["reserve"])
                if reservation.release is not None:
                    raise BrokenRule("it settles a reservation for the second time")
                reservation.release = body["release"]
            case _:
                raise BrokenRule(f"{entry.kind!r} is not a kind of entry")

    def _take_grant(self, account: Account, body: dict[str, Any]) -> None:
        ceiling = parse_fraction(body["ceiling"])
        ceiling_delta = parse_fraction(body.get("ceiling_delta", str(account.ceiling_delta)))
        if ceiling < account.spent or ceiling_delta < account.spent_delta:
            raise BrokenRule("its ceiling is below what was already spent")
        account.ceiling, account.ceiling_delta = ceiling, ceiling_delta

    def _take_reserve(self, entry: Entry, account: Account, body: dict[str, Any]) -> None:
        guarantee = from_json(body["guarantee"])
        cost = charge(guarantee, account.unit, person=account.person)
        charged = parse_fraction(body["charged"])
        joint = isinstance(guarantee, JointDP)
        stated = parse_fraction(body.get("charged_delta", "0"))
        if charged != cost.epsilon or stated != (0 if joint else cost.delta):
            raise BrokenRule("it does not charge what its guarantee costs")
        if joint:
            # Negligible: it covers random numbers of finitely many bits. Whoever grants the epsilon grants it.
            account.ceiling_delta += cost.delta
        if account.spent + charged > account.ceiling or account.spent_delta + cost.delta > account.ceiling_delta:
            raise BrokenRule("it spends more than the ceiling leaves")
        account.spent += charged
        account.spent_delta += cost.delta
        session = body.get("session")
        if session is not None and self.session(session) is not None:
            raise BrokenRule("it charges a joint release for the second time")
        self.reservations[entry.hash] = Reservation(
            dataset=entry.dataset,
            charged=charged,
            spent=account.spent,
            ceiling=account.ceiling,
            charged_delta=cost.delta,
            spent_delta=account.spent_delta,
            ceiling_delta=account.ceiling_delta,
            session=session,
        )

    def _take_rows(self, entry: Entry, reserve: str, fingerprint: str) -> None:
        reservation = self._reservation(entry, reserve)
        if reservation.fingerprint is not None or reservation.release is not None:
            raise BrokenRule("its reservation was already spent on a table")
        if self.owner(fingerprint) not in (None, entry.dataset):
            raise BrokenRule("its rows are charged to another dataset")
        reservation.fingerprint = fingerprint
        self.owners.setdefault(fingerprint, entry.dataset)

    def session(self, session: str) -> str | None:
        """The entry that charged a joint release."""
        return next((entry for entry, each in self.reservations.items() if each.session == session), None)

    def owner(self, fingerprint: str) -> str | None:
        """The dataset that these rows are charged to. A table without rows (the empty fingerprint) belongs to none."""
        return self.owners.get(fingerprint) if fingerprint else None

    def _reservation(self, entry: Entry, reserve: str) -> Reservation:
        reservation = self.reservations.get(reserve)
        if reservation is None or reservation.dataset != entry.dataset:
            raise BrokenRule("it refers to a reservation that its dataset does not have")
        return reservation
