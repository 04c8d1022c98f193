"""A party's transcript of one attempt: a hash of every message it sent or received, and the opened values.

The lines form a hash chain. A transcript contains no message, so it can be shown to anyone who may see the release. The
hashes are salted with a value that only the sender and the receiver of the message know. Without the salt, a third
party that knows the masks of a message could find the counts in it by trying.

Two parties' transcripts of one attempt can be compared: what one sent, the other received, and both opened the same
values.
"""

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.errors import CheckError, InputError, MalformedEntry
from scumble.foreign.documents import parse_json
from scumble.foreign.files import LARGEST_LOG, read_text

FORMAT = "transcript/1"

Message = tuple[str, str, int]
"""The sender, the receiver, and the number of the message in this direction of their connection."""


class Transcript:
    """A transcript that is being written, a `MessageObserver`.

    The connections' thread adds messages and the main thread adds opened values, so writing takes a lock.
    """

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
        """Write the name of the attempt, which is the same for all its parties."""
        self._write(attempt=name)

    def opened(self, step: int, label: str, answer: bytes) -> None:
        self._write(opened=step, label=label, answer=answer.hex())

    def close(self, *, finished: bool) -> None:
        """Write the last line, which says whether the run finished, and close the file."""
        with self._lock:
            if self._file.closed:
                return
        self._write(end="finished" if finished else "broken off")
        with self._lock:
            self._file.close()

    def _write(self, **entry: Any) -> None:
        with self._lock:
            if self._file.closed:  # a message that arrived after the end
                return
            self._head = _chained(self._head, entry)
            self._file.write(json.dumps({**entry, "chain": self._head}, ensure_ascii=False) + "\n")


@dataclass(frozen=True, kw_only=True)
class TranscriptSummary:
    """The contents of a transcript whose chain has been verified."""

    party: str
    agreement: str
    attempt: str
    messages: Mapping[Message, tuple[int, str]]
    """Message -> its length and salted hash."""
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


def read_transcript(path: Path) -> TranscriptSummary:
    """Read a transcript; verify its hash chain and the numbers of its messages.

    The transcript of a killed run has no last line; it is read as far as it goes.
    """
    try:
        *lines, torn = read_text(path, most=LARGEST_LOG, follow_links=True).split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}. Give a transcript written by `scumble join run`.") from error
    entries = []
    head = ""
    for number, line in enumerate(lines, start=1):
        try:
            entry = parse_json(line, finite=False)
            stated = entry.pop("chain")
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise CheckError(
                f"{path}, line {number} is not valid JSON with a chain hash. Do not trust this transcript."
            ) from error
        head = _chained(head, entry)
        if stated != head:
            raise CheckError(
                f"{path}, line {number}: the chain hash does not match the lines before. Do not trust this transcript."
            )
        entries.append(entry)
    if not entries or entries[0].get("scumble") != FORMAT:
        raise InputError(
            f"{path} is not a transcript of format {FORMAT}. Give a transcript written by this version of scumble."
        )
    if torn and "end" in entries[-1]:
        raise CheckError(f"{path} continues after its last line. Do not trust this transcript.")
    try:
        return _summarize(entries, head)
    except (KeyError, TypeError, ValueError) as error:
        problem = error if isinstance(error, MalformedEntry) else f"an entry is missing or wrong ({error!r})"
        raise CheckError(f"{path} is not a whole transcript: {problem}. Do not trust it.") from error


def _summarize(entries: Sequence[Mapping[str, Any]], head: str) -> TranscriptSummary:
    start, *rest = entries
    messages: dict[Message, tuple[int, str]] = {}
    opened: dict[int, tuple[str, str]] = {}
    due: dict[tuple[str, str], int] = defaultdict(int)
    end, attempt = None, ""
    for entry in rest:
        if end is not None:
            raise MalformedEntry("the end", "is not the last entry")
        if "sent" in entry or "received" in entry:
            pair = (start["party"], entry["sent"]) if "sent" in entry else (entry["received"], start["party"])
            if entry["number"] != due[pair]:
                raise MalformedEntry(f"message {due[pair]} from {pair[0]} to {pair[1]}", "is missing")
            messages[*pair, due[pair]] = entry["length"], entry["sha256"]
            due[pair] += 1
        elif "attempt" in entry:
            attempt = str(entry["attempt"])
        elif "opened" in entry:
            opened[entry["opened"]] = entry["label"], entry["answer"]
        else:
            end = entry["end"]
    return TranscriptSummary(
        party=str(start["party"]),
        agreement=str(start["agreement"]),
        attempt=attempt,
        messages=messages,
        opened=opened,
        end=end,
        head=head,
    )


def compare_transcripts(one: TranscriptSummary, other: TranscriptSummary) -> int:
    """Compare two parties' transcripts of one attempt; return the number of messages that both contain."""
    if one.party == other.party:
        raise InputError(f"Both transcripts are from {one.party}. Give the transcripts of two parties.")
    if (one.agreement, one.attempt) != (other.agreement, other.attempt):
        raise InputError("The transcripts are not from the same attempt. Give two parties' transcripts of one attempt.")
    both = one.messages.keys() & other.messages.keys()
    for sender, receiver, number in sorted(both):
        if one.messages[sender, receiver, number] != other.messages[sender, receiver, number]:
            raise CheckError(
                f"{one.party} and {other.party} disagree on message {number} from {sender} to {receiver}. One of the "
                "transcripts is false."
            )
    whole = one.end == other.end == "finished"
    between = {one.party, other.party}
    single = [key for key in one.messages.keys() ^ other.messages.keys() if set(key[:2]) == between]
    if whole and single:
        sender, receiver, number = min(single)
        raise CheckError(
            f"Only one transcript contains message {number} from {sender} to {receiver}. One of the two is false."
        )
    for step in sorted(one.opened.keys() & other.opened.keys()):
        if one.opened[step] != other.opened[step]:
            raise CheckError(
                f"{one.party} and {other.party} opened different values at step {step}. One of the transcripts is "
                "false."
            )
    if whole and one.opened.keys() != other.opened.keys():
        raise CheckError(
            f"{one.party} and {other.party} opened different numbers of values. One of the transcripts is false."
        )
    return len(both)


def _salted(message: bytes, salt: bytes) -> str:
    digest = hashlib.sha256(salt)
    digest.update(message)
    return digest.hexdigest()


def _chained(head: str, entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([head, entry], sort_keys=True, separators=(",", ":")).encode()).hexdigest()
