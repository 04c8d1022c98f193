"""The bounds on the numbers that get noise: every part of the detail stays within its own, for any paid answers."""

from decimal import Decimal
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scumble.auditing.laws.cases import small_schemas
from scumble.methods.diffgen.detail.binning import merged
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.number_bounds import _merged, numbers_of_cells, numbers_of_detail
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.grid import Grid

SCHEMA = small_schemas()[0]


@given(
    size=st.integers(1, 300),
    most=st.integers(2, 20),
    seed=st.integers(0, 2**32),
)
def test_values_are_merged_into_no_more_bins_than_stated(size: int, most: int, seed: int) -> None:
    domain = Grid(edges=tuple(map(Decimal, range(size + 1))), missing="?" if seed % 2 else None)
    shares = np.random.default_rng(seed).choice([1e-12, 1e-9, 0.01, 1.0, 50.0], domain.size)
    assert merged(domain, most, shares / shares.sum()).max() + 1 <= max(_merged(most), most)


def test_a_plan_with_detail_states_the_sum_and_one_without_leaves_it_to_the_cells() -> None:
    plan = DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", detail="yes", score="accuracy"))
    splits = numbers_of_cells(SCHEMA, rounds=4, cells=plan.cells_at_most)
    assert plan.numbers_at_most == splits + numbers_of_detail(SCHEMA)
    assert DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", detail="no")).numbers_at_most is None


def test_the_bound_contains_every_table_of_every_attribute_in_all_groups() -> None:
    classes = len(SCHEMA.classes)
    largest = prod((2 * classes, classes, sum(each.domain.size for each in SCHEMA.predictors)))
    assert numbers_of_detail(SCHEMA) > largest
