"""What a party keeps of a joint run on its own disk, so that a run that broke goes on where it was.

    state.json       which run this is and how far it came
    keys.json        the session's keys, for this party's eyes only
    answers.jsonl    every opened answer, on the disk before it is used, each line chained to the one before
    transcript-N.jsonl

A step whose answer is recorded is never computed again. One whose answer is not is repeated to the very same messages,
for all its randomness follows from the keys. So no answer is ever drawn twice.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scumble.errors import InputError, ScumbleError

FORMAT = "joint-state/1"
STATE, KEYS, ANSWERS = "state.json", "keys.json", "answers.jsonl"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An opened answer."""

    step: int
    label: str
    answer: bytes

    def to_json(self) -> dict[str, Any]:
        return {"step": self.step, "label": self.label, "answer": self.answer.hex()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Recorded":
        return cls(step=int(data["step"]), label=str(data["label"]), answer=bytes.fromhex(data["answer"]))


def chained(head: str, recorded: Recorded) -> str:
    """The hash of a chain with one more answer."""
    text = json.dumps([head, recorded.to_json()], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Marks:
    """How far a run has come. Each mark is on the disk before what it allows is done."""

    charging: bool = False
    """The ledger was, or is just being, asked for the charge."""
    keys_id: str = ""
    """Which exchange of keys the stored ones come from."""
    begun: bool = False
    """Everybody has stored the same keys, so answers may be drawn from them."""
    version: str = ""
    """That of the software which draws from them: another one might put other values under the same masks."""
    complete: bool = False
    """All answers are recorded."""
    published: str = ""
    """The hash of the release that was about to be published."""
    abandoned: bool = False


class State:
    """An open, locked state folder of one party in one session; `recall` and `keep` are what the arithmetic needs."""

    def __init__(self, folder: Path, *, agreement: bytes, party: str) -> None:
        """For `opened`, which has the lock."""
        self.folder = folder
        self._identity = {"scumble": FORMAT, "agreement": agreement.hex(), "party": party}
        self._heads = [agreement.hex()]
        self._answers: list[Recorded] = []
        self.marks = Marks()
        self.found = (folder / STATE).exists()
        if self.found:
            self._read()
        else:
            self._write_state()

    def mark(self, **marks: Any) -> None:
        """Set marks, durably."""
        self.marks = Marks(**{**asdict(self.marks), **marks})
        self._write_state()

    def keep_keys(self, text: str, keys_id: str) -> None:
        """Store the session's keys. Stored ones that were never used are replaced."""
        if self.marks.begun:
            raise ScumbleError("Keys that answers were drawn from are not replaced. This is a bug; please report it.")
        _write_whole(self.folder / KEYS, text.encode())
        self.mark(keys_id=keys_id)

    def keys(self) -> str:
        try:
            return (self.folder / KEYS).read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"The session's keys in {self.folder} cannot be read: {error.strerror}. Without them the run cannot go "
                "on; close it with --abandon."
            ) from error

    def forget_keys(self) -> None:
        (self.folder / KEYS).unlink(missing_ok=True)

    @property
    def answers(self) -> Sequence[Recorded]:
        return tuple(self._answers)

    @property
    def head(self) -> str:
        """The hash of the chain of all answers."""
        return self._heads[-1]

    def recall(self, step: int) -> bytes | None:
        """The recorded answer of a step."""
        return self._answers[step].answer if step < len(self._answers) else None

    def keep(self, step: int, label: str, answer: bytes) -> None:
        """Record an opened answer. It is on the disk when this returns; if the disk is full, nothing of it is."""
        if step != len(self._answers):
            raise ScumbleError(f"Answer {step} was opened after {len(self._answers)} others. This is a bug.")
        recorded = Recorded(step=step, label=label, answer=answer)
        head = chained(self.head, recorded)
        line = json.dumps({**recorded.to_json(), "chain": head}, ensure_ascii=False).encode() + b"\n"
        _append(self.folder / ANSWERS, line)
        self._answers.append(recorded)
        self._heads.append(head)

    def next_transcript(self) -> Path:
        """A file name for the transcript of one more attempt."""
        taken = len(list(self.folder.glob("transcript-*.jsonl")))
        return self.folder / f"transcript-{taken + 1}.jsonl"

    def _write_state(self) -> None:
        text = json.dumps({**self._identity, **asdict(self.marks)}, indent=2) + "\n"
        _write_whole(self.folder / STATE, text.encode())

    def _read(self) -> None:
        try:
            data = json.loads((self.folder / STATE).read_text(encoding="utf-8"))
            identity = {name: data.pop(name) for name in self._identity}
            self.marks = Marks(**data)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{self.folder / STATE} cannot be read: {error!r}. Restore it, or give --state."
            ) from error
        if identity != self._identity:
            if self.marks == Marks():  # nothing was begun: the folder can serve another run
                self._write_state()
                return
            raise InputError(
                f"{self.folder} belongs to another agreement or party. Give the folder of this run with --state, or "
                "another --out."
            )
        self._read_answers()

    def _read_answers(self) -> None:
        path = self.folder / ANSWERS
        content = path.read_bytes() if path.exists() else b""
        *lines, torn = content.split(b"\n")
        for line in lines:
            try:
                data = json.loads(line)
                recorded, head = Recorded.from_json(data), data["chain"]
            except (ValueError, TypeError, KeyError) as error:
                raise self._damaged() from error
            if recorded.step != len(self._answers) or head != chained(self.head, recorded):
                raise self._damaged()
            self._answers.append(recorded)
            self._heads.append(head)
        if torn:  # the run was killed while it wrote: the answer was not used, and others may have it
            with path.open("r+b") as file:
                file.truncate(len(content) - len(torn))

    def _damaged(self) -> InputError:
        return InputError(
            f"{self.folder / ANSWERS} was changed: line {len(self._answers) + 1} does not follow from those before. "
            "Restore it from a backup, or close the run with --abandon."
        )


@contextmanager
def opened(folder: Path, *, agreement: bytes, party: str) -> Iterator[State]:
    """A party's state folder, made where there is none, and no other run's meanwhile."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ScumbleError(f"No folder {folder} can be made: {error.strerror}. Give another --state.") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another run is at work in {folder}. Wait for its end.") from None
        yield State(folder, agreement=agreement, party=party)
    finally:
        os.close(descriptor)


def answers_so_far(folder: Path) -> int:
    """How many answers a run has recorded, for those who watch it from outside."""
    try:
        return (folder / ANSWERS).read_bytes().count(b"\n")
    except OSError:
        return 0


def _append(path: Path, line: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        length = os.fstat(descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(descriptor, line[written:])
            os.fsync(descriptor)
            if length == 0:  # the file itself may be new
                _sync_folder(path.parent)
        except OSError:
            os.ftruncate(descriptor, length)
            raise
    finally:
        os.close(descriptor)


def _write_whole(path: Path, content: bytes) -> None:
    """Replace a file by another that is whole, whenever the machine stops."""
    beside = path.with_name(path.name + ".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.rename(path)
    _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
