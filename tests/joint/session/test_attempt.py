"""Answers from a complete log: they need no other party, and a log that lacks one is found out."""

from types import SimpleNamespace
from typing import Any

import pytest
from joint_threads import THREE, Noiseless, keys_from, run_parties, same_bound

from scumble.engines.memory import MemoryEngine
from scumble.errors import ScumbleError
from scumble.files.schema_file import parse_schema
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import SecretHolder
from scumble.joint.network.mesh import Mesh
from scumble.joint.planning import joint_plan
from scumble.joint.protocol.sharing import Sharing
from scumble.joint.session.attempt import holder_from_log
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.release import CellRelease

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 4, step: 1}}
  class: {classes: ["no", "yes"]}
"""
)
PARAMETERS = DiffGen(epsilon="1", score="max", rounds=1)
AGREEMENT: Any = SimpleNamespace(bounds=same_bound(THREE, 20))


def logged_run() -> tuple[CellRelease, Any]:
    plan = joint_plan(DiffGenMethod().plan(SCHEMA, PARAMETERS), THREE, SCHEMA)
    keys = keys_from("log", THREE)
    logs = [MemoryAnswerLog() for _ in range(3)]

    def act(mesh: Mesh) -> CellRelease:
        sharing = Sharing(roles=THREE, mesh=mesh, keys=keys[mesh.party], nonce=b"log")
        engine, log = MemoryEngine.open([], SCHEMA), logs[mesh.party]
        holder = SecretHolder(
            arithmetic=Noiseless(sharing),
            engine=engine,
            plan=plan,
            rows_at_most=AGREEMENT.bounds,
            owner=mesh.party,
            log=log,
        )
        return DiffGenMethod().run(SCHEMA, PARAMETERS, holder)

    return run_parties(3, act)[0][0], logs[0]


def test_a_complete_log_gives_the_same_release_alone() -> None:
    release, log = logged_run()
    alone = DiffGenMethod().run(SCHEMA, PARAMETERS, holder_from_log(AGREEMENT, release.plan, log))
    assert alone.story == release.story
    assert alone.measured.tolist() == release.measured.tolist()


def test_a_missing_answer_is_an_error_and_not_an_empty_count() -> None:
    release, _ = logged_run()
    with pytest.raises(ScumbleError, match=r"answers\.jsonl"):
        DiffGenMethod().run(SCHEMA, PARAMETERS, holder_from_log(AGREEMENT, release.plan, MemoryAnswerLog()))
