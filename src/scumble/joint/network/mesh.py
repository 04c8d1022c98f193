"""The interface through which a party exchanges messages with all others, and an implementation inside one process."""

import queue
from collections.abc import Mapping, Sequence
from typing import Protocol

from scumble.errors import ScumbleError


class Mesh(Protocol):
    """One party's connections to all others, used in synchronous rounds. Parties are numbered from 0."""

    @property
    def party(self) -> int:
        """This party's number."""

    @property
    def parties(self) -> int:
        """The number of parties."""

    @property
    def names(self) -> Sequence[str]:
        """The parties' names in messages to people, by number."""

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        """One round: send each party in `outgoing` its message, and receive one from each party in `expected`.

        `expected` maps a party to the exact length of its message. Sender and receiver both derive from public values
        whether a message is sent and how long it is.
        """


class LocalMesh:
    """Connections between threads of one process, for tests and benchmarks."""

    def __init__(self, party: int, queues: list[list["queue.Queue[bytes]"]], deadline: float = 60.0) -> None:
        self._party = party
        self._queues = queues
        self._deadline = deadline
        self.rounds = 0
        self.bytes_sent = 0

    @classmethod
    def connect(cls, parties: int, deadline: float = 60.0) -> list["LocalMesh"]:
        """One mesh for each party, connected to one another."""
        queues: list[list[queue.Queue[bytes]]] = [[queue.Queue() for _ in range(parties)] for _ in range(parties)]
        return [cls(party, queues, deadline) for party in range(parties)]

    @property
    def party(self) -> int:
        return self._party

    @property
    def parties(self) -> int:
        return len(self._queues)

    @property
    def names(self) -> Sequence[str]:
        return [f"party {number}" for number in range(self.parties)]

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        self.rounds += 1
        for peer, message in outgoing.items():
            self.bytes_sent += len(message)
            self._queues[self._party][peer].put(message)
        received = {}
        for peer, length in expected.items():
            try:
                message = self._queues[peer][self._party].get(timeout=self._deadline)
            except queue.Empty:
                raise ScumbleError(f"Party {peer} sent no message within {self._deadline:g} seconds.") from None
            if len(message) != length:
                raise ScumbleError(f"Party {peer} sent {len(message)} bytes where {length} were expected.")
            received[peer] = message
        return received
