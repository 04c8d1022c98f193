"""The tournament finds the first of the largest numbers, within its bound on comparisons and in few rounds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joint_threads import ALL_ROLES, THREE, RecordingMesh, keys_from, roles_for, roles_id, run_parties, with_sharing

from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.circuits import add_planes, summands
from scumble.joint.protocol.geometric_noise import geometric_law
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Sharing
from scumble.joint.protocol.tournament import COMPARISONS_EACH, FEW_COMPARISONS, first_largest, group_exponents


@pytest.mark.parametrize("roles", [*ALL_ROLES, roles_for(6), roles_for(7)], ids=roles_id)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 9, 21, 150])
def test_the_first_of_the_largest(roles: Roles, size: int) -> None:
    # Few different values, so that ties are almost certain.
    values = np.random.default_rng(size).integers(0, 3, size).astype(np.uint32)

    def act(sharing: Sharing, party: int) -> int:
        own = values if party == roles.owners[0] else np.zeros_like(values)
        return first_largest(sharing, add_planes(sharing, summands(sharing, sharing.input(own), 3)), size)

    assert set(with_sharing(roles, act)[0]) == {int(values.argmax())}


@pytest.mark.parametrize("place", [0, 63, 64, 700, 2_999])
def test_the_largest_of_many_wherever_it_is(place: int) -> None:
    values = np.full(3_000, 5, dtype=np.uint32)
    values[place:] = 6  # a tie from there on

    def act(sharing: Sharing, party: int) -> int:
        own = values if party == 1 else np.zeros_like(values)
        return first_largest(sharing, add_planes(sharing, summands(sharing, sharing.input(own), 3)), 3_000)

    assert set(with_sharing(THREE, act)[0]) == {place}


@given(st.integers(1, 10**6))
def test_groups_reach_one_winner_within_the_comparisons(size: int) -> None:
    left, comparisons = size, 0
    for exponent in group_exponents(size):
        groups = -(-left // 2**exponent)
        comparisons += groups * 2**exponent * (2**exponent - 1) // 2
        left = groups
    assert left == 1
    assert comparisons <= max(COMPARISONS_EACH * size, FEW_COMPARISONS)


def rounds_of_a_choice(candidates: int) -> int:
    """Rounds of a choice of a split with two classes, from input to the opened index, as the holder makes it."""
    law, keys = geometric_law(Fraction(1, 100), 8), keys_from("rounds", THREE)

    def act(mesh: RecordingMesh) -> int:
        arithmetic = ReplicatedArithmetic(Sharing(roles=THREE, mesh=mesh, keys=keys[mesh.party], nonce=b""))
        arithmetic.begin(0)
        arithmetic.agree("the query", b"")
        arithmetic.announce(law, candidates)
        groups = arithmetic.input(np.full((candidates, 2), mesh.party), 30)
        arithmetic.noisy_argmax(arithmetic.majority(groups, 17), law=law, bits=29)
        return mesh._mesh.rounds

    return max(run_parties(3, act)[0])


def test_a_specialization_takes_at_most_55_rounds() -> None:
    assert rounds_of_a_choice(4_000) <= 55
    assert rounds_of_a_choice(60) <= 40
