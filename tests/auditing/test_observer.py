"""The adversary that knows all records but one looks at the right numbers of a release."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from planned_runs import run

from scumble.auditing.mechanisms import engine_of
from scumble.auditing.neighbours import Pair
from scumble.auditing.observer import Observer
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.model.guarantee import Unit
from scumble.model.release import CellRelease, RecordRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Grid, Tree
from scumble.privacy.noise import PaidNoise

SCHEMA = Schema(
    unit=Unit.ADD_REMOVE,
    target="class",
    attributes=(
        Attribute(
            name="age", domain=Grid.regular(low=Decimal(0), high=Decimal(4), step=Decimal(1)), outside=Outside.CLAMP
        ),
        Attribute(name="class", domain=Tree.flat(["no", "yes"]), outside=Outside.DROP),
    ),
)
SHARED = ((0, 0), (3, 1), (3, 1))
PAIR = Pair(first=SHARED, second=(*SHARED, (3, 1)), why="one more")


def cells(coarse: bool) -> CellRelease:
    method = DiffGenMethod()
    parameters = method.parameters(epsilon=Fraction(1000), rounds=1 if coarse else 8, detail="no")
    release = run(method, SCHEMA, parameters, engine_of(SCHEMA, PAIR.second), PaidNoise())
    assert isinstance(release, CellRelease)
    return release


@pytest.mark.parametrize("coarse", [True, False])
def test_it_sees_the_count_of_the_record_without_the_others(coarse: bool) -> None:
    release = cells(coarse)
    seen = Observer(SCHEMA, PAIR).see(("any",), release)
    # Epsilon is so large that noise hardly ever moves a count: what is left is the record that differs.
    assert seen.shape == (1,)
    assert np.rint(seen / release.resolution).tolist() == [1]


def test_it_counts_the_published_records_that_are_like_the_one_in_question() -> None:
    counts = cells(coarse=False)
    columns = {"age": np.array([3.5, 3.0, 0.0, 3.0]), "class": np.array(["yes", "yes", "no", "no"], dtype=np.object_)}
    records = RecordRelease(method="x", parameters={}, plan=counts.plan, schema=SCHEMA, columns=columns)
    # Of age 3 and class yes there are two; the class itself, crossed with itself, counts its two once more.
    assert Observer(SCHEMA, PAIR).see(("any",), records).tolist() == [4, 2]
