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


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=40))
def test_it_is_scipy_s_for_many_records_and_smaller_for_few(pairs: list[tuple[int, int]]) -> None:
    counts = np.zeros((4, 3), dtype=np.int64)
    for one, other in pairs:
        counts[one, other] += 1
    used = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = association(used, method="cramer") if min(used.shape) > 1 else 0.0
    assert cramers_v(counts / counts.sum(), 1e15) == pytest.approx(expected, abs=1e-6)
    assert 0 <= cramers_v(counts / counts.sum(), len(pairs)) <= 1


def test_the_correction_on_a_worked_example() -> None:
    """Of 100 records, chi-square over n is 0.2 ** 2 = 0.04; less 1 / 99, over 2 - 1 / 99 - 1."""
    margin = np.array([[0.3, 0.2], [0.2, 0.3]])
    assert cramers_v(margin, 100) == pytest.approx(((0.04 - 1 / 99) / (1 - 1 / 99)) ** 0.5)


def test_independent_attributes_of_few_records_are_not_associated() -> None:
    """Without the correction, V is about 0.18 here."""
    draw = np.random.default_rng(1)
    tables = [np.bincount(draw.integers(0, 100, 300), minlength=100).reshape(10, 10) / 300 for _ in range(20)]
    assert np.mean([cramers_v(table, 300) for table in tables]) < 0.1
    assert np.mean([cramers_v(table, 1e15) for table in tables]) > 0.15


def test_the_matrix_is_symmetric_and_finds_what_depends_on_what() -> None:
    names = ("a", "b", "c")
    grid = Grid.regular(low=Decimal(0), high=Decimal(2), step=Decimal(1))
    schema = Schema(attributes=tuple(Attribute(name=name, domain=grid, outside=Outside.CLAMP) for name in names))
    rows = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 500)
    table = BinnedTable.of(dict(zip(names, rows.T, strict=True)), schema, schema)
    assert associations(table, names) == pytest.approx(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]), abs=1e-3)
    assert cramers_v(np.zeros((2, 2)), 0) == 0
