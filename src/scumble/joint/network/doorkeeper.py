"""Accepts connections for a limited number of handshakes at a time.

Anyone can connect to a listening address. A stranger must not be able to use up the memory or the file descriptors of a
party: handshakes are limited in total and for each address, and every handshake has a short deadline. A connection
above a limit is closed at once. A party that was turned away tries again.
"""

import asyncio
import contextlib
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable

from scumble.errors import ScumbleError
from scumble.joint.session.agreement import Address

MOST_HANDSHAKES = 64
MOST_HANDSHAKES_PER_ADDRESS = 16
HANDSHAKE_SECONDS = 5.0
"""How long a caller may take for the TLS handshake, before it has shown a certificate."""
PAUSE_SECONDS = 0.2
"""The wait before the next attempt if the system refuses to accept, for example at its limit of open files."""

Accepted = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Doorkeeper:
    """Listens at an address and calls `accepted` for every connection whose TLS handshake succeeded."""

    def __init__(self, where: Address, context: ssl.SSLContext, accepted: Accepted) -> None:
        self._where = where
        self._context = context
        self._accepted = accepted
        self._sockets: list[socket.socket] = []
        self._handshakes: set[asyncio.Task[None]] = set()
        self._admitted: set[asyncio.Task[None]] = set()
        self._pending: Counter[str] = Counter()
        self.turned_away = 0

    async def listen(self) -> None:
        """Start to listen."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(
                self._where.host, self._where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            for family, kind, protocol, _, address in dict.fromkeys(found):
                self._sockets.append(_listening(family, kind, protocol, address))
        except OSError as error:
            self.close()
            raise ScumbleError(
                f"Cannot listen at {self._where}: {error.strerror or error}. Stop any other run that uses this "
                "address, or give a free one with --listen or in the agreement."
            ) from error
        for each in self._sockets:
            self._start(self._accept_all(each))

    def close(self) -> None:
        """Stop to listen, and end the handshakes that are under way. Admitted callers are not affected."""
        for task in self._handshakes:
            task.cancel()
        for each in self._sockets:
            each.close()

    async def _accept_all(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(listening)
            except OSError:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            host = str(address[0])
            full = self._pending.total() >= MOST_HANDSHAKES or self._pending[host] >= MOST_HANDSHAKES_PER_ADDRESS
            if full:
                self.turned_away += 1
                connection.close()
                continue
            self._pending[host] += 1
            self._start(self._admit(connection, host))

    async def _admit(self, connection: socket.socket, host: str) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        try:
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol, connection, ssl=self._context, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
        except (OSError, TimeoutError):
            connection.close()
            return
        finally:
            self._pending[host] -= 1
        task = asyncio.current_task()
        assert task is not None
        self._handshakes.discard(task)
        self._admitted.add(task)
        task.add_done_callback(self._admitted.discard)
        await self._accepted(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    def _start(self, work: Awaitable[None]) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)


def _listening(family: int, kind: int, protocol: int, address: tuple[object, ...]) -> socket.socket:
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            with contextlib.suppress(OSError):
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.setblocking(False)
        listening.bind(address)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening
