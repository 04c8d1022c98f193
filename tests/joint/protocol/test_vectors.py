"""The protocol opens what an independent computation in plain integers, from all keys, says it must."""

import json
from fractions import Fraction
from typing import Any

import joint_plain_twin as plain_twin
import numpy as np
import pytest
from joint_threads import RecordingMesh, keys_from, roles_for, run_parties

from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.geometric_noise import geometric_law
from scumble.joint.protocol.sharing import Sharing

CASES: list[dict[str, Any]] = json.loads(plain_twin.VECTORS.read_text("utf-8"))
BITS = 50


def test_the_stored_vectors_are_those_of_the_twin() -> None:
    assert json.loads(json.dumps(list(plain_twin.cases()))) == CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['what']} of {case['compute']}, rate {case['rate']}")
def test_the_protocol_opens_the_vectors(case: dict[str, Any]) -> None:
    roles = roles_for(case["compute"])
    assert roles.threshold == case["threshold"]
    keys = keys_from("vectors", roles)
    law = geometric_law(Fraction(case["rate"]), case["shift"])
    assert law.bits_per_digit == case["bits_per_digit"]
    assert [hex(threshold) for threshold in law.thresholds] == case["thresholds"]

    def act(mesh: RecordingMesh) -> Any:
        sharing = Sharing(roles=roles, mesh=mesh, keys=keys[mesh.party], nonce=plain_twin.SESSION)
        arithmetic = ReplicatedArithmetic(sharing)
        arithmetic.begin(case["step"])
        own = np.array(case["values"][str(mesh.party)])
        if case["what"] == "counts":
            return arithmetic.noisy_open(arithmetic.input(own, BITS), law=law, bits=BITS).tolist()
        if case["what"] == "message":
            return arithmetic.input(own, BITS)
        arithmetic.announce(law, len(case["scores"]))
        if case["what"] == "majority":
            scores = arithmetic.majority(arithmetic.input(own.reshape(-1, 2), BITS), 20)
        else:
            scores = arithmetic.absolute(arithmetic.input(own, BITS), 20)
        return arithmetic.noisy_argmax(scores, law=law, bits=BITS)

    answers, meshes = run_parties(roles.parties, act)
    if case["what"] == "message":
        assert bytes.fromhex(case["answer"]) in [message for _, message in meshes[case["dealer"]].sent]
    else:
        assert all(answer == case["answer"] for answer in answers)


def test_a_changed_key_changes_the_answers() -> None:
    """The vectors have teeth: other random bits of one component give other counts."""
    case = next(case for case in CASES if case["what"] == "counts")
    roles, law = roles_for(3), geometric_law(Fraction(case["rate"]), case["shift"])
    keys = keys_from("other keys", roles)

    def act(mesh: RecordingMesh) -> Any:
        sharing = Sharing(roles=roles, mesh=mesh, keys=keys[mesh.party], nonce=plain_twin.SESSION)
        arithmetic = ReplicatedArithmetic(sharing)
        arithmetic.begin(case["step"])
        values = arithmetic.input(np.array(case["values"][str(mesh.party)]), BITS)
        return arithmetic.noisy_open(values, law=law, bits=BITS).tolist()

    assert run_parties(3, act)[0][0] != case["answer"]
