"""One authenticated connection to one other party, from its first frame to its last.

Heartbeats distinguish a party that is busy from one that is gone. Whoever ends a run says in its farewell which party
is responsible, so all parties name the same one.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from scumble.errors import Abort, InputError, ScumbleError
from scumble.joint.network.wire import (
    LAYOUT,
    Ending,
    FrameError,
    Header,
    Kind,
    check_payload_length,
    pack_farewell,
    unpack_farewell,
    unpack_header,
)
from scumble.privacy.noise import secret_key

HEARTBEAT_SECONDS = 1.0
CHUNK = 1 << 18
SMALL = 1 << 14
"""Messages up to this many bytes are written together with their header."""


class PartyLost(ScumbleError):
    """The run ended because of one party, which the message names. `party` is its number."""

    def __init__(self, message: str, *, party: int, ending: Ending) -> None:
        super().__init__(
            f"{message} When all parties are available again, every party can continue with --resume.",
            abort=Abort.PARTY,
        )
        self.party = party
        self.ending = ending


class Disagreement(InputError):
    """A party showed a certificate that is not in our agreement, or has a different agreement."""

    def __init__(self, message: str, *, party: int) -> None:
        super().__init__(message, abort=Abort.PARTY)
        self.party = party
        self.ending = Ending.DIFFERS


class MessageObserver(Protocol):
    """Is called with every data message, in the order of each connection; writes the transcript.

    `salt` is known only to the two parties of the connection.
    """

    def sent(self, peer: int, number: int, message: bytes, salt: bytes) -> None: ...

    def received(self, peer: int, number: int, message: bytes, salt: bytes) -> None: ...


class Link:
    """A connection to one party whose certificate was checked. Used in the event loop's thread only."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        names: tuple[str, ...],
        party: int,
        peer: int,
        session: bytes,
        silence: int,
        observer: MessageObserver | None,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._names, self._party, self._peer = names, party, peer
        self._session = session
        self._silence = silence
        self._observer = observer
        self._frames_sent = self._frames_received = 0
        self._messages_sent = self._messages_received = 0
        self._due: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._arrived: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._listening = False
        self._silent_heartbeats = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._when_lost: Callable[[PartyLost], None] = lambda loss: None
        self.loss: PartyLost | None = None
        self.bytes_sent = self.bytes_received = 0
        self.salt, self.peer_salt = secret_key(), b""

    @property
    def name(self) -> str:
        return self._names[self._peer]

    def start(self, when_lost: Callable[[PartyLost], None]) -> None:
        """Start to receive messages and to send heartbeats."""
        self._when_lost = when_lost
        self._tasks = [asyncio.ensure_future(self._listen()), asyncio.ensure_future(self._send_heartbeats())]

    async def send(self, message: bytes, seconds: float, kind: Kind = Kind.DATA) -> None:
        """Send a message, and wait until the transport has accepted most of it."""
        if self.loss is not None:
            raise self.loss
        if kind is Kind.DATA:
            if self._observer is not None:
                self._observer.sent(self._peer, self._messages_sent, message, self.salt)
            self._messages_sent += 1
            self.bytes_sent += LAYOUT.size + len(message)
        self._write(kind, message)
        try:
            await asyncio.wait_for(self._writer.drain(), seconds)
        except TimeoutError:
            raise self._lose(Ending.STALLED, f"it received nothing for {seconds:g} seconds") from None
        except OSError as error:
            raise self._broken(error) from error

    async def receive(self, length: int, seconds: float) -> bytes:
        """Receive the next message, which must have exactly this length."""
        if self.loss is not None and not self._arrived.done():
            raise self.loss  # nothing more will arrive
        if not self._due.done():
            self._due.set_result(length)
        try:
            # A message that arrived before its sender was lost is still delivered: it may contain an answer.
            message = await asyncio.wait_for(asyncio.shield(self._arrived), seconds)
        except TimeoutError:
            text = f"it is alive, but a message from it is {seconds:g} seconds overdue"
            raise self._lose(Ending.STALLED, text) from None
        self._arrived = asyncio.get_running_loop().create_future()
        if self._observer is not None:
            self._observer.received(self._peer, self._messages_received, message, self.peer_salt)
        self._messages_received += 1
        self.bytes_received += LAYOUT.size + length
        return message

    async def greeting(self, seconds: float) -> bytes:
        """Receive the other side's greeting, its first frame."""
        try:
            header, payload = await asyncio.wait_for(self._frame(), seconds)
        except TimeoutError:
            raise self._lose(Ending.LOST, f"it sent no greeting within {seconds:g} seconds") from None
        except FrameError as error:
            raise self.refuse(error.deed) from error
        except (OSError, EOFError) as error:
            raise self._broken(error) from error
        if header.kind is Kind.FAREWELL:
            raise self._farewell(payload)
        if header.kind is not Kind.GREETING:
            raise self.refuse("sent another frame before its greeting")
        return payload

    def refuse(self, what: str) -> PartyLost:
        """End the connection because of what the other side sent."""
        return self._lose(Ending.REFUSED, what)

    def fail(self, loss: PartyLost) -> None:
        """Raise `loss` in whoever waits for a message. The first loss of this connection is kept."""
        self.loss = self.loss or loss
        if not self._arrived.done():
            self._arrived.set_exception(loss)
            self._arrived.exception()  # nobody may be waiting: mark the exception as retrieved

    async def close(self, ending: Ending, culprit: int | None) -> None:
        """Send a farewell, if the other side still receives, and close the connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(OSError, TimeoutError):
            if not self._writer.is_closing():
                self._write(Kind.FAREWELL, pack_farewell(ending, culprit))
                self._writer.close()
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)
        self._writer.transport.abort()

    def abort(self) -> None:
        self._writer.transport.abort()

    def _write(self, kind: Kind, payload: bytes) -> None:
        header = Header(
            kind=kind, sender=self._party, session=self._session, number=self._frames_sent, length=len(payload)
        ).pack()
        self._frames_sent += 1
        if len(payload) <= SMALL:
            self._writer.write(header + payload)
        else:
            self._writer.write(header)
            self._writer.write(payload)

    async def _listen(self) -> None:
        try:
            while True:
                header, payload = await self._frame()
                if header.kind is Kind.DATA:
                    if not self._arrived.done():
                        self._arrived.set_result(payload)
                elif header.kind is Kind.FAREWELL:
                    self._farewell(payload)
                    return
                elif header.kind is Kind.GREETING:
                    raise FrameError("sent a second greeting")
        except FrameError as error:
            self.refuse(error.deed)
        except (OSError, EOFError) as error:
            self._broken(error)

    async def _frame(self) -> tuple[Header, bytes]:
        """Read the next frame. A data payload is read only once its expected length is known."""
        header = unpack_header(
            await self._read(LAYOUT.size), sender=self._peer, session=self._session, number=self._frames_received
        )
        self._frames_received += 1
        due = None
        if header.kind is Kind.DATA:
            due = await self._due
            self._due = asyncio.get_running_loop().create_future()
        check_payload_length(header, due=due)
        return header, await self._read(header.length)

    async def _read(self, length: int) -> bytes:
        self._listening, self._silent_heartbeats = True, 0
        parts = []
        while length > 0:
            part = await self._reader.read(min(length, CHUNK))
            if not part:
                raise EOFError
            self._silent_heartbeats = 0
            parts.append(part)
            length -= len(part)
        self._listening = False
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _send_heartbeats(self) -> None:
        """Send a heartbeat every second, and end the run if the other side is silent for too long.

        Silence is counted in own heartbeats rather than by the clock, so a machine that was suspended or overloaded
        does not blame the others.
        """
        while self.loss is None:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            if not self._writer.is_closing():
                self._write(Kind.HEARTBEAT, b"")
            self._silent_heartbeats += self._listening
            if self._silent_heartbeats * HEARTBEAT_SECONDS > self._silence:
                self._lose(Ending.LOST, f"it sent no heartbeat for {self._silence} seconds")

    def _farewell(self, payload: bytes) -> PartyLost:
        try:
            ending, culprit = unpack_farewell(payload, parties=len(self._names))
        except FrameError as error:
            return self.refuse(error.deed)
        if ending is Ending.DONE:  # no reason to end the run: it may only be the first to finish
            self.fail(PartyLost(f"{self.name} finished before this party did.", party=self._peer, ending=Ending.FAILED))
            assert self.loss is not None
            return self.loss
        if culprit in (None, self._peer):
            return self._lose(Ending.FAILED, "it ended its run; see its own error message")
        assert culprit is not None
        if culprit == self._party:
            return self._lose(Ending.FAILED, f"it ended its run and names this party as the cause ({_WORDS[ending]})")
        words = f"{self._names[culprit]} {_WORDS[ending]}, {self.name} reports."
        return self._set_loss(PartyLost(words, party=culprit, ending=ending))

    def _broken(self, error: BaseException) -> PartyLost:
        loss = self._lose(Ending.LOST, "its connection broke")
        loss.__cause__ = error
        return loss

    def _lose(self, ending: Ending, what: str) -> PartyLost:
        words = f"{self.name} {what}." if ending is Ending.REFUSED else f"{self.name} {_WORDS[ending]}: {what}."
        return self._set_loss(PartyLost(words, party=self._peer, ending=ending))

    def _set_loss(self, loss: PartyLost) -> PartyLost:
        first = self.loss is None
        self.fail(loss)
        assert self.loss is not None
        if first:
            self._when_lost(self.loss)
        return self.loss


_WORDS = {
    Ending.DONE: "has finished",
    Ending.FAILED: "could not continue",
    Ending.LOST: "was lost",
    Ending.STALLED: "stalled",
    Ending.REFUSED: "sent something that the protocol does not allow",
    Ending.DIFFERS: "does not match the agreement",
    Ending.ABSENT: "did not connect",
    Ending.DIVERGED: "computed, sent or received other values than another party",
}
