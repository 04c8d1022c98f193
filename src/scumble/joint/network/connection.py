"""One connection to one party, from its first frame to its last."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from scumble.errors import InputError, ScumbleError
from scumble.joint.network.wire import (
    LAYOUT,
    Ending,
    FrameError,
    Header,
    Kind,
    check_length,
    pack_farewell,
    unpack,
    unpack_farewell,
)
from scumble.privacy.noise import secret_key

BEAT_SECONDS = 1.0
CHUNK = 1 << 18
SMALL = 1 << 14
"""A message up to this long goes out in one piece with its header."""


class PartyLost(ScumbleError):
    """The run ends because of one party, which the message names."""

    def __init__(self, message: str, *, seat: int, ending: Ending) -> None:
        super().__init__(f"{message} Once all parties are well again, each can go on with --resume.")
        self.seat = seat
        self.ending = ending


class Disagreement(InputError):
    """A party is not as our agreement has it: its certificate, or its own agreement."""

    def __init__(self, message: str, *, seat: int) -> None:
        super().__init__(message)
        self.seat = seat
        self.ending = Ending.DIFFERS


class Watch(Protocol):
    """Sees every message of the protocol, in the order of each connection, with a salt that the two ends alone know."""

    def sent(self, peer: int, number: int, message: bytes, salt: bytes) -> None: ...

    def received(self, peer: int, number: int, message: bytes, salt: bytes) -> None: ...


class Link:
    """A connection to one party whose certificate was checked. Lives in the event loop's thread."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        names: tuple[str, ...],
        seat: int,
        peer: int,
        session: bytes,
        silence: int,
        watch: Watch | None,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._names, self._seat, self._peer = names, seat, peer
        self._session = session
        self._silence = silence
        self._watch = watch
        self._frames_sent = self._frames_received = 0
        self._messages_sent = self._messages_received = 0
        self._due: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._arrived: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._listening = False
        self._quiet_beats = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._when_lost: Callable[[PartyLost], None] = lambda loss: None
        self.loss: PartyLost | None = None
        self.bytes_sent = self.bytes_received = 0
        self.salt, self.peer_salt = secret_key(), b""

    @property
    def name(self) -> str:
        return self._names[self._peer]

    def start(self, when_lost: Callable[[PartyLost], None]) -> None:
        """From here on messages are taken in and signs of life given out."""
        self._when_lost = when_lost
        self._tasks = [asyncio.ensure_future(self._listen()), asyncio.ensure_future(self._beat())]

    async def send(self, message: bytes, seconds: float, kind: Kind = Kind.DATA) -> None:
        """Send a message, and wait until the other side has taken most of it."""
        if self.loss is not None:
            raise self.loss
        if kind is Kind.DATA:
            if self._watch is not None:
                self._watch.sent(self._peer, self._messages_sent, message, self.salt)
            self._messages_sent += 1
            self.bytes_sent += LAYOUT.size + len(message)
        self._write(kind, message)
        try:
            await asyncio.wait_for(self._writer.drain(), seconds)
        except TimeoutError:
            raise self._lose(Ending.STALLED, f"it took in nothing for {seconds:g} seconds") from None
        except OSError as error:
            raise self._broken(error) from error

    async def receive(self, length: int, seconds: float) -> bytes:
        """The next message, which must have this length."""
        if not self._due.done():
            self._due.set_result(length)
        try:
            # A message that was under way before its sender was lost still counts: it may have been an answer.
            message = await asyncio.wait_for(asyncio.shield(self._arrived), seconds)
        except TimeoutError:
            text = f"it is alive, but a message has been due for {seconds:g} seconds"
            raise self._lose(Ending.STALLED, text) from None
        self._arrived = asyncio.get_running_loop().create_future()
        if self._watch is not None:
            self._watch.received(self._peer, self._messages_received, message, self.peer_salt)
        self._messages_received += 1
        self.bytes_received += LAYOUT.size + length
        return message

    async def greeting(self, seconds: float) -> bytes:
        """The other side's greeting, before anything else."""
        try:
            header, payload = await asyncio.wait_for(self._frame(), seconds)
        except TimeoutError:
            raise self._lose(Ending.LOST, f"it did not say who it is within {seconds:g} seconds") from None
        except FrameError as error:
            raise self.refuse(str(error)) from error
        except (OSError, EOFError) as error:
            raise self._broken(error) from error
        if header.kind is Kind.FAREWELL:
            raise self._farewell(payload)
        if header.kind is not Kind.GREETING:
            raise self.refuse("did not greet")
        return payload

    def refuse(self, what: str) -> PartyLost:
        """The end of this connection because of what came over it."""
        return self._lose(Ending.REFUSED, what)

    def fail(self, loss: PartyLost) -> None:
        """Whoever waits here is told that the run is over. What happened here first is remembered."""
        self.loss = self.loss or loss
        if not self._arrived.done():
            self._arrived.set_exception(loss)
            self._arrived.exception()  # it need not be waited for

    async def close(self, ending: Ending, culprit: int | None) -> None:
        """Say farewell as far as the other side still listens."""
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
            kind=kind, sender=self._seat, session=self._session, number=self._frames_sent, length=len(payload)
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
                    raise FrameError("greeted twice")
        except FrameError as error:
            self.refuse(str(error))
        except (OSError, EOFError) as error:
            self._broken(error)

    async def _frame(self) -> tuple[Header, bytes]:
        """The next frame. A message nobody waits for yet stays on the wire until it is known how long it must be."""
        header = unpack(
            await self._read(LAYOUT.size), sender=self._peer, session=self._session, number=self._frames_received
        )
        self._frames_received += 1
        due = None
        if header.kind is Kind.DATA:
            due = await self._due
            self._due = asyncio.get_running_loop().create_future()
        check_length(header, due=due)
        return header, await self._read(header.length)

    async def _read(self, length: int) -> bytes:
        self._listening, self._quiet_beats = True, 0
        parts = []
        while length > 0:
            part = await self._reader.read(min(length, CHUNK))
            if not part:
                raise EOFError
            self._quiet_beats = 0
            parts.append(part)
            length -= len(part)
        self._listening = False
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _beat(self) -> None:
        """Give a sign of life a second, and count the seconds without one. Beats are counted, not the clock, so that a
        machine that was asleep or overloaded does not blame the others."""
        while self.loss is None:
            await asyncio.sleep(BEAT_SECONDS)
            if not self._writer.is_closing():
                self._write(Kind.BEAT, b"")
            self._quiet_beats += self._listening
            if self._quiet_beats * BEAT_SECONDS > self._silence:
                self._lose(Ending.LOST, f"it gave no sign of life for {self._silence} seconds")

    def _farewell(self, payload: bytes) -> PartyLost:
        try:
            ending, culprit = unpack_farewell(payload, seats=len(self._names))
        except FrameError as error:
            return self.refuse(str(error))
        if ending is Ending.DONE:  # no reason for others to end: it may only be the first to have finished
            self.fail(PartyLost(f"{self.name} ended before us.", seat=self._peer, ending=Ending.FAILED))
            assert self.loss is not None
            return self.loss
        if culprit in (None, self._peer):
            return self._lose(Ending.FAILED, "it ended its run; its own last message says why")
        assert culprit is not None
        if culprit == self._seat:
            return self._lose(Ending.FAILED, f"it ended its run because of us ({_WORDS[ending]})")
        words = f"{self._names[culprit]} {_WORDS[ending]}, says {self.name}."
        return self._set_loss(PartyLost(words, seat=culprit, ending=ending))

    def _broken(self, error: BaseException) -> PartyLost:
        loss = self._lose(Ending.LOST, "its connection broke")
        loss.__cause__ = error
        return loss

    def _lose(self, ending: Ending, what: str) -> PartyLost:
        words = f"{self.name} {what}." if ending is Ending.REFUSED else f"{self.name} {_WORDS[ending]}: {what}."
        return self._set_loss(PartyLost(words, seat=self._peer, ending=ending))

    def _set_loss(self, loss: PartyLost) -> PartyLost:
        first = self.loss is None
        self.fail(loss)
        assert self.loss is not None
        if first:
            self._when_lost(self.loss)
        return self.loss


_WORDS = {
    Ending.DONE: "is done",
    Ending.FAILED: "could not go on",
    Ending.LOST: "was lost",
    Ending.STALLED: "stalled",
    Ending.REFUSED: "sent what the protocol does not allow",
    Ending.DIFFERS: "does not fit the agreement",
    Ending.ABSENT: "did not come",
}
