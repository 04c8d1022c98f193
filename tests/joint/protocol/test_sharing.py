"""What a curious party sees: components that say nothing, in messages whose number and length say nothing either."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from chi_square import chi_square_rejects
from joint_threads import ALL_SEATS, FIVE, SUBMITTING, THREE, EarMesh, keys_from, str_of_seats, together, with_sharing

from scumble.errors import InputError, ScumbleError
from scumble.joint.network.mesh import LocalMesh
from scumble.joint.protocol.arithmetic import Replicated
from scumble.joint.protocol.geometric_noise import law_of_coins
from scumble.joint.protocol.roles import Seats
from scumble.joint.protocol.session_keys import SessionKeys, exchange_keys
from scumble.joint.protocol.sharing import DIGEST_BYTES, Array, Shape, Shares, Sharing

EVERY_SEATS = pytest.mark.parametrize("seats", ALL_SEATS, ids=str_of_seats)


@EVERY_SEATS
def test_keys_go_to_those_who_hold_the_component_and_to_nobody_else(seats: Seats) -> None:
    keys, ears = together(seats.parties, lambda mesh: exchange_keys(seats, mesh))
    for number, places in enumerate(seats.holders):
        holders = {seats.compute[place] for place in places}
        assert {party for party in range(seats.parties) if number in keys[party].component} == holders
        assert len({keys[party].component[number] for party in holders}) == 1
        for owner in seats.submitting:
            knowing = {party for party in range(seats.parties) if (owner, number) in keys[party].handing}
            assert knowing == holders | {owner}
            assert len({keys[party].handing[owner, number] for party in knowing}) == 1
    every = [key for each in keys for key in (each.own, *each.component.values(), *each.handing.values())]
    assert all(len(key) == 32 for key in every)
    for party, mesh in enumerate(ears):
        told = b"".join(message for _, message in mesh.heard)
        known = {*keys[party].component.values(), *keys[party].handing.values()}
        assert {told[start : start + 32] for start in range(0, len(told), 32)} <= known
    for each in keys:
        assert SessionKeys.from_json(each.to_json()) == each
    with pytest.raises(InputError, match="cannot be resumed"):
        SessionKeys.from_json(keys[0].to_json()[:-9])


LAW = law_of_coins(Fraction(1, 2), 8)


def every_operation(sharing: Sharing, values: Array) -> None:
    """A choice and a measurement: the whole arithmetic."""
    arithmetic = Replicated(sharing)
    scores = arithmetic.majority(arithmetic.input(values.reshape(-1, 3), 20), 10)
    arithmetic.noisy_argmax(scores, law=LAW, bits=14)
    arithmetic.begin(1)
    arithmetic.noisy_open(arithmetic.input(values, 20), law=LAW, bits=14)


def views(seats: Seats, tables: Array, kind: type[Sharing] = Sharing) -> list[EarMesh]:
    return with_sharing(seats, lambda sharing, seat: every_operation(sharing, tables[seat]), kind=kind)[1]


def tables_of(seats: Seats, size: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 200, (seats.parties, size))


@EVERY_SEATS
def test_lengths_and_order_of_messages_do_not_depend_on_the_tables(seats: Seats) -> None:
    empty = views(seats, np.zeros((seats.parties, 60), dtype=np.int64))
    full = views(seats, tables_of(seats, 60, 1))
    for one, other in zip(empty, full, strict=True):
        assert [(peer, len(message)) for peer, message in one.heard] == [(p, len(m)) for p, m in other.heard]
        assert [(peer, len(message)) for peer, message in one.sent] == [(p, len(m)) for p, m in other.sent]


def uneven(heard: list[tuple[int, bytes]]) -> bool:
    """Whether the bytes that a party hears are not even. What is opened is left out: it is no secret."""
    octets = Counter(octet for _, message in heard for octet in message)
    return chi_square_rejects(octets, dict.fromkeys(range(256), 1 / 256))


class Shut(Sharing):
    """Opens nothing, so that all a party hears are components of secrets."""

    def open(self, shares: Shares) -> Array:
        return np.zeros(shares.shape[1:], dtype=shares.dtype)


@EVERY_SEATS
@pytest.mark.parametrize("size", [0, 3_000])
def test_what_a_party_hears_is_even(seats: Seats, size: int) -> None:
    """Empty tables and full ones: the bytes that arrive are even all the same."""
    tables = tables_of(seats, 3_000, 2) * (size > 0)
    for party, mesh in enumerate(views(seats, tables, Shut)):
        assert (len(mesh.heard) > 20) is (party in seats.compute)
        assert not uneven(mesh.heard)


def test_a_missing_mask_is_caught() -> None:
    class Maskless(Shut):
        def _masks(self, dealer: int, label: bytes, shape: Shape, dtype: object) -> dict[int, Array]:
            masks = super()._masks(dealer, label, shape, dtype)
            return {number: np.zeros_like(mask) for number, mask in masks.items()} if dealer == 0 else masks

    heard = views(THREE, tables_of(THREE, 3_000, 2), Maskless)
    assert any(uneven(mesh.heard) for mesh in heard)


def misdirected(seats: Seats, kind: type[Sharing] = Sharing) -> list[tuple[int, int]]:
    """Components that a dealer sent to a party which must lack them, as (party, component)."""
    values = np.arange(100, dtype=np.uint64)

    def act(sharing: Sharing, seat: int) -> Shares:
        shared = sharing.input(values + seat)
        return sharing.product(shared, shared)

    _, ears = with_sharing(seats, act, kind=kind)
    return [
        (party, seats.open_subset(dealer))
        for dealer in range(seats.parties)
        for party, message in ears[dealer].sent
        if len(message) > DIGEST_BYTES and seats.place(party) in seats.subsets[seats.open_subset(dealer)]
    ]


@pytest.mark.parametrize("seats", [THREE, SUBMITTING, FIVE], ids=str_of_seats)
def test_no_component_goes_to_a_party_that_must_lack_it(seats: Seats) -> None:
    assert misdirected(seats) == []


def test_a_component_sent_to_a_wrong_party_is_caught() -> None:
    class Careless(Sharing):
        def _exchange(self, outgoing: dict[int, bytes], expected: dict[int, int]) -> dict[int, bytes]:
            longest = max(outgoing.values(), key=len, default=b"")
            everyone = [party for party in self.seats.compute if party != self._mesh.seat]
            lengths = dict.fromkeys(everyone, len(longest)) if outgoing else expected
            received = super()._exchange(dict.fromkeys(everyone, longest) if outgoing else {}, lengths)
            return {party: message[: expected[party]] for party, message in received.items() if expected.get(party)}

    assert misdirected(THREE, Careless)


@pytest.mark.parametrize("seats", [THREE, FIVE], ids=str_of_seats)
def test_a_coalition_lacks_one_component_and_all_others_do_not(seats: Seats) -> None:
    for size in range(1, len(seats.compute) + 1):
        for coalition in combinations(seats.compute, size):
            held = {number for party in coalition for number in seats.held(party)}
            missing = len(seats.subsets) - len(held)
            assert (missing > 0) is (size <= seats.threshold)
            assert missing == 1 or size != seats.threshold


@EVERY_SEATS
def test_a_repeated_step_repeats_its_messages(seats: Seats) -> None:
    tables = tables_of(seats, 60, 3)
    for first, second in zip(views(seats, tables), views(seats, tables), strict=True):
        assert first.sent == second.sent
        assert first.heard == second.heard


def test_a_step_repeated_with_other_values_uses_other_masks() -> None:
    """Whoever hears both must not be able to subtract: the same mask on two values would tell their difference."""
    values = np.arange(1_000, dtype=np.uint32)

    def heard(change: int) -> list[Array]:
        def act(sharing: Sharing, seat: int) -> Shares:
            shared = sharing.input(values + (change if seat == 0 else 0))
            return sharing.product(shared, shared)

        ears = with_sharing(THREE, act)[1]
        sizes = 4 * len(values), DIGEST_BYTES + 4 * len(values)
        return [
            np.frombuffer(message[-4 * len(values) :], dtype=np.uint32)
            for mesh in ears
            for _, message in mesh.heard
            if len(message) in sizes
        ]

    before, after = heard(0), heard(5)
    assert len(before) == len(after) == 6
    different = [len(np.unique(other - one)) for one, other in zip(before, after, strict=True)]
    # Each party hears an input, then a part of the product. Party 1 hears party 0's input; the others' are unchanged.
    assert [number > 990 for number in different] == [False, True, True, True, False, True]
    assert [(other == one).all() for one, other in zip(before, after, strict=True)][::4] == [True, True]


def test_the_products_masks_follow_the_values_too() -> None:
    bits = [
        with_sharing(THREE, lambda s, seat, add=add: (s.input(np.full(4, add)), s.random_bits((2_000,)))[1])[0][0]
        for add in (0, 1)
    ]
    assert np.mean(bits[0] == bits[1]) < 0.05


def test_an_owner_that_hands_in_hears_from_more_parties_than_may_lie() -> None:
    class Liar(Sharing):
        def _exchange(self, outgoing: dict[int, bytes], expected: dict[int, int]) -> dict[int, bytes]:
            if self.place == 1 and set(outgoing) == set(self.seats.submitting):
                outgoing = {party: bytes(len(message)) for party, message in outgoing.items()}
            return super()._exchange(outgoing, expected)

    with pytest.raises(ScumbleError, match="different answers"):
        with_sharing(SUBMITTING, lambda s, seat: s.open(s.input(np.full(3, seat + 1, dtype=np.uint32))), kind=Liar)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"compute": (0, 1)}, "Two keep no secret"),
        ({"parties": 8, "compute": tuple(range(8)), "threshold": 3}, "3 to 7"),
        ({"threshold": 0}, "threshold is 0"),
        ({"threshold": 2}, "majority"),
        ({"owners": (0,)}, "two owners or more"),
        ({"compute": (0, 1, 5)}, "from 0 to 2"),
        ({"compute": (0, 2, 1)}, "in order"),
        ({"parties": 4}, "neither owns rows nor computes"),
    ],
)
def test_seats_that_cannot_be(change: dict[str, object], message: str) -> None:
    facts = {"parties": 3, "compute": (0, 1, 2), "owners": (0, 1, 2), "threshold": 1, **change}
    with pytest.raises(InputError, match=message):
        Seats(**facts)  # type: ignore[arg-type]


def test_a_local_mesh_checks_lengths_and_does_not_wait_for_ever() -> None:
    one, other = LocalMesh.connect(2, deadline=0.01)
    one.exchange({1: b"ab"}, {})
    with pytest.raises(ScumbleError, match="2 bytes where 3"):
        other.exchange({}, {0: 3})
    with pytest.raises(ScumbleError, match="said nothing"):
        other.exchange({}, {0: 3})


def test_keys_of_other_sessions_do_not_fit() -> None:
    """Different keys at one party make nonsense, not the secret: the answers hang on the keys."""
    keys = keys_from("one", THREE)
    keys[1] = keys_from("other", THREE)[1]
    values = np.arange(50, dtype=np.uint64)
    results, _ = with_sharing(THREE, lambda s, seat: s.open(s.input(values)).tolist(), keys=keys)
    assert results[0] != (3 * values).tolist()
