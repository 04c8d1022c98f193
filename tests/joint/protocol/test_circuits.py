"""Arithmetic on shares against arithmetic on plain numbers, for every number of parties there may be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_threads import ALL_SEATS, SILENT, THREE, dealt_out, seats_of, str_of_seats, with_sharing

from scumble.joint.protocol.arithmetic import Replicated
from scumble.joint.protocol.circuits import (
    added,
    first_largest,
    greater,
    larger_words,
    negative,
    planes_of,
    summands,
    unpacked,
    words_from_bit,
    words_of,
)
from scumble.joint.protocol.roles import Seats
from scumble.joint.protocol.sharing import Shares, Sharing

EVERY_SEATS = pytest.mark.parametrize("seats", [*ALL_SEATS, seats_of(6), seats_of(7)], ids=str_of_seats)
WIDTH = 13
numbers = st.lists(st.integers(0, 2**WIDTH - 1), min_size=1, max_size=20)


def digits(sharing: Sharing, shares: Shares, width: int = WIDTH) -> Shares:
    return added(sharing, summands(sharing, shares, width))


@EVERY_SEATS
@pytest.mark.parametrize("word", [np.uint32, np.uint64])
@settings(max_examples=3)
@given(left=numbers, data=st.data())
def test_words_and_their_digits(
    seats: Seats, word: type[np.unsignedinteger], left: list[int], data: st.DataObject
) -> None:
    right = data.draw(st.lists(st.integers(0, 2**WIDTH - 1), min_size=len(left), max_size=len(left)))
    a, b, size = np.array(left, dtype=word), np.array(right, dtype=word), len(left)

    def act(sharing: Sharing, seat: int) -> dict[str, list[int]]:
        x, y = dealt_out(sharing, seat, a), dealt_out(sharing, seat, b)
        bits, others = digits(sharing, x), digits(sharing, y)
        below = negative(sharing, x - y, WIDTH + 1)
        return {
            "itself": sharing.open(x).tolist(),
            "product": sharing.open(sharing.product(x, y)).tolist(),
            "public": sharing.open(sharing.plus_public(x - y, b)).tolist(),
            "digits": words_of(sharing.open(bits), size).tolist(),
            "three": words_of(sharing.open(added(sharing, [bits, others, bits])), size).tolist(),
            "below": unpacked(sharing.open(below), size).tolist(),
            "as words": sharing.open(words_from_bit(sharing, below, size, word)).tolist(),
            "above": unpacked(sharing.open(greater(sharing, bits, others)), size).tolist(),
            "larger": sharing.open(larger_words(sharing, x, y, WIDTH + 1)).tolist(),
        }

    results, _ = with_sharing(seats, act)
    pairs = list(zip(left, right, strict=True))
    expected = {
        "itself": left,
        "product": [x * y % 2 ** (8 * np.dtype(word).itemsize) for x, y in pairs],
        "public": left,
        "digits": left,
        "three": [(2 * x + y) % 2**WIDTH for x, y in pairs],
        "below": [int(x < y) for x, y in pairs],
        "as words": [int(x < y) for x, y in pairs],
        "above": [int(x > y) for x, y in pairs],
        "larger": [max(pair) for pair in pairs],
    }
    for result in results:
        assert result == expected


@EVERY_SEATS
@pytest.mark.parametrize("size", [1, 2, 3, 8, 9, 21])
def test_the_first_of_the_largest(seats: Seats, size: int) -> None:
    # Few different values, so there are ties almost always.
    values = np.random.default_rng(size).integers(0, 3, size).astype(np.uint32)
    results, _ = with_sharing(seats, lambda s, seat: first_largest(s, digits(s, dealt_out(s, seat, values), 3), size))
    assert set(results) == {int(values.argmax())}


@pytest.mark.parametrize("seats", ALL_SEATS, ids=str_of_seats)
@pytest.mark.parametrize("classes", [1, 2, 3, 5, 8])
def test_majority_is_the_largest_of_the_owners_sums(seats: Seats, classes: int) -> None:
    tables = np.random.default_rng(classes).integers(0, 300, (seats.parties, 17, classes))

    def act(sharing: Sharing, seat: int) -> list[int]:
        shared = Replicated(sharing).input(tables[seat], 12)
        return sharing.open(Replicated(sharing).majority(shared, 11)).tolist()

    results, _ = with_sharing(seats, act)
    expected = tables[list(seats.owners)].sum(axis=0).max(axis=1).tolist()
    assert results == [expected] * seats.parties


@pytest.mark.parametrize("seats", ALL_SEATS, ids=str_of_seats)
def test_without_noise_the_opened_answers_are_the_plain_ones(seats: Seats) -> None:
    tables = np.random.default_rng(7).integers(-40, 300, (seats.parties, 33))
    total = tables[list(seats.owners)].sum(axis=0)

    def act(sharing: Sharing, seat: int) -> tuple[int, list[int]]:
        arithmetic = Replicated(sharing)
        values = arithmetic.input(tables[seat], 20)
        opened = arithmetic.noisy_open(values, law=SILENT, bits=13)
        raised = arithmetic.plus_public(values, np.full(33, 500))
        return arithmetic.noisy_argmax(raised, law=SILENT, bits=13), opened.tolist()

    results, _ = with_sharing(seats, act)
    for chosen, opened in results:
        assert opened == total.tolist()
        assert total[chosen] == total.max()


@given(st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=40))
def test_planes_and_back(words: list[int]) -> None:
    planes = planes_of(np.array(words, dtype=np.uint64), 40)
    assert planes.shape == (40, -(-len(words) // 8))
    assert words_of(planes, len(words)).tolist() == words


def test_a_party_that_forgets_a_component_is_noticed() -> None:
    """The tests above have teeth: one party that works out no products spoils them."""

    class Lazy(Sharing):
        def product(self, left: Shares, right: Shares) -> Shares:
            return super().product(left if self.place else np.zeros_like(left), right)

    values = np.arange(1, 9, dtype=np.uint32)

    def act(sharing: Sharing, seat: int) -> list[int]:
        shared = dealt_out(sharing, seat, values)
        return sharing.open(sharing.product(shared, shared)).tolist()

    right, _ = with_sharing(THREE, act)
    wrong, _ = with_sharing(THREE, act, kind=Lazy)
    assert right[0] == (values**2).tolist()
    assert wrong[0] != right[0]
