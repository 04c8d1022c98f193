"""What the witness says about a ledger that is opened: nothing is wrong, or which state of it was lost.

`scumble.privacy.ledger_witness` has the rules and why a kill at any moment is harmless.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from json import loads
from pathlib import Path
from typing import Any

from scumble.errors import CheckError, InputError
from scumble.privacy.ledger_entries import EntryChain
from scumble.privacy.ledger_key import find_key_file
from scumble.privacy.ledger_witness import Seen


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What the witness knew before a ledger was opened, and what the owner declares."""

    path: Path
    witness: Path
    at_path: Seen | None
    """The ledger that was last opened at this path."""
    reason: str | None
    """Why a lost state is given up, if the owner declares it."""
    missing: bool
    """Whether there was no ledger at the path."""
    new_witness: bool = False
    """Whether there was no witness."""

    def check_missing(self) -> None:
        """Refuse to create a ledger in place of one that was deleted, unless the owner declared it."""
        if self.missing and self.at_path is not None and self.reason is None:
            raise self._refusal([self._absence(self.at_path)])

    @property
    def origin(self) -> dict[str, Any]:
        """What the first entry of a new ledger records."""
        return {} if self.reason is None else declaration(self.reason, [] if self.at_path is None else [self.at_path])

    def lost(self, chain: EntryChain, known: Seen | None) -> list[Seen]:
        """The states that the witness knows and that the ledger neither contains nor declares to be lost."""
        found = []
        if known is not None and chain.hash_at(known.head.sequence) != known.head.hash:
            found.append(known)
        if self.at_path is not None and self.at_path.head.identity != chain.identity:
            found.append(self.at_path)
        return [seen for seen in found if seen.head not in chain.declared]

    def refusal(self, chain: EntryChain, lost: Sequence[Seen]) -> CheckError:
        """The error for a ledger that lacks states which the witness knows."""
        return self._refusal([self._difference(chain, seen) for seen in lost])

    def unneeded(self) -> InputError:
        """The error for a declaration where nothing is lost."""
        return InputError(
            f"The ledger {self.path} contains all that the witness {self.witness} saw of it. Leave out --new-ledger."
        )

    def unseen(self, chain: EntryChain, known: Seen | None) -> bool:
        """Whether the ledger has charges and the witness saw nothing of it, so that no comparison was possible."""
        return known is None and self.at_path is None and not self.missing and bool(chain.accounts)

    def notices(self, chain: EntryChain, lost: Sequence[Seen], known: Seen | None) -> Iterator[str]:
        """What the owner should know about this ledger. `known` is what the witness knew of it."""
        for seen in lost:
            yield self._difference(chain, seen)
        key = find_key_file(self.path, chain.identity)
        backup = f"Its key is in {key}. Back up both files, in different places."
        if not chain.accounts:
            yield (
                f"The ledger {self.path} is new: nothing was ever charged to it. If you expected earlier charges, name "
                f"their ledger with --ledger or SCUMBLE_LEDGER. {backup}"
            )
        elif chain.events and chain.events[-1].sequence == chain.length:
            event = loads(chain.events[-1].body)["event"]
            happened = "was converted" if event == "converted" else "was accepted as it is, with your reason"
            yield f"The ledger {self.path} {happened}. {backup}"
        if self.unseen(chain, known):
            yield (
                f"The witness {self.witness} {'is new' if self.new_witness else 'does not know this ledger'}: it saw "
                f"nothing of the ledger {self.path} before, so it cannot show whether entries were lost. If you "
                "expected otherwise, name the witness that saw it with --witness or SCUMBLE_WITNESS."
            )

    def _absence(self, seen: Seen) -> str:
        moved = "" if _same(seen.path, self.path) else f" It was last opened at {seen.path}: name that file."
        return (
            f"The ledger {self.path} is missing, but the witness {self.witness} saw {seen.head.sequence} entries of it "
            f"on {seen.time}. A new one would forget what was spent.{moved}"
        )

    def _difference(self, chain: EntryChain, seen: Seen) -> str:
        saw = f"the witness {self.witness} saw"
        if seen.head.identity != chain.identity:
            return f"The ledger {self.path} is not the one that {saw} there on {seen.time}: it was replaced by another."
        if seen.head.sequence > chain.length:
            return (
                f"The ledger {self.path} has {chain.length} entries, but {saw} {seen.head.sequence} on {seen.time}. It "
                "is an older copy, or its last entries or its log (-wal) were lost."
            )
        return (
            f"Entry {seen.head.sequence} of the ledger {self.path} is another one than {saw} on {seen.time}. The file "
            "was restored from an older copy and used again, or a copy of it was used elsewhere."
        )

    def _refusal(self, problems: Sequence[str]) -> CheckError:
        return CheckError(
            f"{' '.join(problems)} Nothing was charged. Restore the ledger that the witness saw. If it is lost, say "
            "what happened; this is recorded permanently:\n"
            f'scumble ledger verify --new-ledger --reason "..." --ledger {shlex.quote(str(self.path))}'
        )


def declaration(reason: str, lost: Sequence[Seen]) -> dict[str, Any]:
    """The part of an entry that declares states of a ledger to be lost."""
    return {"reason": reason, "lost": [asdict(seen.head) for seen in lost]}


def checked_reason(reason: str | None) -> str | None:
    """A declared reason without surrounding spaces. Raises `InputError` if it is empty."""
    if reason is not None and not reason.strip():
        raise InputError("--new-ledger needs a reason, for those who read the ledger later. Pass --reason.")
    return None if reason is None else reason.strip()


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
