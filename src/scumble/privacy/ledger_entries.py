"""The rules of the ledger as pure code: a hash chain of entries, and the accounts that they add up to.

There is no file and no clock here. Reading and writing both go through `EntryChain.add`. So nothing can be written that
`Ledger.verify` would reject, and a ledger that was tampered with accepts no further charge.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scumble.errors import CheckError, InputError
from scumble.foreign.documents import parse_json
from scumble.foreign.numbers import parse_fraction
from scumble.model.guarantee import JointDP, Unit
from scumble.model.guarantee_json import from_json
from scumble.privacy.ledger_account import Account, Reservation
from scumble.privacy.ledger_charge import charge
from scumble.privacy.receipt import Receipt

START = "0" * 64
EVENT = "ledger"
"""The kind of the entries that record what happened to the ledger itself. They belong to no dataset."""


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


@dataclass(frozen=True, kw_only=True)
class Head:
    """The last entry of a ledger at some moment: of which ledger, which number, which hash."""

    identity: str
    sequence: int
    hash: str


def identity_of(key: bytes) -> str:
    """The public name of the ledger that has this key. No two ledgers share it, and it reveals nothing of it."""
    return hmac.new(key, b"scumble ledger identity/1", hashlib.sha256).hexdigest()


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
        self.accounts: dict[str, Account] = {}
        self.reservations: dict[str, Reservation] = {}
        self.owners: dict[str, str] = {}  # from the fingerprint of a table to the dataset that it is charged to
        self.events: list[Entry] = []
        self.declared: set[Head] = set()
        """States that the owner declared to be lost or replaced, with a reason."""
        self.identity = identity_of(key)
        self._key = key
        self._hashes: list[str] = []

    @property
    def length(self) -> int:
        """The number of entries."""
        return len(self._hashes)

    @property
    def head(self) -> Head:
        """The last entry."""
        return Head(identity=self.identity, sequence=self.length, hash=self.hash_at(self.length) or START)

    def hash_at(self, sequence: int) -> str | None:
        """The hash of the entry with this number, if there is one."""
        return self._hashes[sequence - 1] if 0 < sequence <= self.length else None

    def write(self, *, time: str, kind: str, dataset: str, body: Mapping[str, Any]) -> Entry:
        """Append the next entry and return it."""
        fields: dict[str, Any] = {"sequence": self.length + 1, "time": time, "kind": kind, "dataset": dataset}
        fields |= {"body": canonical(body), "previous": self.head.hash}
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
        (self.events if entry.kind == EVENT else self.accounts[entry.dataset].entries).append(entry)
        self._hashes.append(entry.hash)

    def broken(self, reason: str) -> CheckError:
        """The error for an invalid or missing next entry."""
        return CheckError(
            f"Entry {self.length + 1} of the ledger is not valid: {reason}. The ledger was changed by something other "
            "than scumble, or its disk failed. Restore it from a backup; until then it accepts no charge."
        )

    def _check_chain(self, entry: Entry) -> None:
        if entry.sequence != self.length + 1:
            raise BrokenRule(f"its sequence number is {entry.sequence}")
        if entry.previous != self.head.hash:
            raise BrokenRule("it does not contain the hash of the entry before it")
        if entry.hash != entry_hash(entry, self._key):
            raise BrokenRule("its hash does not match its contents")

    def _take(self, entry: Entry, body: dict[str, Any]) -> None:
        if entry.kind == EVENT:
            self._take_event(entry, body)
            return
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
                reservation.release, reservation.signature = body["release"], body.get("signature")
            case _:
                raise BrokenRule(f"{entry.kind!r} is not a kind of entry")

    def _take_event(self, entry: Entry, body: dict[str, Any]) -> None:
        if entry.dataset:
            raise BrokenRule("it is about the ledger and names a dataset")
        if body["event"] not in ("created", "converted", "accepted") or body["identity"] != self.identity:
            raise BrokenRule("it is not an event of this ledger")
        if (body["event"] == "created") != (self.length == 0):
            raise BrokenRule("a ledger is created exactly once, by its first entry")
        self.declared.update(Head(**lost) for lost in body.get("lost", ()))

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
        if not account.has_room(cost):
            raise BrokenRule("it spends more than the ceiling leaves")
        account.spent += charged
        account.spent_delta += cost.delta
        session = body.get("session")
        if session is not None and self.session(session) is not None:
            raise BrokenRule("it charges a joint release for the second time")
        receipt = Receipt(
            entry=entry.hash,
            charged=charged,
            spent=account.spent,
            ceiling=account.ceiling,
            charged_delta=cost.delta,
            spent_delta=account.spent_delta,
            ceiling_delta=account.ceiling_delta,
        )
        self.reservations[entry.hash] = Reservation(dataset=entry.dataset, receipt=receipt, session=session)

    def _take_rows(self, entry: Entry, reserve: str, fingerprint: str) -> None:
        reservation = self._reservation(entry, reserve)
        if reservation.fingerprint is not None or reservation.release is not None:
            raise BrokenRule("its reservation was already spent on a table")
        if self.owner(fingerprint) not in (None, entry.dataset):
            raise BrokenRule("its rows are charged to another dataset")
        reservation.fingerprint = fingerprint
        self.owners.setdefault(fingerprint, entry.dataset)

    def session(self, session: str) -> Reservation | None:
        """The charge of a joint release."""
        return next((each for each in self.reservations.values() if each.session == session), None)

    def owner(self, fingerprint: str) -> str | None:
        """The dataset that these rows are charged to. A table without rows (the empty fingerprint) belongs to none."""
        return self.owners.get(fingerprint) if fingerprint else None

    def _reservation(self, entry: Entry, reserve: str) -> Reservation:
        reservation = self.reservations.get(reserve)
        if reservation is None or reservation.dataset != entry.dataset:
            raise BrokenRule("it refers to a reservation that its dataset does not have")
        return reservation
