"""A ledger as an open file: compared with the witness when it is opened, then read and written in transactions.

`scumble.privacy.ledger.Ledger` adds what may be written.
"""

import hashlib
import hmac
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scumble.errors import PossiblyRecorded, ScumbleError
from scumble.privacy.ledger_account import Reservation
from scumble.privacy.ledger_entries import Entry, EntryChain
from scumble.privacy.ledger_file import Origin, append, append_event, connect, explained, is_missing, replay
from scumble.privacy.ledger_opening import Opening, checked_reason, declaration
from scumble.privacy.ledger_place import default_path, default_witness
from scumble.privacy.ledger_statement import LedgerStatement, StatedAccount, StatedEntry
from scumble.privacy.ledger_witness import Seen, Witness


class OpenLedger:
    """A ledger that was opened and agrees with the witness. `scumble.privacy.ledger.Ledger` writes to it."""

    notices: tuple[str, ...] = ()
    """What the owner should know: the ledger or its witness is new, or it was declared to replace another."""
    compared: bool = True
    """Whether the witness had seen the ledger before, so that a loss would have been found; true of a new ledger."""

    def __init__(
        self, *, path: Path, connection: sqlite3.Connection, key: bytes, busy_seconds: float, witness: Witness
    ) -> None:
        """Called by `open`, which has checked that the connection is to a ledger."""
        self.path = path
        self._connection = connection
        self._key = key
        self._busy_seconds = busy_seconds
        self._witness = witness
        self._chain = EntryChain(key)

    @classmethod
    def open(
        cls,
        path: Path | None = None,
        *,
        busy_seconds: float = 10,
        witness: Path | None = None,
        new_ledger: str | None = None,
        reading: bool = False,
    ) -> Self:
        """Open the ledger at `path` (default: `default_path()`); create it and its folders if they do not exist.

        Raises `CheckError` if the ledger lacks what the `witness` (default: `default_witness()`) saw of it. The reason
        `new_ledger` declares that it is lost, and is recorded. With `reading`, the ledger is opened all the same, and
        `notices` states what it lacks.
        """
        path = default_path() if path is None else path
        reason = checked_reason(new_ledger)
        with ExitStack() as stack:
            seen = Witness(default_witness() if witness is None else witness, busy_seconds=busy_seconds)
            stack.callback(seen.close)
            # The witness is read before the ledger: in between, others can only add to the ledger.
            at_path = seen.at(path)
            opening = Opening(
                path=path,
                witness=seen.path,
                at_path=at_path,
                reason=reason,
                missing=is_missing(path),
                new_witness=seen.is_new,
            )
            opening.check_missing()
            is_used = lambda identity: seen.of(identity) is not None  # noqa: E731
            connection, key = connect(path, busy_seconds, Origin(stated=opening.origin, is_used=is_used))
            stack.callback(connection.close)
            opened = cls(path=path, connection=connection, key=key, busy_seconds=busy_seconds, witness=seen)
            opened._compare(opening, reading=reading)
            stack.pop_all()
        return opened

    def _compare(self, opening: Opening, *, reading: bool) -> None:
        """Compare the ledger with what the witness saw, and let the witness record what it contains now."""
        known = self._witness.of(self._chain.identity)
        with self._transaction("DEFERRED"):
            lost = opening.lost(self._chain, known)
        if opening.reason is not None and not opening.missing:
            if not lost:
                raise opening.unneeded()
            with self._transaction("IMMEDIATE", instead_of=known):
                append_event(self._connection, self._chain, "accepted", declaration(opening.reason, lost))
            lost = []
        if lost and not reading:
            raise opening.refusal(self._chain, lost)
        self.notices = tuple(opening.notices(self._chain, lost, known))
        self.compared = not opening.unseen(self._chain, known)
        at_path, head = opening.at_path, self._chain.head
        current = known is not None and known.head == head and at_path is not None and at_path.head == head
        if not lost and not current:
            self._witness.record(self.path, head, instead_of=known)

    def close(self) -> None:
        """Close the file. A closed ledger cannot be used again."""
        self._connection.close()
        self._witness.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def witness(self) -> Path:
        """The file of the witness."""
        return self._witness.path

    @property
    def key(self) -> bytes:
        """The secret key of `scumble.privacy.fingerprint`. Never write it anywhere else."""
        return self._key

    @property
    def contribution_key(self) -> bytes:
        """The key that decides which rows of a person are used, the same in every release of this ledger.

        It does not depend on the dataset's name: otherwise the same rows under two names would keep different rows, and
        their fingerprints would differ.
        """
        return hmac.new(self._key, b"scumble rows of persons/1", hashlib.sha256).digest()

    def datasets(self) -> dict[str, Any]:
        """All accounts as plain data, budgets as exact text, without the fingerprints, which never leave the ledger."""
        return {"datasets": self.statement().to_json()["datasets"]}

    def statement(self) -> LedgerStatement:
        """What every dataset has spent, its ceiling and its entries, as a value that displays itself."""
        with self._transaction("DEFERRED"):
            accounts = tuple(StatedAccount.of(name, account) for name, account in self._chain.accounts.items())
            events = tuple(StatedEntry.of(entry) for entry in self._chain.events)
        return LedgerStatement(path=self.path, accounts=accounts, events=events)

    def charge_of(self, entry: str) -> Reservation | None:
        """The charge that the entry with this hash records, if there is one."""
        with self._transaction("DEFERRED"):
            return self._chain.reservations.get(entry)

    def owner_of(self, fingerprint: bytes) -> str | None:
        """The dataset that these rows are charged to, if there is one."""
        with self._transaction("DEFERRED"):
            return self._chain.owner(fingerprint.hex())

    def verify(self) -> int:
        """Replay the ledger from its first entry, checking chain, sequence, units and arithmetic; return the number of
        entries."""
        self._chain = EntryChain(self._key)
        with self._transaction("DEFERRED"):
            return self._chain.length

    @contextmanager
    def _transaction(self, kind: str, *, instead_of: Seen | None = None) -> Iterator[None]:
        """A transaction that starts with the chain up to date, and writes everything or nothing.

        The witness records what was written before anybody can act on it, in place of a lost state if one is given.
        """
        committed = wrote = False
        try:
            with explained(self.path, self._busy_seconds):
                self._connection.execute(f"BEGIN {kind}")
                try:
                    replay(self._connection, self._chain)
                    before = self._chain.length
                    yield
                    wrote = self._chain.length > before
                    self._connection.execute("COMMIT")
                    committed = True
                finally:
                    if not committed:
                        self._chain = EntryChain(self._key)
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
            if wrote:
                self._witness.record(self.path, self._chain.head, instead_of=instead_of)
        except ScumbleError as error:
            if not wrote:
                raise
            # A commit that failed may still be found in the write-ahead log by whoever opens the ledger next.
            raise PossiblyRecorded(f"{error} The entry may have been recorded: see `scumble ledger show`.") from error

    def _append(self, kind: str, dataset: str, body: Mapping[str, Any]) -> Entry:
        return append(self._connection, self._chain, kind, dataset, body)


def refuse_missing(path: Path, witness: Path) -> None:
    """Raise `CheckError` if there is no ledger at `path` and the witness saw one there. Creates no file."""
    if witness.exists():
        with Witness(witness) as seen:
            at_path = seen.at(path)
        Opening(path=path, witness=witness, at_path=at_path, reason=None, missing=is_missing(path)).check_missing()
