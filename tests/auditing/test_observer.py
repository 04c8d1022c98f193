"""The observer reads the numbers about the differing record and subtracts those of the known records."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from planned_runs import run

from scumble.auditing.mechanisms import engine_of
from scumble.auditing.neighbours import Pair
from scumble.auditing.observer import Observer
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.release import CellRelease, RecordRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
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
def test_it_subtracts_the_known_records_from_the_count(coarse: bool) -> None:
    release = cells(coarse)
    seen = Observer(SCHEMA, PAIR).observe(("any",), release)
    # With so large an epsilon the noise is almost always zero, so the differing record remains.
    assert seen.shape == (1,)
    assert np.rint(seen / release.resolution).tolist() == [1]


def test_it_counts_the_published_records_that_agree_with_the_differing_one() -> None:
    counts = cells(coarse=False)
    columns = {"age": np.array([3.5, 3.0, 0.0, 3.0]), "class": np.array(["yes", "yes", "no", "no"], dtype=np.object_)}
    records = RecordRelease(method="x", parameters={}, plan=counts.plan, schema=SCHEMA, columns=columns)
    # Two records have age 3 and class yes. The sum includes the class attribute itself, which counts them again.
    assert Observer(SCHEMA, PAIR).observe(("any",), records).tolist() == [4, 2]
