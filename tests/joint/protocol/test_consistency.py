"""A fault at one party ends the run at all parties, before an answer is used."""

import random
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from joint_threads import FIVE, SUBMITTING, THREE, EndingMesh, keys_from, roles_id, run_to_the_end

from scumble.auditing.laws.queries import engine_of
from scumble.errors import ScumbleError
from scumble.files.schema_file import parse_schema
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import JointHolder
from scumble.joint.network.mesh import LocalMesh
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.consistency import Consistency, PartiesDiffer, parties_that_differ
from scumble.joint.protocol.ring import UnsignedArray
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.joint.session.content_digest import content_digest
from scumble.joint.session.resume import wait_for_all
from scumble.methods.diffgen import together
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  job: {taxonomy: {Any: {w: {a: , b: }, n: {c: , d: , e: }}}}
  class: {classes: [x, y]}
"""
)
ROWS = [(age, age % 5, int(age > 3)) for age in range(8)] * 5
PARAMETERS = DiffGen(epsilon="1", rounds=2, score="accuracy")


class Faulty:
    """A mesh that flips one bit of the n-th message that this party receives."""

    def __init__(self, mesh: EndingMesh, message: int | None, bit: int) -> None:
        self._mesh = mesh
        self._left = -1 if message is None else message
        self._bit = bit
        self.flipped_length = 0

    @property
    def party(self) -> int:
        return self._mesh.party

    @property
    def parties(self) -> int:
        return self._mesh.parties

    @property
    def names(self) -> list[str]:
        return [f"party {number}" for number in range(self.parties)]

    def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        received = self._mesh.exchange(outgoing, expected)
        for peer in sorted(received):
            if self._left == 0:
                received[peer] = flipped(received[peer], self._bit)
                self.flipped_length = len(received[peer])
            self._left -= 1
        return received


class Faults:
    """Flips one bit of one message that one party receives."""

    def __init__(self, party: int, message: int, bit: int) -> None:
        self._party, self._message, self._bit = party, message, bit
        self.meshes: dict[int, Faulty] = {}

    def mesh(self, mesh: EndingMesh) -> Faulty:
        message = self._message if mesh.party == self._party else None
        self.meshes[mesh.party] = Faulty(mesh, message, self._bit)
        return self.meshes[mesh.party]


def flipped(message: bytes, bit: int) -> bytes:
    place = bit % (8 * len(message))
    changed = bytearray(message)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def run(
    roles: Roles, make_mesh: Callable[[EndingMesh], Any], logs: list[MemoryAnswerLog]
) -> tuple[dict[int, Any], dict[int, BaseException]]:
    plan, keys = joint_plan(DiffGenMethod().plan(SCHEMA, PARAMETERS), roles, SCHEMA), keys_from("flip", roles)

    def act(mesh: EndingMesh) -> Any:
        holder = JointHolder(
            roles=roles,
            mesh=make_mesh(mesh),
            keys=keys[mesh.party],
            nonce=b"",
            engine=engine_of(SCHEMA, ROWS) if mesh.party in roles.owners else None,
            plan=plan,
            rows_at_most=dict.fromkeys(roles.owners, 100),
            log=logs[mesh.party],
        )
        release = DiffGenMethod().run(SCHEMA, PARAMETERS, holder)
        wait_for_all(mesh, content_digest(release))
        return release.measured.tolist()

    return run_to_the_end(roles.parties, act)


def logs_of(roles: Roles) -> list[MemoryAnswerLog]:
    return [MemoryAnswerLog() for _ in range(roles.parties)]


def is_prefix(log: MemoryAnswerLog, whole: MemoryAnswerLog) -> bool:
    return all(whole.answers[step] == answer for step, answer in log.answers.items())


@pytest.mark.parametrize("roles", [THREE, SUBMITTING, FIVE], ids=roles_id)
def test_one_flipped_bit_in_a_received_message_ends_the_run_everywhere(roles: Roles) -> None:
    honest = logs_of(roles)
    counted: dict[int, int] = {}

    class Counting(Faulty):
        def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
            counted[self.party] = counted.get(self.party, 0) + len(expected)
            return super().exchange(outgoing, expected)

    results, failures = run(roles, lambda mesh: Counting(mesh, None, 0), honest)
    assert not failures and len(set(map(str, results.values()))) == 1
    draw = random.Random(3)
    for _ in range(24 if roles is THREE else 8):
        who = draw.randrange(roles.parties)
        message, bit = draw.randrange(counted[who]), draw.getrandbits(30)
        logs = logs_of(roles)
        faults = Faults(who, message, bit)
        results, failures = run(roles, faults.mesh, logs)
        assert faults.meshes[who].flipped_length, "the bit was flipped"
        assert (results, set(failures)) == ({}, set(range(roles.parties))), (who, message)
        assert any(isinstance(failure, PartiesDiffer) for failure in failures.values())
        assert all(is_prefix(log, honest[0]) for log in logs), "no party stores another answer"


@pytest.mark.parametrize("roles", [THREE, SUBMITTING, FIVE], ids=roles_id)
@pytest.mark.parametrize("component", [0, 1])
def test_a_wrong_component_in_the_memory_of_one_party_is_detected_when_it_is_opened(
    roles: Roles, component: int
) -> None:
    for who in roles.compute:

        class Damaged(Sharing):
            def _opened(self, shares: Shares, who: int = who) -> UnsignedArray:
                if self._mesh.party == who:
                    shares = shares.copy()
                    shares[component].view(np.uint8).ravel()[0] ^= 4
                return super()._opened(shares)

        def act(mesh: EndingMesh, kind: type[Sharing] = Damaged) -> list[int]:
            sharing = kind(roles=roles, mesh=mesh, keys=keys_from("x", roles)[mesh.party], nonce=b"")
            sharing.begin(7)
            return sharing.open(sharing.input(np.arange(9, dtype=np.uint64))).tolist()

        results, failures = run_to_the_end(roles.parties, act)
        assert results == {}
        for failure in failures.values():
            assert isinstance(failure, PartiesDiffer)
            assert "Step 7, the opened values" in str(failure)
            assert "No answer of this step was used" in str(failure)


def perturbed_run(
    monkeypatch: pytest.MonkeyPatch, factor: float, logs: list[MemoryAnswerLog], sent: list[int]
) -> tuple[dict[int, Any], dict[int, BaseException]]:
    """A run in which party 1 has other logarithms than the others."""
    original = together._candidates

    class Measured(Faulty):
        def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
            sent.append(sum(map(len, outgoing.values())))
            return super().exchange(outgoing, expected)

    def make(mesh: EndingMesh) -> Faulty:
        threading.current_thread().name = f"party {mesh.party}"
        return Measured(mesh, None, 0)

    def candidates(*arguments: Any) -> Any:
        found, weights = original(*arguments)
        perturb = factor if threading.current_thread().name == "party 1" else 0.0
        return found, [weight * (1 + perturb * place) for place, weight in enumerate(weights)]

    monkeypatch.setattr(together, "_candidates", candidates)
    return run(THREE, make, logs)


def test_logarithms_that_differ_in_the_last_digits_give_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    results, failures = perturbed_run(monkeypatch, 1e-15, logs_of(THREE), [])
    assert not failures and results[0] == results[1] == results[2]


def test_public_values_that_differ_end_the_run_before_any_count_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    logs, sent = logs_of(THREE), list[int]()
    results, failures = perturbed_run(monkeypatch, 1e-2, logs, sent)
    assert results == {} and [log.answers for log in logs] == [{}, {}, {}]
    for failure in failures.values():
        assert isinstance(failure, PartiesDiffer) and failure.parties == (1,)
        assert str(failure).startswith(
            "Step 0, the query and its public values: party 1 differs from party 0 and party 2. No answer"
        )
    assert len(sent) == 3, "one broadcast by each party and nothing else"


def test_different_earlier_answers_end_the_run() -> None:
    first = logs_of(THREE)
    run(THREE, lambda mesh: Faulty(mesh, None, 0), first)
    logs = logs_of(THREE)
    for party, log in enumerate(logs):
        log.answers = {0: (0 if party == 2 else 1).to_bytes(8, "little")}
    results, failures = run(THREE, lambda mesh: Faulty(mesh, None, 0), logs)
    assert results == {}
    assert all(isinstance(f, PartiesDiffer) and f.parties == (2,) for f in failures.values()), failures


def test_digests_of_connections_look_random_to_others() -> None:
    """The same messages under other link keys have other digests: without the key, nothing can be tried."""
    tags = []
    for seed in ("one", "two"):
        keys = keys_from(seed, THREE)
        heard: list[dict[int, bytes]] = []

        class Listening(LocalMesh):
            def exchange(
                self, outgoing: Mapping[int, bytes], expected: Mapping[int, int], heard: Any = heard
            ) -> dict[int, bytes]:
                received = super().exchange(outgoing, expected)
                if self.party == 2 and received:
                    heard.append(received)
                return received

        def act(mesh: LocalMesh, keys: Any = keys) -> None:
            consistency = Consistency(mesh, keys[mesh.party].link)
            consistency.begin(0)
            consistency.exchange({1: b"a count"} if mesh.party == 0 else {}, {0: 7} if mesh.party == 1 else {})
            consistency.agree("x", b"")

        threads = [threading.Thread(target=act, args=(mesh,)) for mesh in Listening.connect(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tags.append(heard[-1][0][32:48])
    assert tags[0] != tags[1]


def test_the_smaller_group_differs() -> None:
    names = ["a", "b", "c", "d"]
    assert parties_that_differ(dict.fromkeys(range(3), b"x"), names) is None
    assert parties_that_differ({0: b"x", 1: b"y", 2: b"x"}, names) == ((1,), "b differs from a and c")
    assert parties_that_differ({0: b"x", 1: b"y", 2: b"z"}, names) == (
        (0, 1, 2),
        "a and b and c all have different values",
    )
    assert isinstance(PartiesDiffer("Step 1.", parties=(1,)), ScumbleError)
