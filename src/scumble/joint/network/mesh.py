"""What the arithmetic needs of the parties' connections, and the same inside one process."""

import queue
from collections.abc import Mapping
from typing import Protocol

from scumble.errors import ScumbleError


class Mesh(Protocol):
    """One party's end of its connections to all others, used in rounds. Parties are numbered from 0."""

    @property
    def seat(self) -> int:
        """This party's number."""

    @property
    def seats(self) -> int:
        """How many parties there are."""

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        """Send each named party its message, then wait for a message of just this length from each expected one.

        Both sides of every pair know from public facts alone that a message goes over and how long it is.
        """


class LocalMesh:
    """Parties as threads of one process, for tests and twins."""

    def __init__(self, seat: int, queues: list[list["queue.Queue[bytes]"]], deadline: float = 60.0) -> None:
        self._seat = seat
        self._queues = queues
        self._deadline = deadline
        self.rounds = 0
        self.bytes_sent = 0

    @classmethod
    def connect(cls, seats: int, deadline: float = 60.0) -> list["LocalMesh"]:
        """The ends of all parties."""
        queues: list[list[queue.Queue[bytes]]] = [[queue.Queue() for _ in range(seats)] for _ in range(seats)]
        return [cls(seat, queues, deadline) for seat in range(seats)]

    @property
    def seat(self) -> int:
        return self._seat

    @property
    def seats(self) -> int:
        return len(self._queues)

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        self.rounds += 1
        for peer, message in outgoing.items():
            self.bytes_sent += len(message)
            self._queues[self._seat][peer].put(message)
        received = {}
        for peer, length in expected.items():
            try:
                message = self._queues[peer][self._seat].get(timeout=self._deadline)
            except queue.Empty:
                raise ScumbleError(f"Party {peer} said nothing for {self._deadline:g} seconds.") from None
            if len(message) != length:
                raise ScumbleError(f"Party {peer} sent {len(message)} bytes where {length} were due.")
            received[peer] = message
        return received
