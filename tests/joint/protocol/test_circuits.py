"""Circuits on shares give the same results as plain arithmetic, for every supported number of parties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_threads import ALL_ROLES, THREE, ZERO_NOISE, roles_for, roles_id, shared_by_first_owner, with_sharing

from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.circuits import (
    add_planes,
    bit_planes,
    is_greater,
    is_negative,
    maximum_words,
    summands,
    unpack_bits,
    words_from_bit,
    words_from_planes,
)
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Shares, Sharing

EVERY_ROLES = pytest.mark.parametrize("roles", [*ALL_ROLES, roles_for(6), roles_for(7)], ids=roles_id)
WIDTH = 13
numbers = st.lists(st.integers(0, 2**WIDTH - 1), min_size=1, max_size=20)


def digits(sharing: Sharing, shares: Shares, width: int = WIDTH) -> Shares:
    return add_planes(sharing, summands(sharing, shares, width))


@EVERY_ROLES
@pytest.mark.parametrize("word", [np.uint32, np.uint64])
@settings(max_examples=3)
@given(left=numbers, data=st.data())
def test_words_and_their_digits(
    roles: Roles, word: type[np.unsignedinteger], left: list[int], data: st.DataObject
) -> None:
    right = data.draw(st.lists(st.integers(0, 2**WIDTH - 1), min_size=len(left), max_size=len(left)))
    a, b, size = np.array(left, dtype=word), np.array(right, dtype=word), len(left)

    def act(sharing: Sharing, party: int) -> dict[str, list[int]]:
        x, y = shared_by_first_owner(sharing, party, a), shared_by_first_owner(sharing, party, b)
        bits, others = digits(sharing, x), digits(sharing, y)
        below = is_negative(sharing, x - y, WIDTH + 1)
        return {
            "itself": sharing.open(x).tolist(),
            "product": sharing.open(sharing.product(x, y)).tolist(),
            "public": sharing.open(sharing.plus_public(x - y, b)).tolist(),
            "digits": words_from_planes(sharing.open(bits), size).tolist(),
            "three": words_from_planes(sharing.open(add_planes(sharing, [bits, others, bits])), size).tolist(),
            "below": unpack_bits(sharing.open(below), size).tolist(),
            "as words": sharing.open(words_from_bit(sharing, below, size, word)).tolist(),
            "above": unpack_bits(sharing.open(is_greater(sharing, bits, others)), size).tolist(),
            "larger": sharing.open(maximum_words(sharing, x, y, WIDTH + 1)).tolist(),
        }

    results, _ = with_sharing(roles, act)
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


@pytest.mark.parametrize("roles", ALL_ROLES, ids=roles_id)
@pytest.mark.parametrize("classes", [1, 2, 3, 5, 8])
def test_majority_is_the_largest_of_the_owners_sums(roles: Roles, classes: int) -> None:
    tables = np.random.default_rng(classes).integers(0, 300, (roles.parties, 17, classes))

    def act(sharing: Sharing, party: int) -> list[int]:
        shared = ReplicatedArithmetic(sharing).input(tables[party], 12)
        return sharing.open(ReplicatedArithmetic(sharing).majority(shared, 11)).tolist()

    results, _ = with_sharing(roles, act)
    expected = tables[list(roles.owners)].sum(axis=0).max(axis=1).tolist()
    assert results == [expected] * roles.parties


@pytest.mark.parametrize("roles", ALL_ROLES, ids=roles_id)
def test_without_noise_the_opened_answers_are_the_plain_ones(roles: Roles) -> None:
    tables = np.random.default_rng(7).integers(-40, 300, (roles.parties, 33))
    total = tables[list(roles.owners)].sum(axis=0)

    def act(sharing: Sharing, party: int) -> tuple[int, list[int]]:
        arithmetic = ReplicatedArithmetic(sharing)
        values = arithmetic.input(tables[party], 20)
        opened = arithmetic.noisy_open(values, law=ZERO_NOISE, bits=13)
        raised = arithmetic.plus_public(values, np.full(33, 500))
        return arithmetic.noisy_argmax(raised, law=ZERO_NOISE, bits=13), opened.tolist()

    results, _ = with_sharing(roles, act)
    for chosen, opened in results:
        assert opened == total.tolist()
        assert total[chosen] == total.max()


@given(st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=40))
def test_planes_and_back(words: list[int]) -> None:
    planes = bit_planes(np.array(words, dtype=np.uint64), 40)
    assert planes.shape == (40, -(-len(words) // 8))
    assert words_from_planes(planes, len(words)).tolist() == words


def test_a_missing_contribution_to_a_product_is_detected() -> None:
    """The tests above detect errors: if one party contributes nothing to a product, the result is wrong."""

    class Lazy(Sharing):
        def product(self, left: Shares, right: Shares) -> Shares:
            return super().product(left if self.compute_index else np.zeros_like(left), right)

    values = np.arange(1, 9, dtype=np.uint32)

    def act(sharing: Sharing, party: int) -> list[int]:
        shared = shared_by_first_owner(sharing, party, values)
        return sharing.open(sharing.product(shared, shared)).tolist()

    right, _ = with_sharing(THREE, act)
    wrong, _ = with_sharing(THREE, act, kind=Lazy)
    assert right[0] == (values**2).tolist()
    assert wrong[0] != right[0]
