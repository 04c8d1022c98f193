"""What a semi-honest party sees: uniform components, in messages whose number and lengths do not depend on the data."""

import threading
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from chi_square import chi_square_rejects
from joint_threads import (
    ALL_ROLES,
    FIVE,
    SUBMITTING,
    THREE,
    EndingMesh,
    RecordingMesh,
    keys_from,
    roles_id,
    run_parties,
    run_to_the_end,
    with_sharing,
)

from scumble.errors import InputError, ScumbleError
from scumble.joint.network.mesh import LocalMesh
from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.consistency import PartiesDiffer
from scumble.joint.protocol.geometric_noise import law_with_precision
from scumble.joint.protocol.ring import UnsignedArray
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.session_keys import SessionKeys, exchange_keys
from scumble.joint.protocol.sharing import DIGEST_BYTES, Shape, Shares, Sharing
from scumble.privacy.noise import secret_key

EVERY_ROLES = pytest.mark.parametrize("roles", ALL_ROLES, ids=roles_id)


@EVERY_ROLES
def test_a_key_is_sent_to_the_holders_of_its_component_only(roles: Roles) -> None:
    keys, meshes = run_parties(roles.parties, lambda mesh: exchange_keys(roles, mesh))
    for number, places in enumerate(roles.holders):
        holders = {roles.compute[place] for place in places}
        assert {party for party in range(roles.parties) if number in keys[party].component} == holders
        assert len({keys[party].component[number] for party in holders}) == 1
        for owner in roles.submitting:
            knowing = {party for party in range(roles.parties) if (owner, number) in keys[party].submission}
            assert knowing == holders | {owner}
            assert len({keys[party].submission[owner, number] for party in knowing}) == 1
    for one, other in combinations(range(roles.parties), 2):
        assert keys[one].link[other] == keys[other].link[one]
    every = [key for each in keys for key in (each.own, *each.component.values(), *each.submission.values())]
    links = {key for each in keys for key in each.link.values()}
    assert len(links) == roles.parties * (roles.parties - 1) // 2
    assert all(len(key) == 32 for key in [*every, *links])
    for party, mesh in enumerate(meshes):
        slots = len(keys[party].component) + len(keys[party].submission)
        others = {peer: b"".join(m for p, m in mesh.received if p == peer)[:-32] for peer in range(roles.parties)}
        # From every other party: a contribution to each key that both know, and to that of their connection; then a
        # confirmation.
        common = [
            len(keys[party].component.keys() & keys[peer].component.keys())
            + len(keys[party].submission.keys() & keys[peer].submission.keys())
            for peer in range(roles.parties)
        ]
        assert common[party] == slots
        assert [len(others[p]) for p in range(roles.parties) if p != party] == [
            32 * (common[p] + 1) for p in range(roles.parties) if p != party
        ]
    for each in keys:
        assert SessionKeys.from_json(each.to_json()) == each
    with pytest.raises(InputError, match="cannot be resumed"):
        SessionKeys.from_json(keys[0].to_json()[:-9])


LAW = law_with_precision(Fraction(1, 2), 8)


def every_operation(sharing: Sharing, values: UnsignedArray) -> None:
    """A selection and a measurement, which together use every operation."""
    arithmetic = ReplicatedArithmetic(sharing)
    scores = arithmetic.majority(arithmetic.input(values.reshape(-1, 3), 20), 10)
    arithmetic.noisy_argmax(scores, law=LAW, bits=14)
    arithmetic.begin(1)
    arithmetic.noisy_open(arithmetic.input(values, 20), law=LAW, bits=14)


def views(roles: Roles, tables: UnsignedArray, kind: type[Sharing] = Sharing) -> list[RecordingMesh]:
    return with_sharing(roles, lambda sharing, party: every_operation(sharing, tables[party]), kind=kind)[1]


def tables_of(roles: Roles, size: int, seed: int) -> UnsignedArray:
    return np.random.default_rng(seed).integers(0, 200, (roles.parties, size))


@EVERY_ROLES
def test_lengths_and_order_of_messages_do_not_depend_on_the_tables(roles: Roles) -> None:
    empty = views(roles, np.zeros((roles.parties, 60), dtype=np.int64))
    full = views(roles, tables_of(roles, 60, 1))
    for one, other in zip(empty, full, strict=True):
        assert [(peer, len(message)) for peer, message in one.received] == [(p, len(m)) for p, m in other.received]
        assert [(peer, len(message)) for peer, message in one.sent] == [(p, len(m)) for p, m in other.sent]


def not_uniform(messages: list[tuple[int, bytes]]) -> bool:
    """Whether a test rejects that the bytes of messages are uniform. Leave out opened values, which are public."""
    octets = Counter(octet for _, message in messages for octet in message)
    return chi_square_rejects(octets, dict.fromkeys(range(256), 1 / 256))


class NothingOpened(Sharing):
    """Opens nothing, so that a party receives components of secrets only."""

    def open(self, shares: Shares) -> UnsignedArray:
        return np.zeros(shares.shape[1:], dtype=shares.dtype)


@EVERY_ROLES
@pytest.mark.parametrize("size", [0, 3_000])
def test_received_components_are_uniform(roles: Roles, size: int) -> None:
    """The received bytes are uniform whether the tables are empty or full."""
    tables = tables_of(roles, 3_000, 2) * (size > 0)
    for party, mesh in enumerate(views(roles, tables, NothingOpened)):
        assert (len(mesh.received) > 20) is (party in roles.compute)
        assert not not_uniform(mesh.received)


def test_a_missing_mask_is_detected() -> None:
    class Maskless(NothingOpened):
        def _masks(self, dealer: int, label: bytes, shape: Shape, dtype: object) -> dict[int, UnsignedArray]:
            masks = super()._masks(dealer, label, shape, dtype)
            return {number: np.zeros_like(mask) for number, mask in masks.items()} if dealer == 0 else masks

    meshes = views(THREE, tables_of(THREE, 3_000, 2), Maskless)
    assert any(not_uniform(mesh.received) for mesh in meshes)


def misdirected(roles: Roles, kind: type[Sharing] = Sharing) -> list[tuple[int, int]]:
    """Components that a dealer sent to a party that must not hold them, as pairs (party, component)."""
    values = np.arange(100, dtype=np.uint64)

    def act(sharing: Sharing, party: int) -> Shares:
        shared = sharing.input(values + party)
        return sharing.product(shared, shared)

    _, meshes = with_sharing(roles, act, kind=kind)
    return [
        (party, roles.sent_component(dealer))
        for dealer in range(roles.parties)
        for party, message in meshes[dealer].sent
        if len(message) > DIGEST_BYTES
        and roles.compute_index(party) in roles.unqualified_sets[roles.sent_component(dealer)]
    ]


@pytest.mark.parametrize("roles", [THREE, SUBMITTING, FIVE], ids=roles_id)
def test_no_component_is_sent_to_a_party_that_must_not_hold_it(roles: Roles) -> None:
    assert misdirected(roles) == []


def test_a_component_sent_to_a_wrong_party_is_detected() -> None:
    class Careless(Sharing):
        def _exchange(self, outgoing: dict[int, bytes], expected: dict[int, int]) -> dict[int, bytes]:
            longest = max(outgoing.values(), key=len, default=b"")
            everyone = [party for party in self.roles.compute if party != self._mesh.party]
            lengths = dict.fromkeys(everyone, len(longest)) if outgoing else expected
            received = super()._exchange(dict.fromkeys(everyone, longest) if outgoing else {}, lengths)
            return {party: message[: expected[party]] for party, message in received.items() if expected.get(party)}

    assert misdirected(THREE, Careless)


@pytest.mark.parametrize("roles", [THREE, FIVE], ids=roles_id)
def test_a_largest_coalition_lacks_exactly_one_component(roles: Roles) -> None:
    for size in range(1, len(roles.compute) + 1):
        for coalition in combinations(roles.compute, size):
            held = {number for party in coalition for number in roles.components_of(party)}
            missing = len(roles.unqualified_sets) - len(held)
            assert (missing > 0) is (size <= roles.threshold)
            assert missing == 1 or size != roles.threshold


@EVERY_ROLES
def test_a_repeated_step_repeats_its_messages(roles: Roles) -> None:
    tables = tables_of(roles, 60, 3)
    for first, second in zip(views(roles, tables), views(roles, tables), strict=True):
        assert first.sent == second.sent
        assert first.received == second.received


def test_a_step_repeated_with_other_values_uses_other_masks() -> None:
    """A receiver of both messages must not be able to subtract: one mask on two values reveals their difference."""
    values = np.arange(1_000, dtype=np.uint32)

    def received(change: int) -> list[UnsignedArray]:
        def act(sharing: Sharing, party: int) -> Shares:
            shared = sharing.input(values + (change if party == 0 else 0))
            return sharing.product(shared, shared)

        meshes = with_sharing(THREE, act)[1]
        sizes = 4 * len(values), DIGEST_BYTES + 4 * len(values)
        return [
            np.frombuffer(message[-4 * len(values) :], dtype=np.uint32)
            for mesh in meshes
            for _, message in mesh.received
            if len(message) in sizes
        ]

    before, after = received(0), received(5)
    assert len(before) == len(after) == 6
    different = [len(np.unique(other - one)) for one, other in zip(before, after, strict=True)]
    # Each party receives an input, then a part of the product. Party 1 receives party 0's input; the others' inputs
    # are unchanged.
    assert [number > 990 for number in different] == [False, True, True, True, False, True]
    assert [(other == one).all() for one, other in zip(before, after, strict=True)][::4] == [True, True]


def test_random_bits_depend_on_the_inputs() -> None:
    bits = [
        with_sharing(THREE, lambda s, party, add=add: (s.input(np.full(4, add)), s.random_bits((2_000,)))[1])[0][0]
        for add in (0, 1)
    ]
    assert np.mean(bits[0] == bits[1]) < 0.05


def test_a_submitter_compares_the_opened_values_of_several_parties() -> None:
    class Liar(Sharing):
        def _exchange(self, outgoing: dict[int, bytes], expected: dict[int, int]) -> dict[int, bytes]:
            if self.compute_index == 1 and set(outgoing) == set(self.roles.submitting):
                outgoing = {party: bytes(len(message)) for party, message in outgoing.items()}
            return super()._exchange(outgoing, expected)

    with pytest.raises(PartiesDiffer, match="the opened values: party 1 and party 4 differ"):
        with_sharing(SUBMITTING, lambda s, party: s.open(s.input(np.full(3, party + 1, dtype=np.uint32))), kind=Liar)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"compute": (0, 1)}, "Two parties cannot keep secrets"),
        ({"parties": 8, "compute": tuple(range(8)), "threshold": 3}, "3 to 7"),
        ({"threshold": 0}, "threshold is 0"),
        ({"threshold": 2}, "majority"),
        ({"owners": (0,)}, "at least two owners"),
        ({"compute": (0, 1, 5)}, "from 0 to 2"),
        ({"compute": (0, 2, 1)}, "in increasing order"),
        ({"parties": 4}, "neither owns rows nor computes"),
    ],
)
def test_invalid_roles_are_refused(change: dict[str, object], message: str) -> None:
    facts = {"parties": 3, "compute": (0, 1, 2), "owners": (0, 1, 2), "threshold": 1, **change}
    with pytest.raises(InputError, match=message):
        Roles(**facts)  # type: ignore[arg-type]


def test_a_local_mesh_checks_lengths_and_has_a_deadline() -> None:
    one, other = LocalMesh.connect(2, deadline=0.01)
    one.exchange({1: b"ab"}, {})
    with pytest.raises(ScumbleError, match="2 bytes where 3"):
        other.exchange({}, {0: 3})
    with pytest.raises(ScumbleError, match="sent no message"):
        other.exchange({}, {0: 3})


def test_keys_of_another_session_do_not_open_the_secret() -> None:
    """With keys of another session at one party, nothing is opened."""
    keys = keys_from("one", THREE)
    keys[1] = keys_from("other", THREE)[1]
    values = np.arange(50, dtype=np.uint64)
    with pytest.raises(PartiesDiffer, match="before the opening"):
        with_sharing(THREE, lambda s, party: s.open(s.input(values)).tolist(), keys=keys)


def test_every_holder_of_a_key_contributes_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the generator of one party always returns the same bytes, no key repeats."""

    def keys_with(weak: int) -> list[SessionKeys]:
        def act(mesh: RecordingMesh) -> SessionKeys:
            threading.current_thread().name = f"party {mesh.party}"
            return exchange_keys(THREE, mesh)

        def draw() -> bytes:
            return bytes(32) if threading.current_thread().name == f"party {weak}" else secret_key()

        monkeypatch.setattr("scumble.joint.protocol.session_keys.secret_key", draw)
        return run_parties(3, act)[0]

    for weak in range(3):
        once, again = keys_with(weak), keys_with(weak)
        for number in range(3):
            holder = next(party for party in range(3) if number in once[party].component)
            assert once[holder].component[number] != again[holder].component[number]


@EVERY_ROLES
def test_a_contribution_that_arrives_changed_is_detected_before_a_key_is_used(roles: Roles) -> None:
    class Changed(EndingMesh):
        def exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
            received = super().exchange(outgoing, expected)
            if self.party == roles.compute[0] and self.rounds == 1:
                sender = max(received)
                received[sender] = received[sender][:-1] + bytes([received[sender][-1] ^ 1])
            return received

    _, failures = run_to_the_end(roles.parties, lambda mesh: exchange_keys(roles, mesh), Changed)
    assert roles.compute[0] in failures
    assert all(isinstance(each, PartiesDiffer) for each in failures.values())
    assert "different keys of this session" in str(failures[roles.compute[0]])


def test_another_attempt_uses_other_masks_and_the_same_noise() -> None:
    """A fault may have made a party send other values before. They must not have been under the same masks."""
    tables, keys = tables_of(THREE, 60, 3), keys_from("keys", THREE)

    def run(attempt: bytes) -> tuple[list[list[int]], list[RecordingMesh]]:
        def act(mesh: RecordingMesh) -> list[int]:
            sharing = Sharing(roles=THREE, mesh=mesh, keys=keys[mesh.party], nonce=b"", attempt=attempt)
            sharing.begin(0)
            arithmetic = ReplicatedArithmetic(sharing)
            return arithmetic.noisy_open(arithmetic.input(tables[mesh.party], 20), law=LAW, bits=14).tolist()

        return run_parties(3, act)

    (first, meshes), (second, others) = run(b"one"), run(b"two")
    assert first == second, "the same answer, because the noise is that of the step"
    for one, other in zip(meshes, others, strict=True):
        dealt = [(a, b) for (_, a), (_, b) in zip(one.sent, other.sent, strict=True) if len(a) > 100]
        assert dealt and all(a != b for a, b in dealt)
