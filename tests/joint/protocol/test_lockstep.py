"""Circuits in the background share the rounds of others, and get the same results as alone."""

import numpy as np
import pytest
from joint_threads import SUBMITTING, THREE, RecordingMesh, keys_from, roles_id, run_parties

from scumble.joint.protocol.circuits import bit_planes, carry_out
from scumble.joint.protocol.lockstep import Background, Circuit, run
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Sharing


@pytest.mark.parametrize("roles", [THREE, SUBMITTING], ids=roles_id)
@pytest.mark.parametrize("planes", [2, 9, 40], ids=["shorter", "same", "longer"])
def test_a_circuit_in_the_background_costs_no_round_of_its_own(roles: Roles, planes: int) -> None:
    draw = np.random.default_rng(planes)
    numbers = draw.integers(0, 2**9, (2, 16), dtype=np.uint64), draw.integers(0, 2**planes, (2, 5), dtype=np.uint64)
    keys = keys_from("lockstep", roles)

    def act(mesh: RecordingMesh) -> tuple[list[list[int]], int, int]:
        sharing = Sharing(roles=roles, mesh=mesh, keys=keys[mesh.party], nonce=b"")
        sharing.begin(0)
        dealer = roles.owners[0]

        def shared(values: np.ndarray, width: int) -> np.ndarray:
            own = bit_planes(values, width)
            return sharing.input(own if mesh.party == dealer else np.zeros_like(own))

        def carries(pair: np.ndarray, width: int) -> Circuit:
            left, right = (shared(each, width) for each in pair)
            generate = yield left, right
            return (yield from carry_out(generate[:, ::-1], (left ^ right)[:, :0:-1]))

        alone = [run(sharing, carries(pair, width)) for pair, width in zip(numbers, (9, planes), strict=True)]
        background = Background(carries(numbers[1], planes))
        first = carries(numbers[0], 9)
        before = mesh._mesh.rounds
        together = run(sharing, first, background)
        middle = mesh._mesh.rounds
        beside = background.finish(sharing)
        after = mesh._mesh.rounds
        opened = [sharing.open(each).tolist() for each in (*alone, together, beside)]
        return opened, middle - before, after - middle

    results, _ = run_parties(roles.parties, act)
    expected = [
        np.packbits((pair.sum(axis=0) >> width).astype(np.uint8), bitorder="little").tolist()
        for pair, width in zip(numbers, (9, planes), strict=True)
    ]
    for party, (opened, rounds, more) in enumerate(results):
        assert opened == expected * 2
        if party in roles.compute:
            assert rounds == 2 + 1 + 4, "two inputs, the generated carries, and a tree over nine planes"
            assert more == max(0, 1 + (planes - 1).bit_length() - 5), "what the longer circuit has left"
