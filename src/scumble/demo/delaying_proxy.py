"""A TCP proxy that imitates a distant network: it forwards connections and delays every byte, in both directions.

The delay is one-way, and bandwidth is not limited. A request with its answer takes twice the delay.
"""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from scumble.joint.session.agreement import Address

CHUNK = 1 << 16


class DelayingProxy:
    """Forwards connections from some addresses to others while a `with` statement lasts. Runs in its own thread."""

    def __init__(self, routes: Sequence[tuple[Address, Address]], *, delay: float) -> None:
        """`routes` are pairs (address to listen at, address to forward to); `delay` is one-way, in seconds."""
        self._routes = routes
        self._delay = delay
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        self._servers = [
            await asyncio.start_server(self._forwarder(there), here.host, here.port) for here, there in self._routes
        ]

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _forwarder(self, there: Address):  # type: ignore[no-untyped-def]
        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                with suppress(OSError):
                    far_reader, far_writer = await asyncio.open_connection(there.host, there.port)
                    try:
                        await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
                    finally:
                        far_writer.transport.abort()
            finally:
                writer.transport.abort()
                self._tasks.discard(task)

        return forward

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one direction. Chunks wait in a queue until they are due, while further chunks are read."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def read() -> None:
            part = b"more"
            while part:
                part = await reader.read(CHUNK)
                queue.put_nowait((loop.time() + self._delay, part))

        reading = asyncio.ensure_future(read())
        try:
            while True:
                due, part = await queue.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                if not part:
                    writer.write_eof()
                    return
                writer.write(part)
                await writer.drain()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
