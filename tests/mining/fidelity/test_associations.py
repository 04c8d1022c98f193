"""Cramer's V against scipy, and its matrix."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from scumble.mining.fidelity.associations import associations, cramers_v
from scumble.mining.fidelity.margins import BinnedTable
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40))
def test_it_is_scipy_s_wherever_values_occur(pairs: list[tuple[int, int]]) -> None:
    counts = np.zeros((4, 3), dtype=np.int64)
    for one, other in pairs:
        counts[one, other] += 1
    found = cramers_v(counts / counts.sum())
    used = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = association(used, method="cramer") if min(used.shape) > 1 else 0.0
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_matrix_is_symmetric_and_finds_what_depends_on_what() -> None:
    names = ("a", "b", "c")
    grid = Grid.regular(low=Decimal(0), high=Decimal(2), step=Decimal(1))
    schema = Schema(attributes=tuple(Attribute(name=name, domain=grid, outside=Outside.CLAMP) for name in names))
    rows = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    table = BinnedTable.of(dict(zip(names, rows.T, strict=True)), schema, schema)
    assert associations(table, names) == pytest.approx(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    assert cramers_v(np.zeros((2, 2))) == 0
