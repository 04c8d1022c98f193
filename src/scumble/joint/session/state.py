"""The state folder: what a party stores of a joint run, so that an interrupted run can be resumed.

    state.json           which run this is, and how far it has come
    keys.json            the session keys (secret)
    answers.jsonl        every opened answer, on disk before it is used; each line contains the hash of the chain so far
    transcript-N.jsonl   the transcript of attempt N

A step whose answer is stored is never computed again. A step whose answer is not stored is repeated with the same
random bits, because all of them are derived from the keys. So the noise of an answer is never drawn twice.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scumble.errors import InputError, ScumbleError
from scumble.foreign.documents import parse_json, read_json
from scumble.foreign.files import LARGEST_LOG, read_bytes, read_text
from scumble.portable import BINARY, exclusive, flush

FORMAT = "joint-state/1"
STATE, KEYS, ANSWERS = "state.json", "keys.json", "answers.jsonl"


@dataclass(frozen=True, kw_only=True)
class RecordedAnswer:
    """An opened answer: the step that computed it, the spend it was charged to, and its bytes."""

    step: int
    label: str
    answer: bytes

    def to_json(self) -> dict[str, Any]:
        return {"step": self.step, "label": self.label, "answer": self.answer.hex()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RecordedAnswer":
        return cls(step=int(data["step"]), label=str(data["label"]), answer=bytes.fromhex(data["answer"]))


def chained(head: str, recorded: RecordedAnswer) -> str:
    """The hash of the chain after one more answer."""
    text = json.dumps([head, recorded.to_json()], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Marks:
    """How far a run has come. A mark is on disk before the action that it announces or permits."""

    charging: bool = False
    """The ledger has been charged, or is about to be."""
    ledger: str = ""
    """The path of the ledger that is charged."""
    keys_id: str = ""
    """Identifies the key exchange that the stored keys come from."""
    begun: bool = False
    """All parties have stored the same keys, so they may be used."""
    version: str = ""
    """The version of scumble that uses the keys. Another version might apply the same masks to other values."""
    sources: str = ""
    """The hash of the sources of that version; see `source_hash`."""
    complete: bool = False
    """All answers are stored."""
    published: str = ""
    """The hash of the release's manifest, written just before the release is published."""
    abandoned: bool = False


class State:
    """The open, locked state folder of one party in one session. Its `recall` and `keep` implement `AnswerLog`."""

    def __init__(self, folder: Path, *, agreement: bytes, party: str) -> None:
        """Called by `open_state`, which holds the lock."""
        self.folder = folder
        self._identity = {"scumble": FORMAT, "agreement": agreement.hex(), "party": party}
        self._heads = [agreement.hex()]
        self._answers: list[RecordedAnswer] = []
        self.marks = Marks()
        self.found = (folder / STATE).exists()
        if self.found:
            self._read()
        else:
            self._write_state()

    def mark(self, **marks: Any) -> None:
        """Set marks and write them to disk."""
        self.marks = Marks(**{**asdict(self.marks), **marks})
        self._write_state()

    def keep_keys(self, text: str, keys_id: str) -> None:
        """Store the session keys. Stored keys are replaced only if they were never used."""
        if self.marks.begun:
            raise ScumbleError("Session keys that are in use must not be replaced. This is a bug; please report it.")
        _write_whole(self.folder / KEYS, text.encode())
        self.mark(keys_id=keys_id)

    def keys(self) -> str:
        try:
            return read_text(self.folder / KEYS)
        except OSError as error:
            raise InputError(
                f"The session keys in {self.folder} cannot be read: {error.strerror}. Restore {KEYS} from a backup, or "
                "close the run with --abandon."
            ) from error

    def forget_keys(self) -> None:
        (self.folder / KEYS).unlink(missing_ok=True)

    @property
    def answers(self) -> Sequence[RecordedAnswer]:
        return tuple(self._answers)

    @property
    def head(self) -> str:
        """The hash of the chain of all stored answers."""
        return self._heads[-1]

    def recall(self, step: int) -> bytes | None:
        """The stored answer of a step, or None."""
        return self._answers[step].answer if step < len(self._answers) else None

    def keep(self, step: int, label: str, answer: bytes) -> None:
        """Store an opened answer. It is on disk when this returns; if writing fails, the file is left unchanged."""
        if step != len(self._answers):
            raise ScumbleError(
                f"Answer {step} was opened when {len(self._answers)} answers were stored. This is a bug; please "
                "report it."
            )
        recorded = RecordedAnswer(step=step, label=label, answer=answer)
        head = chained(self.head, recorded)
        line = json.dumps({**recorded.to_json(), "chain": head}, ensure_ascii=False).encode() + b"\n"
        _append(self.folder / ANSWERS, line)
        self._answers.append(recorded)
        self._heads.append(head)

    def next_transcript(self) -> Path:
        """The path of the transcript of the next attempt."""
        taken = len(list(self.folder.glob("transcript-*.jsonl")))
        return self.folder / f"transcript-{taken + 1}.jsonl"

    def _write_state(self) -> None:
        text = json.dumps({**self._identity, **asdict(self.marks)}, indent=2) + "\n"
        _write_whole(self.folder / STATE, text.encode())

    def _read(self) -> None:
        try:
            data = read_json(self.folder / STATE)
            identity = {name: data.pop(name) for name in self._identity}
            self.marks = Marks(**data)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{self.folder / STATE} cannot be read: {error!r}. Restore it from a backup, or give another --state."
            ) from error
        if identity != self._identity:
            if self.marks == Marks():  # no run has started in this folder: use it for this one
                self._write_state()
                return
            raise InputError(
                f"{self.folder} belongs to another agreement or party. Give the state folder of this run with --state, "
                "or another --out."
            )
        self._read_answers()

    def _read_answers(self) -> None:
        path = self.folder / ANSWERS
        content = read_bytes(path, most=LARGEST_LOG) if path.exists() else b""
        *lines, torn = content.split(b"\n")
        for line in lines:
            try:
                data = parse_json(line)
                recorded, head = RecordedAnswer.from_json(data), data["chain"]
            except (ValueError, TypeError, KeyError) as error:
                raise self._damaged() from error
            if recorded.step != len(self._answers) or head != chained(self.head, recorded):
                raise self._damaged()
            self._answers.append(recorded)
            self._heads.append(head)
        if torn:  # the run was killed while writing: the answer was not used, and other parties may have it
            with path.open("r+b") as file:
                file.truncate(len(content) - len(torn))

    def _damaged(self) -> InputError:
        return InputError(
            f"{self.folder / ANSWERS} was changed: the hash in line {len(self._answers) + 1} does not match. Restore "
            "the file from a backup, or close the run with --abandon."
        )


@contextmanager
def open_state(folder: Path, *, agreement: bytes, party: str) -> Iterator[State]:
    """Open a party's state folder, created if necessary, with an exclusive lock."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ScumbleError(
            f"The state folder {folder} cannot be created: {error.strerror}. Give another --state."
        ) from error
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive(folder))
        except BlockingIOError:
            raise InputError(f"Another process is using the state folder {folder}. Wait until it has ended.") from None
        except OSError as error:
            raise ScumbleError(
                f"The state folder {folder} cannot be opened: {error.strerror}. Give another --state."
            ) from error
        yield State(folder, agreement=agreement, party=party)


def answers_so_far(folder: Path) -> int:
    """The number of answers stored in a state folder, read without the lock."""
    try:
        return read_bytes(folder / ANSWERS, most=LARGEST_LOG).count(b"\n")
    except OSError:
        return 0


def _append(path: Path, line: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, 0o600)
    try:
        length = os.fstat(descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(descriptor, line[written:])
            os.fsync(descriptor)
            if length == 0:  # the file may be new: flush its directory entry
                flush(path.parent)
        except OSError:
            os.ftruncate(descriptor, length)
            raise
    finally:
        os.close(descriptor)


def _write_whole(path: Path, content: bytes) -> None:
    """Replace a file atomically: after a crash it has its old or its new content."""
    beside = path.with_name(path.name + ".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    flush(path.parent)
