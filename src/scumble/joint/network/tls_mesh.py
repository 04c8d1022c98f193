"""The mesh over the network: mutually authenticated TLS 1.3, with every certificate pinned to its party on both sides.

One thread with an event loop serves all connections and sends heartbeats while the main thread computes. The main
thread calls `exchange` and waits.

Every wait ends: when the message arrives, when the connection breaks, when heartbeats stop, or at the deadline `stall`
of the agreement. The party that ends first names the party responsible, so all error messages name the same one.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from scumble.errors import ScumbleError
from scumble.joint.network.connection import Disagreement, MessageObserver, PartyLost
from scumble.joint.network.handshake import LINGER_SECONDS, Connector, cancel
from scumble.joint.network.wire import Ending
from scumble.joint.protocol.consistency import PartiesDiffer
from scumble.joint.session.agreement import Address, Agreement

Answer = TypeVar("Answer")


class TlsMesh:
    """One party's connections to all others, a `Mesh`. Use it in a `with` statement: entering waits for all parties."""

    def __init__(
        self,
        agreement: Agreement,
        name: str,
        *,
        key: Path,
        listen: Address | None = None,
        fields: Mapping[str, str] | None = None,
        observer: MessageObserver | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare the connections of the party called `name`.

        `listen` is the address to listen at, if it is not the one in the agreement. `fields` are hashes of further
        values that must be the same for all parties. `observer` is called with every data message, `notify` with
        sentences about the state of the connections.
        """
        self._party = agreement.party_number(name)
        self._names = agreement.names
        self._stall = agreement.deadlines.stall
        self._connector = Connector(
            agreement,
            name,
            key=key,
            listen=listen,
            fields=fields or {},
            observer=observer,
            notify=notify or (lambda text: None),
            when_lost=self._end_all,
        )
        self._links = self._connector.links
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="connections", daemon=True)
        self.rounds = 0

    @property
    def party(self) -> int:
        return self._party

    @property
    def parties(self) -> int:
        return len(self._names)

    @property
    def names(self) -> Sequence[str]:
        return self._names

    @property
    def bytes_sent(self) -> int:
        return sum(link.bytes_sent for link in self._links.values())

    @property
    def bytes_received(self) -> int:
        return sum(link.bytes_received for link in self._links.values())

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._wait(self._connector.connect())
        except BaseException as error:
            self.close(error)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close(error)

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        """One round of messages; see `Mesh.exchange`."""
        self.rounds += 1
        return self._wait(self._exchange(outgoing, expected))

    def check(self) -> None:
        """Raise if a party has been lost. For callers that compute for long between two exchanges."""
        for link in self._links.values():
            if link.loss is not None:
                raise link.loss

    def linger(self) -> None:
        """Keep the connections open for a moment, so that messages between other parties arrive before a farewell."""
        with suppress(ScumbleError):
            self._wait(asyncio.sleep(LINGER_SECONDS))

    def close(self, error: BaseException | None = None) -> None:
        """Send farewells and close all connections. If an error is given, the farewell names the party responsible."""
        if not self._thread.is_alive():
            return
        ending, culprit = Ending.DONE, None
        if error is not None:
            ending, culprit = self._blame(error)
        with suppress(ScumbleError, TimeoutError):
            self._wait(self._close_all(ending, culprit), seconds=2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._loop.close()

    def _blame(self, error: BaseException) -> tuple[Ending, int | None]:
        """Why this party ends its run, and which party is responsible."""
        if isinstance(error, PartiesDiffer):
            self.linger()  # all parties receive the same digests: each comes to the verdict before connections close
            return Ending.DIVERGED, next((party for party in error.parties if party != self._party), None)
        if isinstance(error, PartyLost | Disagreement):
            return error.ending, error.party
        return Ending.FAILED, None

    def _wait(self, work: Coroutine[Any, Any, Answer], seconds: float | None = None) -> Answer:
        """Run a coroutine in the connections' thread and wait for its result."""
        future: Future[Answer] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except BaseException:
            future.cancel()
            raise

    async def _close_all(self, ending: Ending, culprit: int | None) -> None:
        await asyncio.gather(*(link.close(ending, culprit) for link in self._links.values()))
        await cancel([task for task in asyncio.all_tasks() if task is not asyncio.current_task()])
        for _ in range(3):  # sockets of interrupted handshakes are closed in the next iterations of the loop
            await asyncio.sleep(0)

    async def _exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        work: list[Coroutine[Any, Any, bytes | None]] = [
            self._links[peer].receive(length, self._stall) for peer, length in expected.items()
        ]
        work += [self._links[peer].send(message, self._stall) for peer, message in outgoing.items()]
        done = await _together(work)
        return {peer: message for peer, message in zip(expected, done, strict=False) if message is not None}

    def _end_all(self, loss: PartyLost) -> None:
        """End the run because one party was lost: every wait for a message raises."""
        for link in self._links.values():
            link.fail(loss)


async def _together(work: list[Coroutine[Any, Any, Answer]]) -> list[Answer]:
    """Run coroutines concurrently; the first failure cancels the others."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        if any(not task.done() for task in tasks):
            await cancel(tasks)
