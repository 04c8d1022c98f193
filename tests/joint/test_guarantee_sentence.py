"""The sentence of a joint guarantee names its assumptions; folders with the earlier sentence still verify."""

import json
from pathlib import Path

import pytest
from joint_threads import THREE

from scumble.auditing.laws.queries import engine_of
from scumble.errors import CheckError
from scumble.files.release_folder import manifest_hash, manifest_text, write_release
from scumble.files.schema_file import parse_schema
from scumble.files.verify import verify_folder
from scumble.joint.planning import joint_plan
from scumble.joint.simulated import simulated_holder
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.guarantee import JointDP
from scumble.privacy.noise import simulation

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  class: {classes: [x, y]}
"""
)


def restate(folder: Path, sentence: str) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    manifest["guarantee"]["sentence"] = sentence
    manifest["seal"] = manifest_hash(manifest)
    (folder / "release.json").write_text(manifest_text(manifest))


def test_earlier_folders_verify_and_other_sentences_do_not(tmp_path: Path) -> None:
    parameters = DiffGen(epsilon="1", rounds=1, score="accuracy")
    plan = joint_plan(DiffGenMethod().plan(SCHEMA, parameters), THREE, SCHEMA)
    engine = engine_of(SCHEMA, [(age % 8, age % 2) for age in range(40)])
    holder = simulated_holder(engine=engine, plan=plan, rows_at_most=100, draw=simulation(1))
    write_release(DiffGenMethod().run(SCHEMA, parameters, holder), tmp_path, {})
    guarantee = plan.guarantee
    assert isinstance(guarantee, JointDP)
    for words in ("semi-honest", "computational assumptions", "at several owners, the epsilons add up"):
        assert words in guarantee.sentence
    verify_folder(tmp_path)
    (earlier,) = guarantee.earlier_sentences
    assert earlier.endswith("against any 1 of the computing parties that follow the protocol.")
    restate(tmp_path, earlier)
    verify_folder(tmp_path)
    restate(tmp_path, guarantee.sentence.replace("semi-honest", "perfect"))
    with pytest.raises(CheckError, match="sentence"):
        verify_folder(tmp_path)
