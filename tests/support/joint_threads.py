"""Parties of a joint release as threads of one process, with ears: what each one sends and hears is kept."""

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from scumble.joint.network.mesh import LocalMesh
from scumble.joint.protocol.arithmetic import Replicated
from scumble.joint.protocol.geometric_noise import CoinLaw
from scumble.joint.protocol.roles import Seats, default_threshold
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.model.counts import Integers

Result = TypeVar("Result")

SILENT = CoinLaw(rate=Fraction(1), coin_bits=8, thresholds=(0,))
"""A law without noise: its only digit is never one. For following examples, nowhere else."""

THREE = Seats(parties=3, compute=(0, 1, 2), owners=(0, 1, 2), threshold=1)
WITH_AGGREGATOR = Seats(parties=3, compute=(0, 1, 2), owners=(0, 1), threshold=1)
FOUR = Seats(parties=4, compute=(0, 1, 2, 3), owners=(1, 2, 3), threshold=1)
SUBMITTING = Seats(parties=5, compute=(0, 2, 3), owners=(0, 1, 2, 4), threshold=1)
FIVE = Seats(parties=5, compute=(0, 1, 2, 3, 4), owners=(0, 1, 2, 3, 4), threshold=2)
ALL_SEATS = (THREE, WITH_AGGREGATOR, FOUR, SUBMITTING, FIVE)


def seats_of(compute: int) -> Seats:
    everyone = tuple(range(compute))
    return Seats(parties=compute, compute=everyone, owners=everyone, threshold=default_threshold(compute))


def str_of_seats(seats: Seats) -> str:
    return f"{len(seats.compute)} of {seats.parties} compute, {len(seats.owners)} own"


def keys_from(seed: str, seats: Seats) -> list[SessionKeys]:
    """All parties' keys from a text, so that a run can be repeated."""

    def key(*words: object) -> bytes:
        return hashlib.sha256(repr((seed, *words)).encode()).digest()

    numbers = range(len(seats.subsets))
    return [
        SessionKeys(
            own=key("own", party),
            component={number: key(number) for number in seats.held(party)},
            handing={
                (owner, number): key(owner, number)
                for owner in seats.submitting
                for number in numbers
                if party == owner or number in seats.held(party)
            },
        )
        for party in range(seats.parties)
    ]


class EarMesh:
    """A party's end that keeps what it sent and what it heard, in order."""

    def __init__(self, mesh: LocalMesh) -> None:
        self._mesh = mesh
        self.sent: list[tuple[int, bytes]] = []
        self.heard: list[tuple[int, bytes]] = []

    @property
    def seat(self) -> int:
        return self._mesh.seat

    @property
    def seats(self) -> int:
        return self._mesh.seats

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        self.sent += outgoing.items()
        received = self._mesh.exchange(outgoing, expected)
        self.heard += received.items()
        return received


def together(parties: int, act: Callable[[EarMesh], Result]) -> tuple[list[Result], list[EarMesh]]:
    """What every party makes of it, and its ears. The first failure of any is raised."""
    ears = [EarMesh(mesh) for mesh in LocalMesh.connect(parties, deadline=20)]
    results: dict[int, Result] = {}
    failures: list[BaseException] = []

    def run(mesh: EarMesh) -> None:
        try:
            results[mesh.seat] = act(mesh)
        except BaseException as failure:  # noqa: BLE001 - raised again below, in the test's own thread
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(mesh,), daemon=True) for mesh in ears]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[seat] for seat in range(parties)], ears


def with_sharing(
    seats: Seats,
    act: Callable[[Sharing, int], Result],
    *,
    seed: str = "keys",
    kind: type[Sharing] = Sharing,
    keys: Sequence[SessionKeys] | None = None,
) -> tuple[list[Result], list[EarMesh]]:
    """What every party makes of it with its side of the arithmetic, at the beginning of step 0."""
    everyone = keys or keys_from(seed, seats)

    def run(mesh: EarMesh) -> Result:
        sharing = kind(seats=seats, mesh=mesh, keys=everyone[mesh.seat], nonce=b"session")
        sharing.begin(0)
        return act(sharing, mesh.seat)

    return together(seats.parties, run)


def dealt_out(sharing: Sharing, seat: int, values: np.ndarray) -> Shares:
    """Shares of values: the first owner hands them in, the others hand in nothing."""
    return sharing.input(values if seat == sharing.seats.owners[0] else np.zeros_like(values))


class Noiseless(Replicated):
    """Shares without noise: for following examples, nowhere else."""

    def noisy_argmax(self, scores: Shares, *, law: CoinLaw, bits: int) -> int:
        return super().noisy_argmax(scores, law=SILENT, bits=bits)

    def noisy_open(self, values: Shares, *, law: CoinLaw, bits: int) -> Integers:
        return super().noisy_open(values, law=SILENT, bits=bits)
