"""What every dataset has spent, in one SQLite file to which entries are only ever added.

A charge is written before any row is read and never comes back: a run that crashed, was killed or was refused later
keeps it. Every write is one `BEGIN IMMEDIATE` transaction, so of two processes the second sees the first's charge, and
is on the disk before the call returns. The entries are chained by hash and replayed, with all arithmetic, whenever a
ledger is used (`scumble.privacy.ledger_entries` has the laws).

The chain notices edits, not an owner bent on forging: who can write the file can make another, as they can delete it.
Each published release carries its entry's hash, which a remade ledger would no longer hold.
"""

import re
import shlex
import sqlite3
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from json import loads
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scumble.errors import BudgetError, InputError
from scumble.model.budget import budget_text
from scumble.model.guarantee import Guarantee, Unit, charge, from_json, to_json
from scumble.privacy.ledger_entries import Account, Book, Entry, Reservation
from scumble.privacy.ledger_file import connect, default_path, explained

LONGEST_NAME = 200


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a release folder may carry of its charge: no dataset name. The amounts are those after the reservation."""

    entry: str
    charged: Fraction
    spent: Fraction
    ceiling: Fraction

    def to_json(self) -> dict[str, str]:
        """The receipt as it stands in release.json, amounts as exact text."""
        amounts = {"charged": self.charged, "spent": self.spent, "ceiling": self.ceiling}
        return {"entry": self.entry, **{name: budget_text(amount) for name, amount in amounts.items()}}


class Ledger:
    """An open ledger. Use it in a `with` statement, in one thread; any number of processes may have it open at once."""

    def __init__(self, *, path: Path, connection: sqlite3.Connection, key: bytes, busy_seconds: float) -> None:
        """For `open`, which knows that the connection leads to a ledger."""
        self.path = path
        self._connection = connection
        self._key = key
        self._busy_seconds = busy_seconds
        self._book = Book(key)

    @classmethod
    def open(cls, path: Path | None = None, *, busy_seconds: float = 10) -> Self:
        """Open the ledger at `path` (by default `default_path()`), making it, and its folders, where there is none."""
        path = default_path() if path is None else path
        connection, key = connect(path, busy_seconds)
        return cls(path=path, connection=connection, key=key, busy_seconds=busy_seconds)

    def close(self) -> None:
        """Let go of the file. A closed ledger cannot be used again."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def key(self) -> bytes:
        """The secret that `scumble.privacy.fingerprint` needs. It is to be written nowhere."""
        return self._key

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
        """Charge a guarantee to a dataset's account, for ever, or refuse and charge nothing.

        The first charge opens the account, under the schema's `unit`, with itself as the ceiling: to spend more than
        one release on the same people is a decision of its own, which `grant` records. What is charged is worked out
        from the guarantee as written down, so that `verify` arrives at the same amount. A joint release is charged
        under its `session`, once; `reserved` finds that charge again.
        """
        dataset = dataset_name(dataset)
        stated = to_json(guarantee)
        with self._transaction("IMMEDIATE"):
            if session is not None and self._book.session(session) is not None:
                raise BudgetError(
                    "This joint release was charged to this ledger before, but nothing is known of how far it came. "
                    "Give the folder of that run with --state, or make a new agreement. Nothing was charged now."
                )
            account = self._book.accounts.get(dataset)
            asked = charge(from_json(stated), account.unit if account else unit)
            if account is None:
                self._append("open", dataset, {"unit": unit.value, "ceiling": budget_text(asked)})
            elif account.spent + asked > account.ceiling:
                raise self._no_room(dataset, account, asked)
            body = {"method": method, "charged": budget_text(asked), "guarantee": stated, "spends": list(spends)}
            entry = self._append("reserve", dataset, body if session is None else {**body, "session": session})
            return self._receipt(entry.hash)

    def reserved(self, *, session: str, dataset: str | None = None) -> Receipt | None:
        """The receipt of a joint release that was charged before (to this dataset, where one is named), or None."""
        with self._transaction("DEFERRED"):
            entry = self._book.session(session)
            if entry is None:
                return None
            charged = self._book.reservations[entry].dataset
            if dataset is not None and charged != dataset_name(dataset):
                raise BudgetError(
                    f"This joint release was charged to the dataset {charged!r}, not to {dataset!r}. Go on with "
                    f"--dataset {shlex.quote(charged)}."
                )
            return self._receipt(entry)

    def record_rows(self, receipt: Receipt, fingerprint: bytes) -> None:
        """Write down which rows a reservation is spent on; refuse rows that stand under another dataset's name.

        To be called before any answer is drawn. One reservation pays for one table, once.
        """
        with self._transaction("IMMEDIATE"):
            reservation = self._reservation(receipt)
            if reservation.fingerprint == fingerprint.hex() and reservation.release is None:
                return
            if reservation.fingerprint is not None or reservation.release is not None:
                raise BudgetError(
                    f"This reservation of the dataset {reservation.dataset!r} has been spent on a table already. "
                    "Reserve again to read rows again."
                )
            owner = self._book.owner(fingerprint.hex())
            if owner not in (None, reservation.dataset):
                raise BudgetError(
                    f"These rows stand in the ledger as the dataset {owner!r}, not {reservation.dataset!r}: under two "
                    "names the same people would be charged to two accounts. No answer was drawn; the charge to "
                    f"{reservation.dataset!r} stands. Release them with --dataset {shlex.quote(str(owner))}."
                )
            self._append("rows", reservation.dataset, {"reserve": receipt.entry, "fingerprint": fingerprint.hex()})

    def settle(self, receipt: Receipt, release_hash: str) -> None:
        """Say which durable release a reservation paid for (the SHA-256 of its release.json). Nothing is refunded."""
        if not re.fullmatch("[0-9a-f]{64}", release_hash):
            raise InputError(f"{release_hash!r} is not a SHA-256 in hexadecimal. Give the hash of release.json.")
        with self._transaction("IMMEDIATE"):
            reservation = self._reservation(receipt)
            if reservation.release == release_hash:
                return
            if reservation.release is not None:
                raise BudgetError("This reservation has paid for another release already. Reserve for each release.")
            self._append("settle", reservation.dataset, {"reserve": receipt.entry, "release": release_hash})

    def grant(self, dataset: str, ceiling: Fraction, reason: str) -> None:
        """Set a dataset's ceiling, and write down why."""
        dataset = dataset_name(dataset)
        if not reason.strip():
            raise InputError("A new ceiling needs a reason, for those who read the ledger later. Give --reason.")
        with self._transaction("IMMEDIATE"):
            account = self._book.accounts.get(dataset)
            if account is None:
                known = ", ".join(map(repr, self._book.accounts))
                advice = f"It has {known}." if known else "It has none yet: the first release opens its account."
                raise InputError(f"The ledger {self.path} has no dataset {dataset!r}. {advice}")
            if ceiling < account.spent:
                raise InputError(
                    f"The dataset {dataset!r} has spent {budget_text(account.spent)} already, and nothing is ever "
                    f"refunded. Grant a ceiling of {budget_text(account.spent)} or more, not {budget_text(ceiling)}."
                )
            self._append("grant", dataset, {"ceiling": budget_text(ceiling), "reason": reason.strip()})

    def datasets(self) -> dict[str, Any]:
        """All accounts as plain data, budgets as exact text. Fingerprints are left out: they stay in the ledger."""
        with self._transaction("DEFERRED"):
            accounts = [
                {
                    "name": name,
                    "unit": account.unit.value,
                    "spent": budget_text(account.spent),
                    "ceiling": budget_text(account.ceiling),
                    "entries": [_shown(entry) for entry in account.entries],
                }
                for name, account in self._book.accounts.items()
            ]
        return {"datasets": accounts}

    def verify(self) -> int:
        """Replay the ledger from its first entry: chain, sequence, units and arithmetic. The number of entries."""
        self._book = Book(self._key)
        with self._transaction("DEFERRED"):
            return self._book.length

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        """A transaction that starts with the book up to date, and leaves either all it wrote or nothing."""
        committed = False
        with explained(self.path, self._busy_seconds):
            self._connection.execute(f"BEGIN {kind}")
            try:
                self._catch_up()
                yield
                self._connection.execute("COMMIT")
                committed = True
            finally:
                if not committed:
                    self._book = Book(self._key)
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _catch_up(self) -> None:
        """Replay what was added, by whomever, since this book was last up to date."""
        book = self._book
        rows = self._connection.execute("SELECT * FROM entries WHERE sequence > ? ORDER BY sequence", (book.length,))
        names = [column[0] for column in rows.description]
        for row in rows:
            book.add(Entry(**dict(zip(names, row, strict=True))))
        (present,) = self._connection.execute("SELECT count(*) FROM entries").fetchone()
        given = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone() or (0,)
        if (present, *given) != (book.length, book.length):
            raise book.broken(f"{present} entries are there, the last was numbered {given[0]}")

    def _append(self, kind: str, dataset: str, body: Mapping[str, Any]) -> Entry:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = self._book.write(time=now, kind=kind, dataset=dataset, body=body)
        self._connection.execute(
            "INSERT INTO entries VALUES (:sequence, :time, :kind, :dataset, :body, :previous, :hash)", vars(entry)
        )
        return entry

    def _receipt(self, entry: str) -> Receipt:
        reservation = self._book.reservations[entry]
        amounts = {"charged": reservation.charged, "spent": reservation.spent, "ceiling": reservation.ceiling}
        return Receipt(entry=entry, **amounts)

    def _reservation(self, receipt: Receipt) -> Reservation:
        reservation = self._book.reservations.get(receipt.entry)
        if reservation is None:
            raise InputError(f"The ledger {self.path} has no such reservation. Use the ledger that gave the receipt.")
        return reservation

    def _no_room(self, dataset: str, account: Account, asked: Fraction) -> BudgetError:
        enough = budget_text(account.spent + asked)
        elsewhere = "" if self.path == default_path() else f" --ledger {shlex.quote(str(self.path))}"
        return BudgetError(
            f"The dataset {dataset!r} has spent {budget_text(account.spent)} of its ceiling of "
            f"{budget_text(account.ceiling)}, and this release asks for {budget_text(asked)}. Nothing was charged. If "
            "more may be spent on the same people, raise the ceiling:\n"
            f'scumble ledger grant {shlex.quote(dataset)} {enough} --reason "..."{elsewhere}'
        )


def dataset_name(name: str) -> str:
    """The name an account is kept under: one spelling for what looks the same, and nothing that does not print."""
    name = unicodedata.normalize("NFC", name)
    if not name or name != name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise InputError(
            f"{name[:LONGEST_NAME]!r} cannot name a dataset. Give 1 to {LONGEST_NAME} printable characters, without a "
            "space at either end."
        )
    return name


def _shown(entry: Entry) -> dict[str, Any]:
    body = {name: value for name, value in loads(entry.body).items() if name != "fingerprint"}
    return {"sequence": entry.sequence, "time": entry.time, "kind": entry.kind, "hash": entry.hash, **body}
