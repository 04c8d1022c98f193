"""Risks of attackers: a worked example, and brute force over single records."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.mining.risk.measures import attackers, diversity, homogeneous_records, size_distribution
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree

SIZES = st.lists(st.integers(1, 150), max_size=20).map(lambda sizes: np.array(sizes, dtype=np.int64))
ILL = Attribute(name="ill", domain=Tree.flat(["flu", "cold", "none"]), outside=Outside.DROP)


def test_groups_of_one_two_and_seven() -> None:
    """Ten records: the highest risk is that of the single one, and three groups give an average of 3/10."""
    found = attackers(np.array([1, 2, 7]), threshold=0.2, population=None)
    assert found["prosecutor"] == {"highest": 1.0, "average": 0.3, "records_at_risk": 0.3}
    assert found["journalist"] == {"highest": 1.0, "average": 0.3, "records_at_risk": 0.3, "basis": "table"}
    assert found["marketer"] == 0.3


@given(sizes=SIZES, threshold=st.sampled_from([0.05, 0.2, 0.5, 1.0]))
@settings(max_examples=100)
def test_risks_are_those_of_single_records(sizes: np.ndarray, threshold: float) -> None:
    each = [1 / size for size in sizes.tolist() for _ in range(size)]
    found = attackers(sizes, threshold=threshold, population=None)["prosecutor"]
    assert found["highest"] == max(each, default=0.0)
    np.testing.assert_allclose(found["average"], np.mean(each) if each else 0.0)
    np.testing.assert_allclose(found["records_at_risk"], np.mean([risk > threshold for risk in each]) if each else 0.0)


@given(sizes=SIZES)
def test_every_group_is_in_one_band(sizes: np.ndarray) -> None:
    bands = size_distribution(sizes)
    assert sum(band["groups"] for band in bands) == len(sizes)
    assert sum(band["records"] for band in bands) == sizes.sum()


def test_diversity_is_that_of_the_worst_group() -> None:
    counts = np.array([[2, 2, 0], [3, 0, 0], [1, 1, 1]])
    found = diversity(counts, ILL)
    assert found["distinct_l"] == 1
    np.testing.assert_allclose(found["entropy_l"], 1.0)
    np.testing.assert_allclose(found["t"], 1 - 6 / 10)
    assert homogeneous_records(counts) == 0.3
    assert diversity(np.zeros((0, 3), dtype=np.int64), ILL)["distinct_l"] == 0
