"""The parties' connections: mutually authenticated TLS 1.3, each certificate pinned to its party on both sides.

All connections live in one thread with an event loop, which also sends signs of life while the arithmetic is busy. The
thread that computes calls `exchange` and waits.

Every wait ends: with the message, with the loss of the connection, with too long a silence, or at the deadline for
stalling. Whoever ends first says whom it blames, so all end naming the same party.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from scumble.errors import ScumbleError
from scumble.joint.network.connection import Disagreement, PartyLost, Watch
from scumble.joint.network.handshake import Connecting, cancel
from scumble.joint.network.wire import Ending
from scumble.joint.session.agreement import Address, Agreement

Answer = TypeVar("Answer")


class TlsMesh:
    """One party's end of all connections. Use it in a `with` statement: entering waits for all parties."""

    def __init__(
        self,
        agreement: Agreement,
        party: str,
        *,
        key: Path,
        listen: Address | None = None,
        fields: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """`fields` are hashes of facts beyond the agreement on which all have to agree; `listen` is where to listen if
        not at the address that others call; `watch` sees every message; `tell` hears what is going on."""
        self._seat = agreement.seat(party)
        self._seats = len(agreement.parties)
        self._stall = agreement.deadlines.stall
        self._connecting = Connecting(
            agreement,
            party,
            key=key,
            listen=listen,
            fields=fields or {},
            watch=watch,
            tell=tell or (lambda text: None),
            when_lost=self._end_all,
        )
        self._links = self._connecting.links
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="connections", daemon=True)
        self.rounds = 0

    @property
    def seat(self) -> int:
        return self._seat

    @property
    def seats(self) -> int:
        return self._seats

    @property
    def bytes_sent(self) -> int:
        return sum(link.bytes_sent for link in self._links.values())

    @property
    def bytes_received(self) -> int:
        return sum(link.bytes_received for link in self._links.values())

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._wait(self._connecting.connect())
        except BaseException as error:
            self.close(error)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close(error)

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        """Send and receive in one round; see `Mesh`."""
        self.rounds += 1
        return self._wait(self._exchange(outgoing, expected))

    def check(self) -> None:
        """Raise if a party is lost already; for those who work for long between two exchanges."""
        for link in self._links.values():
            if link.loss is not None:
                raise link.loss

    def close(self, error: BaseException | None = None) -> None:
        """Say farewell and let go of everything. With an error, the others hear whose fault it was."""
        if not self._thread.is_alive():
            return
        ending, culprit = Ending.DONE, None
        if error is not None:
            blamed = error if isinstance(error, PartyLost | Disagreement) else None
            ending, culprit = (Ending.FAILED, None) if blamed is None else (blamed.ending, blamed.seat)
        with suppress(ScumbleError, TimeoutError):
            self._wait(self._part(ending, culprit), seconds=2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, Answer], seconds: float | None = None) -> Answer:
        """Run something on the connections' thread."""
        future: Future[Answer] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except BaseException:
            future.cancel()
            raise

    async def _part(self, ending: Ending, culprit: int | None) -> None:
        await asyncio.gather(*(link.close(ending, culprit) for link in self._links.values()))
        await cancel([task for task in asyncio.all_tasks() if task is not asyncio.current_task()])
        for _ in range(3):  # sockets of handshakes that were cut short are closed in the next turns of the loop
            await asyncio.sleep(0)

    async def _exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        work: list[Coroutine[Any, Any, bytes | None]] = [
            self._links[peer].receive(length, self._stall) for peer, length in expected.items()
        ]
        work += [self._links[peer].send(message, self._stall) for peer, message in outgoing.items()]
        done = await _together(work)
        return {peer: message for peer, message in zip(expected, done, strict=False) if message is not None}

    def _end_all(self, loss: PartyLost) -> None:
        """One party lost is the end for all: nobody waits for the others any longer."""
        for link in self._links.values():
            link.fail(loss)


async def _together(work: list[Coroutine[Any, Any, Answer]]) -> list[Answer]:
    """Do all at once; the first failure ends the rest."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        if any(not task.done() for task in tasks):
            await cancel(tasks)
