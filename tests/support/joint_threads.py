"""Parties of a joint release as threads of one process; the messages that each sends and receives are recorded."""

import hashlib
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from scumble.errors import ScumbleError
from scumble.joint.network.mesh import LocalMesh
from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.geometric_noise import GeometricLaw
from scumble.joint.protocol.roles import Roles, default_threshold
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.model.counts import Integers

Result = TypeVar("Result")

ZERO_NOISE = GeometricLaw(rate=Fraction(1), bits_per_digit=8, thresholds=(0,))
"""A law without noise: its only digit is never 1. For worked examples only."""

THREE = Roles(parties=3, compute=(0, 1, 2), owners=(0, 1, 2), threshold=1)
WITH_AGGREGATOR = Roles(parties=3, compute=(0, 1, 2), owners=(0, 1), threshold=1)
FOUR = Roles(parties=4, compute=(0, 1, 2, 3), owners=(1, 2, 3), threshold=1)
SUBMITTING = Roles(parties=5, compute=(0, 2, 3), owners=(0, 1, 2, 4), threshold=1)
FIVE = Roles(parties=5, compute=(0, 1, 2, 3, 4), owners=(0, 1, 2, 3, 4), threshold=2)
ALL_ROLES = (THREE, WITH_AGGREGATOR, FOUR, SUBMITTING, FIVE)


def roles_for(compute: int) -> Roles:
    everyone = tuple(range(compute))
    return Roles(parties=compute, compute=everyone, owners=everyone, threshold=default_threshold(compute))


def same_bound(roles: Roles, rows: int) -> dict[int, int]:
    """The same public bound for every owner."""
    return dict.fromkeys(roles.owners, rows)


def owner_or_none(roles: Roles, party: int) -> int | None:
    return party if party in roles.owners else None


def roles_id(roles: Roles) -> str:
    return f"{len(roles.compute)} of {roles.parties} compute, {len(roles.owners)} own"


def keys_from(seed: str, roles: Roles) -> list[SessionKeys]:
    """The keys of all parties, derived from a text, so that a run can be repeated."""

    def key(*words: object) -> bytes:
        return hashlib.sha256(repr((seed, *words)).encode()).digest()

    numbers = range(len(roles.unqualified_sets))
    return [
        SessionKeys(
            own=key("own", party),
            component={number: key(number) for number in roles.components_of(party)},
            submission={
                (owner, number): key(owner, number)
                for owner in roles.submitting
                for number in numbers
                if party == owner or number in roles.components_of(party)
            },
            link={other: key("link", *sorted((party, other))) for other in range(roles.parties) if other != party},
        )
        for party in range(roles.parties)
    ]


class RecordingMesh:
    """A party's mesh that records the messages it sends and receives, in order."""

    def __init__(self, mesh: LocalMesh) -> None:
        self._mesh = mesh
        self.sent: list[tuple[int, bytes]] = []
        self.received: list[tuple[int, bytes]] = []

    @property
    def party(self) -> int:
        return self._mesh.party

    @property
    def parties(self) -> int:
        return self._mesh.parties

    @property
    def names(self) -> Sequence[str]:
        return self._mesh.names

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        self.sent += outgoing.items()
        received = self._mesh.exchange(outgoing, expected)
        self.received += received.items()
        return received


def run_parties(parties: int, act: Callable[[RecordingMesh], Result]) -> tuple[list[Result], list[RecordingMesh]]:
    """Run a function at every party; return the results and the recorded messages. The first failure is raised."""
    meshes = [RecordingMesh(mesh) for mesh in LocalMesh.connect(parties, deadline=20)]
    results: dict[int, Result] = {}
    failures: list[BaseException] = []

    def run(mesh: RecordingMesh) -> None:
        try:
            results[mesh.party] = act(mesh)
        except BaseException as failure:  # noqa: BLE001 - raised again below, in the test's thread
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(mesh,), daemon=True) for mesh in meshes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[party] for party in range(parties)], meshes


class EndingMesh(LocalMesh):
    """A mesh whose waits end when another party has failed, as those of real connections do."""

    ended: threading.Event

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        self.rounds += 1
        for peer, message in outgoing.items():
            self._queues[self._party][peer].put(message)
        received = {}
        for peer, length in expected.items():
            while True:
                failed = self.ended.is_set()
                try:
                    received[peer] = self._queues[peer][self._party].get(timeout=0.05)
                    break
                except queue.Empty:
                    if failed:
                        raise ScumbleError("Another party ended its run.") from None
            if len(received[peer]) != length:
                raise ScumbleError(f"Party {peer} sent a message of another length.")
        return received


def run_to_the_end(
    parties: int, act: Callable[[EndingMesh], Result], kind: type[EndingMesh] = EndingMesh
) -> tuple[dict[int, Result], dict[int, BaseException]]:
    """Run a function at every party; return the results of those that finished and the failures of the others."""
    ended = threading.Event()
    results: dict[int, Result] = {}
    failures: dict[int, BaseException] = {}

    def run(mesh: EndingMesh) -> None:
        try:
            results[mesh.party] = act(mesh)
        except BaseException as failure:  # noqa: BLE001 - returned to the test
            failures[mesh.party] = failure
            ended.set()

    threads = []
    for mesh in kind.connect(parties):
        assert isinstance(mesh, EndingMesh)
        mesh.ended = ended
        threads.append(threading.Thread(target=run, args=(mesh,), daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, failures


def with_sharing(
    roles: Roles,
    act: Callable[[Sharing, int], Result],
    *,
    seed: str = "keys",
    kind: type[Sharing] = Sharing,
    keys: Sequence[SessionKeys] | None = None,
) -> tuple[list[Result], list[RecordingMesh]]:
    """Run a function at every party with its `Sharing`, at the start of step 0; see `run_parties`."""
    everyone = keys or keys_from(seed, roles)

    def run(mesh: RecordingMesh) -> Result:
        sharing = kind(roles=roles, mesh=mesh, keys=everyone[mesh.party], nonce=b"session")
        sharing.begin(0)
        return act(sharing, mesh.party)

    return run_parties(roles.parties, run)


def shared_by_first_owner(sharing: Sharing, party: int, values: np.ndarray) -> Shares:
    """Shares of values that the first owner inputs; the other owners input zeros."""
    return sharing.input(values if party == sharing.roles.owners[0] else np.zeros_like(values))


class Noiseless(ReplicatedArithmetic):
    """The protocol without noise, for worked examples only."""

    def noisy_argmax(self, scores: Shares, *, law: GeometricLaw, bits: int) -> int:
        return super().noisy_argmax(scores, law=ZERO_NOISE, bits=bits)

    def noisy_open(self, values: Shares, *, law: GeometricLaw, bits: int) -> Integers:
        return super().noisy_open(values, law=ZERO_NOISE, bits=bits)
