"""Frames: what goes over a connection, and what is refused of what comes.

    magic | kind | sender | session | number | length | payload

Every frame has its number: the first is 0, each later one higher by one, so none is replayed, dropped or reordered
unnoticed. A payload is bytes of a length that the receiver knew before; it is never unpickled, and read as a number
array or as text by code that can refuse it.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from scumble.errors import ScumbleError

MAGIC = b"SCJ1"
LAYOUT = struct.Struct(">4sBH16sQQ")
LONGEST_GREETING = 1 << 20
LONGEST_FAREWELL = 64
SALT_BYTES = 32


class Kind(IntEnum):
    """What a frame is for."""

    GREETING = 1
    DATA = 2
    BEAT = 3
    FAREWELL = 4


class Ending(IntEnum):
    """Why a party leaves, as a farewell says it. There is no free text in it: nothing private can slip in."""

    DONE = 0
    FAILED = 1
    """The sender itself cannot go on."""
    LOST = 2
    """A third party's connection broke, or it gave no sign of life."""
    STALLED = 3
    """A third party is alive but kept the sender waiting for too long."""
    REFUSED = 4
    """A third party sent what the protocol does not allow."""
    DIFFERS = 5
    """A third party has another agreement, or another certificate than the agreement has."""
    ABSENT = 6
    """A third party did not come."""


class FrameError(ScumbleError):
    """A peer sent what no peer may send."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """The fixed beginning of a frame."""

    kind: Kind
    sender: int
    session: bytes
    number: int
    length: int

    def pack(self) -> bytes:
        return LAYOUT.pack(MAGIC, self.kind, self.sender, self.session, self.number, self.length)


def unpack(data: bytes, *, sender: int, session: bytes, number: int) -> Header:
    """Read a header that must come from this sender, in this session, with this number."""
    magic, kind, told_sender, told_session, told_number, length = LAYOUT.unpack(data)
    if magic != MAGIC:
        raise FrameError("sent something that is no frame of this version")
    if kind not in set(Kind):
        raise FrameError("sent a frame of an unknown kind")
    if told_session != session and kind != Kind.GREETING:  # greetings find out together what differs
        raise FrameError("speaks of another session")
    if told_sender != sender:
        raise FrameError(f"calls itself number {told_sender}, and its certificate is that of number {sender}")
    if told_number != number:
        raise FrameError(f"sent frame {told_number} where frame {number} was due")
    return Header(kind=Kind(kind), sender=sender, session=session, number=number, length=length)


def check_length(header: Header, *, due: int | None) -> None:
    """Refuse a length before a byte of the payload is read. `due` is the length of the data that is expected now."""
    match header.kind:
        case Kind.DATA:
            fits = header.length == due
        case Kind.GREETING:
            fits = header.length <= LONGEST_GREETING
        case Kind.BEAT:
            fits = header.length == 0
        case Kind.FAREWELL:
            fits = header.length <= LONGEST_FAREWELL
    if not fits:
        wanted = "" if due is None else f" where {due} were due"
        raise FrameError(f"announced {header.length} bytes of {header.kind.name.lower()}{wanted}")


FAREWELL = struct.Struct(">BH")
NOBODY = 0xFFFF


def pack_farewell(ending: Ending, culprit: int | None) -> bytes:
    """Why the sender leaves, and whom it blames."""
    return FAREWELL.pack(ending, NOBODY if culprit is None else culprit)


def unpack_farewell(payload: bytes, *, seats: int) -> tuple[Ending, int | None]:
    if len(payload) != FAREWELL.size:
        raise FrameError("sent a farewell that does not read")
    ending, culprit = FAREWELL.unpack(payload)
    if ending not in set(Ending) or (culprit != NOBODY and culprit >= seats):
        raise FrameError("sent a farewell that does not read")
    return Ending(ending), None if culprit == NOBODY else culprit


def pack_greeting(receiver: int, salt: bytes, fields: dict[str, str]) -> bytes:
    """Whom the sender takes the receiver for, the salt of its messages' hashes, and the hash of every field of its
    agreement."""
    return "\n".join([f"{receiver} {salt.hex()}", *(f"{digest} {name}" for name, digest in fields.items())]).encode()


def unpack_greeting(payload: bytes) -> tuple[int, bytes, dict[str, str]]:
    try:
        first, *lines = payload.decode().split("\n")
        receiver, salt = first.split(" ")
        pairs = [line.split(" ", 1) for line in lines]
        greeting = int(receiver), bytes.fromhex(salt), {name: digest for digest, name in pairs}
    except ValueError as error:
        raise FrameError("sent a greeting that does not read") from error
    if len(greeting[1]) != SALT_BYTES:
        raise FrameError("sent a greeting that does not read")
    return greeting
