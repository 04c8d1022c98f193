"""A party's transcript: hashes of all messages it sent and received, and the opened values, in one chain.

It holds no message, so it can be shown to anybody who may see the release. Hashes are salted with what a message's two
parties alone know: a third one can work out the masks of some messages, and from a plain hash it could then find out
the counts beneath by trying. Two parties' transcripts of one attempt fit
together: what one sent, the other received, and both opened the same values.
"""

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.errors import CheckError, InputError

FORMAT = "transcript/1"

Message = tuple[str, str, int]
"""Who sent, who received, and the number of the message between the two."""


class Transcript:
    """A transcript being written. Messages are seen by the connections' thread, opened values by the other."""

    def __init__(self, path: Path, *, party: str, names: Sequence[str], agreement: bytes) -> None:
        self._file = path.open("x", encoding="utf-8")
        self._names = names
        self._head = ""
        self._lock = threading.Lock()
        self._write(scumble=FORMAT, party=party, agreement=agreement.hex())

    def sent(self, peer: int, number: int, message: bytes, salt: bytes) -> None:
        self._write(sent=self._names[peer], number=number, length=len(message), sha256=_salted(message, salt))

    def received(self, peer: int, number: int, message: bytes, salt: bytes) -> None:
        self._write(received=self._names[peer], number=number, length=len(message), sha256=_salted(message, salt))

    def attempt(self, name: str) -> None:
        """Write down what all parties of this attempt call it, and those of no other."""
        self._write(attempt=name)

    def opened(self, step: int, label: str, answer: bytes) -> None:
        self._write(opened=step, label=label, answer=answer.hex())

    def close(self, *, finished: bool) -> None:
        """End the transcript, saying whether the run came to its end."""
        with self._lock:
            if self._file.closed:
                return
        self._write(end="finished" if finished else "broken off")
        with self._lock:
            self._file.close()

    def _write(self, **entry: Any) -> None:
        with self._lock:
            if self._file.closed:  # a message that came after the end
                return
            self._head = _chained(self._head, entry)
            self._file.write(json.dumps({**entry, "chain": self._head}, ensure_ascii=False) + "\n")


@dataclass(frozen=True, kw_only=True)
class Account:
    """What a transcript says, once its chain was found whole."""

    party: str
    agreement: str
    attempt: str
    messages: Mapping[Message, tuple[int, str]]
    """Length and hash of every message."""
    opened: Mapping[int, tuple[str, str]]
    end: str | None
    head: str

    @property
    def bytes_sent(self) -> int:
        return sum(length for (sender, _, _), (length, _) in self.messages.items() if sender == self.party)

    @property
    def bytes_received(self) -> int:
        return sum(length for (_, receiver, _), (length, _) in self.messages.items() if receiver == self.party)

    def to_json(self) -> dict[str, Any]:
        return {
            "party": self.party,
            "messages": len(self.messages),
            "bytes_sent": self.bytes_sent,
            "bytes_received": self.bytes_received,
            "opened": len(self.opened),
            "end": self.end,
            "head": self.head,
        }


def read_transcript(path: Path) -> Account:
    """Check a transcript's chain and the order of its messages. A killed run's transcript ends where it ends."""
    try:
        *lines, torn = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}. Give a transcript that `scumble join run` wrote.") from error
    entries = []
    head = ""
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            stated = entry.pop("chain")
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise CheckError(f"{path}, line {number} does not read. Do not trust this transcript.") from error
        head = _chained(head, entry)
        if stated != head:
            raise CheckError(f"{path}, line {number} does not follow from those before. Do not trust this transcript.")
        entries.append(entry)
    if not entries or entries[0].get("scumble") != FORMAT:
        raise InputError(f"{path} is no transcript of the format {FORMAT}. Was it written by another version?")
    if torn and "end" in entries[-1]:
        raise CheckError(f"{path} goes on after its end. Do not trust this transcript.")
    try:
        return _account(entries, head)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckError(f"{path} misses or misstates {error}. Do not trust this transcript.") from error


def _account(entries: Sequence[Mapping[str, Any]], head: str) -> Account:
    start, *rest = entries
    messages: dict[Message, tuple[int, str]] = {}
    opened: dict[int, tuple[str, str]] = {}
    due: dict[tuple[str, str], int] = defaultdict(int)
    end, attempt = None, ""
    for entry in rest:
        if end is not None:
            raise ValueError("its end: entries follow it")
        if "sent" in entry or "received" in entry:
            pair = (start["party"], entry["sent"]) if "sent" in entry else (entry["received"], start["party"])
            if entry["number"] != due[pair]:
                raise ValueError(f"message {due[pair]} from {pair[0]} to {pair[1]}")
            messages[*pair, due[pair]] = entry["length"], entry["sha256"]
            due[pair] += 1
        elif "attempt" in entry:
            attempt = str(entry["attempt"])
        elif "opened" in entry:
            opened[entry["opened"]] = entry["label"], entry["answer"]
        else:
            end = entry["end"]
    return Account(
        party=str(start["party"]),
        agreement=str(start["agreement"]),
        attempt=attempt,
        messages=messages,
        opened=opened,
        end=end,
        head=head,
    )


def compare(one: Account, other: Account) -> int:
    """Hold two parties' transcripts of one attempt against each other; how many messages both have."""
    if one.party == other.party:
        raise InputError(f"Both transcripts are those of {one.party}. Give those of two parties.")
    if (one.agreement, one.attempt) != (other.agreement, other.attempt):
        raise InputError("The transcripts are not of the same attempt of one agreement. Give two that belong together.")
    both = one.messages.keys() & other.messages.keys()
    for sender, receiver, number in sorted(both):
        if one.messages[sender, receiver, number] != other.messages[sender, receiver, number]:
            raise CheckError(
                f"{one.party} and {other.party} do not agree on message {number} from {sender} to {receiver}. One of "
                "the transcripts is false."
            )
    whole = one.end == other.end == "finished"
    between = {one.party, other.party}
    single = [key for key in one.messages.keys() ^ other.messages.keys() if set(key[:2]) == between]
    if whole and single:
        sender, receiver, number = min(single)
        raise CheckError(f"Only one of the two has message {number} from {sender} to {receiver}. One is false.")
    for step in sorted(one.opened.keys() & other.opened.keys()):
        if one.opened[step] != other.opened[step]:
            raise CheckError(f"{one.party} and {other.party} opened different values at step {step}.")
    if whole and one.opened.keys() != other.opened.keys():
        raise CheckError(f"{one.party} and {other.party} did not open the same number of values.")
    return len(both)


def _salted(message: bytes, salt: bytes) -> str:
    digest = hashlib.sha256(salt)
    digest.update(message)
    return digest.hexdigest()


def _chained(head: str, entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([head, entry], sort_keys=True, separators=(",", ":")).encode()).hexdigest()
