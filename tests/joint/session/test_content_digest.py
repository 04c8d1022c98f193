"""The digest of a release covers every field, bit by bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from joint_threads import THREE

from scumble.auditing.laws.queries import engine_of
from scumble.files.schema_file import parse_schema
from scumble.joint.planning import joint_plan
from scumble.joint.session.content_digest import content_digest
from scumble.joint.simulated import simulated_holder
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.histograms.method import Histograms, HistogramsMethod
from scumble.model.release import CellRelease, RecordRelease
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


def released(method: Any, parameters: Any, seed: int = 1) -> Any:
    plan = joint_plan(method.plan(SCHEMA, parameters), THREE, SCHEMA)
    rows = [(age % 8, age % 2) for age in range(40)]
    engine = engine_of(SCHEMA, rows)
    holder = simulated_holder(engine=engine, plan=plan, rows_at_most=100, draw=simulation(seed))
    return method.run(SCHEMA, parameters, holder)


def test_every_change_of_cells_changes_the_digest() -> None:
    made = released(DiffGenMethod(), DiffGen(epsilon="1", rounds=2, score="accuracy"))
    assert isinstance(made, CellRelease)
    digest = content_digest(made)
    assert digest == content_digest(released(DiffGenMethod(), DiffGen(epsilon="1", rounds=2, score="accuracy")))
    one = np.zeros_like(made.measured)
    one.ravel()[-1] = 1
    for change in (
        {"measured": made.measured + one},
        {"count": made.count + one},
        {"variance": float(np.nextafter(made.variance, 9e9))},
        {"story": (*made.story, "x")},
        {"resolution": made.resolution + 1},
    ):
        assert content_digest(replace(made, **change)) != digest


def test_every_change_of_records_changes_the_digest() -> None:
    made = released(HistogramsMethod(), Histograms(epsilon="1"))
    assert isinstance(made, RecordRelease)
    assert content_digest(made) == content_digest(released(HistogramsMethod(), Histograms(epsilon="1")))
    column = np.array(made.columns["age"])
    column[0] = (column[0] + 1) % 8
    assert content_digest(replace(made, columns={**made.columns, "age": column})) != content_digest(made)


@pytest.mark.parametrize(
    ("one", "other"), [(0.1, 0.1 + 1e-19), ([1, 2], (1, 2)), ({"a": b"x"}, {"a": b"x"}), (np.int64(3), 3)]
)
def test_equal_values_have_equal_digests(one: object, other: object) -> None:
    assert content_digest(one) == content_digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.1, 0.1 + 1e-16), ([1, 2], [12]), ("1", 1), ([[1], [2]], [[1, 2]]), ({"a": 1, "b": 2}, {"b": 2, "a": 1})],
)
def test_different_values_have_different_digests(one: object, other: object) -> None:
    assert content_digest(one) != content_digest(other)
