"""Diversity of groups: worked examples of the literature, and the earth mover's distance by linear programming."""

import numpy as np
from anonymity_twins import entropy_values, moved_earth
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from strategies import trees

from scumble.files.schema_file import parse_schema
from scumble.model.diversity import MoveCosts, distinct_values, effective_values
from scumble.model.schema import Attribute, Outside

SALARIES = parse_schema(
    """
scumble: schema/1
attributes:
  salary: {numeric: {low: 3000, high: 12000, step: 1000}}
"""
)


def test_salaries_of_li_et_al() -> None:
    """Their example of nine salaries from 3000 to 11000: {3000, 4000, 5000} is at a distance of 0.375 from all nine,
    {6000, 8000, 11000} at 0.167."""
    counts = np.zeros((3, 9), dtype=np.int64)
    counts[0, [0, 1, 2]] = 1
    counts[1, [3, 5, 8]] = 1
    counts[2, [4, 6, 7]] = 1
    distances = MoveCosts.of(SALARIES["salary"]).distances(counts)
    np.testing.assert_allclose(distances[:2], [0.375, 1 / 6], atol=1e-12)


def test_entropy_and_distinct_values() -> None:
    counts = np.array([[2, 2, 0], [5, 0, 0], [1, 2, 3]])
    assert distinct_values(counts).tolist() == [2, 1, 3]
    expected = [entropy_values([value for value, n in enumerate(line) for _ in range(n)]) for line in counts.tolist()]
    np.testing.assert_allclose(effective_values(counts), expected)


@given(tree=trees(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_distance_in_a_taxonomy_is_the_earth_movers_distance(tree: object, data: st.DataObject) -> None:
    attribute = Attribute(name="x", domain=tree, outside=Outside.DROP)  # type: ignore[arg-type]
    _check(attribute, data)


@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_the_distance_of_numbers_is_the_earth_movers_distance(data: st.DataObject) -> None:
    _check(SALARIES["salary"], data)


def _check(attribute: Attribute, data: st.DataObject) -> None:
    size = attribute.domain.size
    counts = data.draw(arrays(np.int64, (2, size), elements=st.integers(0, 5)))
    counts[:, 0] += counts.sum(axis=1) == 0
    overall = counts.sum(axis=0) / counts.sum()
    expected = [moved_earth(attribute.domain, line / line.sum(), overall) for line in counts]
    np.testing.assert_allclose(MoveCosts.of(attribute).distances(counts), expected, atol=1e-7)
