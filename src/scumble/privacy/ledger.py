"""The ledger: what every dataset has spent, in one append-only SQLite file.

A charge is written before any row is read and is never refunded: a run that crashes, is killed or is refused later
keeps it. Every write is one `BEGIN IMMEDIATE` transaction, so the second of two processes sees the charge of the first,
and it is on disk before the call returns. Entries form a hash chain and are replayed, with all arithmetic, whenever a
ledger is opened (`scumble.privacy.ledger_entries` has the rules).

The chain detects edits. The witness, a second file, detects that a ledger was deleted, cut short or replaced by an
older copy (`scumble.privacy.ledger_witness`). Neither prevents forgery by the owner: whoever can write all files can
replace them. Each published release contains the hash of its entry, which a replaced ledger would lack.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from scumble.errors import Abort, BudgetError, InputError
from scumble.model.budget import budget_text, short_delta
from scumble.model.guarantee import Guarantee, JointDP, Unit, persons_of
from scumble.model.guarantee_json import from_json, to_json
from scumble.privacy.ledger_account import Account, Reservation, dataset_name, no_room
from scumble.privacy.ledger_charge import Cost, charge, why_charged
from scumble.privacy.ledger_place import default_path
from scumble.privacy.open_ledger import OpenLedger
from scumble.privacy.receipt import Receipt


class Ledger(OpenLedger):
    """An open ledger. Use it in a `with` statement, in one thread; any number of processes may have it open at once."""

    def reserve(
        self,
        *,
        dataset: str,
        unit: Unit,
        guarantee: Guarantee,
        method: str,
        spends: Sequence[Mapping[str, Any]],
        session: str | None = None,
    ) -> Receipt:
        """Charge a guarantee to a dataset's account permanently, or raise `BudgetError` and charge nothing.

        The first charge opens the account, under the schema's `unit` and for the records or persons that the guarantee
        protects, with itself as the ceiling: spending more on the same people is a separate decision, which `grant`
        records. This is true of epsilon and of delta: an account that was opened by a pure release allows no delta
        until one is granted. The amounts are computed from the guarantee as it is written, so that `verify` gets the
        same. A joint release is charged once for its `session`; `reserved` finds that charge again. Its own delta is
        negligible and needs no grant.
        """
        dataset = dataset_name(dataset)
        stated = to_json(guarantee)
        with self._transaction("IMMEDIATE"):
            person, price = self._admit(dataset, unit, guarantee, session)
            if dataset not in self._chain.accounts:
                ceiling = {"ceiling": budget_text(price.epsilon), **_delta("ceiling_delta", price.delta)}
                opened = {"unit": unit.value, **ceiling}
                self._append("open", dataset, opened if person is None else {**opened, "person": person})
            body = {
                "method": method,
                "charged": budget_text(price.epsilon),
                **_delta("charged_delta", price.delta),
                "guarantee": stated,
                "spends": list(spends),
            }
            entry = self._append("reserve", dataset, body if session is None else {**body, "session": session})
            return self._chain.reservations[entry.hash].receipt

    def check_room(self, *, dataset: str, unit: Unit, guarantee: Guarantee, session: str) -> None:
        """Raise what `reserve` would raise for a joint release, and charge nothing."""
        with self._transaction("DEFERRED"):
            self._admit(dataset_name(dataset), unit, guarantee, session)

    def check_account(self, *, dataset: str, unit: Unit, guarantee: Guarantee) -> None:
        """Refuse a guarantee that a dataset's account accepts under no ceiling, such as one of single records if it
        protects persons. Charges nothing."""
        with self._transaction("DEFERRED"):
            self._price(self._chain.accounts.get(dataset_name(dataset)), unit, guarantee)

    def _admit(self, dataset: str, unit: Unit, guarantee: Guarantee, session: str | None) -> tuple[str | None, Cost]:
        """The column of the persons that the account protects, and what it charges; raises if it has no room."""
        if session is not None and self._chain.session(session) is not None:
            raise BudgetError(
                "This joint release was already charged to this ledger, but the state of that run was not found. "
                "Give its folder with --state, or make a new agreement. Nothing was charged now."
            )
        account = self._chain.accounts.get(dataset)
        person, price = self._price(account, unit, from_json(to_json(guarantee)))
        needed = Cost(epsilon=price.epsilon, delta=Fraction(0) if isinstance(guarantee, JointDP) else price.delta)
        if account is not None and not account.has_room(needed):
            raise self._no_room(dataset, account, needed, why_charged(guarantee, account.unit, person=person))
        return person, needed

    def _price(self, account: Account | None, unit: Unit, guarantee: Guarantee) -> tuple[str | None, Cost]:
        """The column of the persons that the account protects, and what it charges for a guarantee."""
        persons = persons_of(guarantee)
        person = account.person if account else persons.column if persons else None
        return person, charge(guarantee, account.unit if account else unit, person=person)

    def reserved(self, *, session: str, dataset: str | None = None) -> Receipt | None:
        """The receipt of a joint release that was charged before (to `dataset`, if given), or None."""
        with self._transaction("DEFERRED"):
            charged = self._chain.session(session)
            if charged is None:
                return None
            if dataset is not None and charged.dataset != dataset_name(dataset):
                raise BudgetError(
                    f"This joint release was charged to the dataset {charged.dataset!r}, not to {dataset!r}. Continue "
                    f"with --dataset {shlex.quote(charged.dataset)}."
                )
            return charged.receipt

    def record_rows(self, receipt: Receipt, fingerprint: bytes) -> None:
        """Record which rows a reservation is spent on; refuse rows that are charged to another dataset.

        Call it before any answer is drawn. One reservation pays for one table, once.
        """
        with self._transaction("IMMEDIATE"):
            reservation = self._reservation(receipt)
            if reservation.fingerprint == fingerprint.hex() and reservation.release is None:
                return
            if reservation.fingerprint is not None or reservation.release is not None:
                raise BudgetError(
                    f"This reservation of the dataset {reservation.dataset!r} was already spent on a table, and these "
                    "rows are not the same. Give the same rows. Make a new reservation to read other rows."
                )
            owner = self._chain.owner(fingerprint.hex())
            if owner not in (None, reservation.dataset):
                raise BudgetError(
                    f"These rows are recorded in the ledger as the dataset {owner!r}, not {reservation.dataset!r}: "
                    "under two names the same people would be charged to two accounts. No answer was drawn; the charge "
                    f"to {reservation.dataset!r} stands. Release them with --dataset {shlex.quote(str(owner))}.",
                    abort=Abort.FINGERPRINT,
                )
            self._append("rows", reservation.dataset, {"reserve": receipt.entry, "fingerprint": fingerprint.hex()})

    def settle(
        self, receipt: Receipt, release_hash: str, *, signature: str | None = None, public_key: str | None = None
    ) -> None:
        """Record which published release a reservation paid for (the SHA-256 of its release.json), and its signature
        if it was signed."""
        if not re.fullmatch("[0-9a-f]{64}", release_hash):
            raise InputError(f"{release_hash!r} is not a SHA-256 in hexadecimal. Give the hash of release.json.")
        with self._transaction("IMMEDIATE"):
            reservation = self._reservation(receipt)
            if reservation.release == release_hash:
                return
            if reservation.release is not None:
                raise BudgetError(
                    "This reservation already paid for another release. Make one reservation for each release."
                )
            body = {"reserve": receipt.entry, "release": release_hash}
            signed = {} if signature is None else {"signature": signature, "public_key": public_key}
            self._append("settle", reservation.dataset, {**body, **signed})

    def grant(self, dataset: str, ceiling: Fraction, reason: str, *, delta: Fraction | None = None) -> None:
        """Set a dataset's ceiling, and that of its delta if one is given, and record the reason."""
        dataset = dataset_name(dataset)
        if not reason.strip():
            raise InputError("A new ceiling needs a reason, for those who read the ledger later. Pass --reason.")
        with self._transaction("IMMEDIATE"):
            account = self._chain.accounts.get(dataset)
            if account is None:
                known = ", ".join(map(repr, self._chain.accounts))
                advice = f"Available: {known}." if known else "It is empty: the first release opens an account."
                raise InputError(f"The ledger {self.path} has no dataset {dataset!r}. {advice}")
            if ceiling < account.spent:
                raise InputError(
                    f"The dataset {dataset!r} has already spent {budget_text(account.spent)}, and nothing is ever "
                    f"refunded. Grant a ceiling of {budget_text(account.spent)} or more, not {budget_text(ceiling)}."
                )
            if delta is not None and delta < account.spent_delta:
                spent = short_delta(account.spent_delta)
                raise InputError(
                    f"The dataset {dataset!r} has already spent a delta of {spent}, and nothing is ever refunded. "
                    f"Grant a delta of {spent} or more, not {short_delta(delta)}."
                )
            granted = {"ceiling": budget_text(ceiling), **_delta("ceiling_delta", delta or Fraction(0))}
            self._append("grant", dataset, {**granted, "reason": reason.strip()})

    def _reservation(self, receipt: Receipt) -> Reservation:
        reservation = self._chain.reservations.get(receipt.entry)
        if reservation is None:
            raise InputError(f"The ledger {self.path} has no such reservation. Use the ledger that issued the receipt.")
        return reservation

    def _no_room(self, dataset: str, account: Account, price: Cost, why: str) -> BudgetError:
        refusal, granted = no_room(dataset, account, price, why)
        elsewhere = "" if self.path == default_path() else f" --ledger {shlex.quote(str(self.path))}"
        return BudgetError(
            f"{refusal} Nothing was charged. If more may be spent on the same people, raise the ceiling:\n"
            f'scumble ledger grant {shlex.quote(dataset)} {granted} --reason "..."{elsewhere}'
        )


def _delta(name: str, delta: Fraction) -> dict[str, str]:
    """A field of an entry for a delta. Pure releases write none, as in ledgers of earlier versions."""
    return {name: budget_text(delta)} if delta else {}
