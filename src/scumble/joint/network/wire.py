"""The wire format: frames with a fixed header, and the checks a receiver applies before it reads a payload.

    magic | kind | sender | session | number | length | payload

The frames of each direction are numbered from 0, so a replayed, dropped or reordered frame is detected. The receiver of
a data frame knows its length in advance and refuses any other. Payloads are never unpickled; they are parsed as arrays
of numbers or as text, and invalid ones are refused.
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
    """What a frame contains."""

    GREETING = 1
    DATA = 2
    HEARTBEAT = 3
    FAREWELL = 4


class Ending(IntEnum):
    """Why a party ends its run, as stated in its farewell. A code instead of free text, so it cannot leak data."""

    DONE = 0
    FAILED = 1
    """The sender itself cannot continue."""
    LOST = 2
    """Another party's connection broke, or its heartbeats stopped."""
    STALLED = 3
    """Another party is alive, but a message from it is overdue."""
    REFUSED = 4
    """Another party sent something that the protocol does not allow."""
    DIFFERS = 5
    """Another party has a different agreement, or showed a certificate that is not the one in the agreement."""
    ABSENT = 6
    """Another party did not connect in time."""
    DIVERGED = 7
    """Parties computed, sent or received different values."""


class FrameError(ScumbleError):
    """A party sent something that the protocol does not allow. `deed` says what it did: "sent a frame ..."."""

    def __init__(self, deed: str) -> None:
        super().__init__(f"A party {deed}.")
        self.deed = deed


@dataclass(frozen=True, kw_only=True)
class Header:
    """The fixed-length header of a frame."""

    kind: Kind
    sender: int
    session: bytes
    number: int
    length: int

    def pack(self) -> bytes:
        return LAYOUT.pack(MAGIC, self.kind, self.sender, self.session, self.number, self.length)


def unpack_header(data: bytes, *, sender: int, session: bytes, number: int) -> Header:
    """Parse a header, and refuse it unless it has the expected sender, session and number."""
    magic, kind, stated_sender, stated_session, stated_number, length = LAYOUT.unpack(data)
    if magic != MAGIC:
        raise FrameError("sent bytes that are not a frame of this protocol version")
    if kind not in set(Kind):
        raise FrameError("sent a frame of an unknown kind")
    if stated_session != session and kind != Kind.GREETING:  # greetings compare sessions along with the agreements
        raise FrameError("sent a frame of another session")
    if stated_sender != sender:
        raise FrameError(f"says it is party {stated_sender}, but its certificate is that of party {sender}")
    if stated_number != number:
        raise FrameError(f"sent frame {stated_number} where frame {number} was expected")
    return Header(kind=Kind(kind), sender=sender, session=session, number=number, length=length)


def check_payload_length(header: Header, *, due: int | None) -> None:
    """Refuse a frame by its announced length, before any of its payload is read.

    `due` is the length of the expected data message, None if no data is expected.
    """
    match header.kind:
        case Kind.DATA:
            fits = header.length == due
        case Kind.GREETING:
            fits = header.length <= LONGEST_GREETING
        case Kind.HEARTBEAT:
            fits = header.length == 0
        case Kind.FAREWELL:
            fits = header.length <= LONGEST_FAREWELL
    if not fits:
        wanted = "" if due is None else f" where {due} were expected"
        raise FrameError(f"announced a {header.kind.name.lower()} frame of {header.length} bytes{wanted}")


FAREWELL = struct.Struct(">BH")
NOBODY = 0xFFFF


def pack_farewell(ending: Ending, culprit: int | None) -> bytes:
    """Encode why the sender ends its run, and which party is responsible (None: the sender itself, or nobody)."""
    return FAREWELL.pack(ending, NOBODY if culprit is None else culprit)


def unpack_farewell(payload: bytes, *, parties: int) -> tuple[Ending, int | None]:
    if len(payload) != FAREWELL.size:
        raise FrameError("sent an invalid farewell")
    ending, culprit = FAREWELL.unpack(payload)
    if ending not in set(Ending) or (culprit != NOBODY and culprit >= parties):
        raise FrameError("sent an invalid farewell")
    return Ending(ending), None if culprit == NOBODY else culprit


def pack_greeting(receiver: int, salt: bytes, fields: dict[str, str]) -> bytes:
    """Encode a greeting: the receiver's number, the salt for hashes of the sender's messages in transcripts, and the
    hash of every field of the sender's agreement."""
    return "\n".join([f"{receiver} {salt.hex()}", *(f"{digest} {name}" for name, digest in fields.items())]).encode()


def unpack_greeting(payload: bytes) -> tuple[int, bytes, dict[str, str]]:
    try:
        first, *lines = payload.decode().split("\n")
        receiver, salt = first.split(" ")
        pairs = [line.split(" ", 1) for line in lines]
        greeting = int(receiver), bytes.fromhex(salt), {name: digest for digest, name in pairs}
    except ValueError as error:
        raise FrameError("sent an invalid greeting") from error
    if len(greeting[1]) != SALT_BYTES:
        raise FrameError("sent an invalid greeting")
    return greeting
