"""The method `hay`: the error of ranges as the paper states it, what is measured, and what is published."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import coded_rows, schemas

import scumble
from scumble.auditing.laws.queries import engine_of, exact_answer
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.hay.method import Hay, HayMethod, tree_of
from scumble.methods.hay.queries import ClassHierarchies
from scumble.model.counts import Floats, Integers
from scumble.model.release import RecordRelease
from scumble.model.schema import Schema
from scumble.model.transforms.hierarchy import Hierarchy
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.privacy.noise import PaidNoise

METHOD = HayMethod()
PAPER_SIZE = 2**16
"""The domains of the paper's experiments have 65,536 values."""
DATES = parse_schema(
    """
scumble: schema/1
attributes:
  day: {date: {from: 2024-01-01, to: 2025-01-01, step: day}}
  ward: {taxonomy: {Any: {North: {n1: , n2: }, South: {s1: , s2: , s3: }}}}
"""
)


class Listening:
    """Adds no noise, and records the sensitivity and epsilon of each request."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, Fraction]] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        self.requests.append((sensitivity, epsilon))
        return values

    def gaussian(self, *_: object, **__: object) -> Integers:
        raise AssertionError("no delta was given")

    def select(self, *_: object, **__: object) -> int:
        raise AssertionError("hay chooses nothing")


def ranges(size: int, width: int, number: int) -> Floats:
    """Ranges of one width at random places, as columns of ones and zeros."""
    lows = np.random.default_rng(width).integers(0, size - width + 1, number)
    places = np.arange(size)[:, np.newaxis]
    return ((places >= lows) & (places < lows + width)).astype(float)


def flat_variance(width: int) -> float:
    """In units of the variance of Laplace noise of scale 1 / eps: a sum of as many counts."""
    return float(width)


def consistent_variances(branching: int, width: int) -> Floats:
    """In the same units: the noise of each count has the scale of as many levels as the tree has."""
    hierarchy = Hierarchy(tree=IntervalTree.balanced(PAPER_SIZE, branching=branching))
    weights = hierarchy.adjoint(ranges(PAPER_SIZE, width, 10))
    return np.asarray((weights**2).sum(axis=0) * hierarchy.sensitivity**2)


@pytest.mark.parametrize("branching", [2, 16])
@pytest.mark.parametrize("width", [2**13, 2**14, 2**15])
def test_consistency_at_least_halves_the_squared_error_of_large_ranges(branching: int, width: int) -> None:
    """Hay et al. 2010, section 5.2: of large ranges, against the flat histogram, exactly by the variances of both."""
    assert consistent_variances(branching, width).max() <= flat_variance(width) / 2


def test_small_ranges_are_worse_than_in_a_flat_histogram() -> None:
    """The price of all levels, which the paper also reports."""
    assert consistent_variances(2, 1).min() > 10 * flat_variance(1)


def test_the_range_that_gains_most_from_consistency() -> None:
    """Hay et al. 2010, theorem 4 (iv): all values but the first and the last; the error of the consistent estimate is
    at most 3 / (2 (l - 1)(k - 1) - k) of that of the sum of the fewest nodes."""
    for branching, levels in ((2, 12), (4, 6)):
        size = branching ** (levels - 1)
        hierarchy = Hierarchy(tree=IntervalTree.balanced(size, branching=branching))
        inside = np.ones(size)
        inside[[0, -1]] = 0
        nodes = 2 * (levels - 1) * (branching - 1) - branching
        bound = 3 / (2 * (levels - 1) * (branching - 1) - branching)
        assert (hierarchy.adjoint(inside) ** 2).sum() <= bound * nodes + 1e-9


def test_the_error_of_measured_ranges_is_the_stated_variance() -> None:
    """With the shipped noise: the mean of 600 squared errors, with a false alarm beyond 4.5 standard errors."""
    hierarchy = Hierarchy(tree=IntervalTree.balanced(100, branching=3))
    inside = (np.arange(100) >= 20) & (np.arange(100) < 77)
    weights = hierarchy.adjoint(inside.astype(float))
    noise = PaidNoise().laplace(
        np.zeros((hierarchy.coefficients, 600), dtype=np.int64).ravel(), sensitivity=5, epsilon=Fraction(1)
    )
    errors = hierarchy.reconstruct(noise.reshape(hierarchy.coefficients, 600).astype(float))[inside].sum(axis=0)
    ratio = float((errors**2).mean() / ((weights**2).sum() * 2 * 25))
    assert 1 - 4.5 * np.sqrt(3 / 600) < ratio < 1 + 4.5 * np.sqrt(3 / 600)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), schema=schemas(), branching=st.integers(2, 4))
def test_one_measurement_of_all_trees_costs_the_whole_budget(
    data: st.DataObject, schema: Schema, branching: int
) -> None:
    rows = data.draw(coded_rows(schema))
    noise = Listening()
    made = run(METHOD, schema, Hay(epsilon="1/3", branching=branching), engine_of(schema, rows), noise)
    assert isinstance(made, RecordRelease)
    hierarchies = tuple(Hierarchy(tree=tree_of(attribute, branching)) for attribute in schema.predictors)
    query = ClassHierarchies(schema=schema, hierarchies=hierarchies)
    assert noise.requests == [(query.sensitivity(schema.unit).bound, Fraction(1, 3))]
    assert made.records == len(rows)
    measured = [number for vector in made.documents["tables"]["inferred"] for number in vector["measured"]]
    assert measured == exact_answer(query, schema, rows).tolist()


def test_dates_are_cut_into_intervals_and_categories_by_their_taxonomy() -> None:
    assert tree_of(DATES["day"], 4).children[:5] == (4, 4, 4, 4, 4)
    assert tree_of(DATES["ward"], 4).children == (2, 2, 3, 0, 0, 0, 0, 0)


def test_ranges_of_dates_are_answered_with_their_error() -> None:
    draw = np.random.default_rng(2)
    days = draw.integers(0, 366, 4000)
    rows = [(int(day), int(day) % 5) for day in days]
    made = run(METHOD, DATES, Hay(epsilon="1", branching=4), engine_of(DATES, rows), PaidNoise())
    (count, _) = scumble.query(made, "day >= 2024-02-01 and day < 2024-11-01").estimates
    true = int(((days >= 31) & (days < 305)).sum())
    assert (count.source, count.tables) == ("measured", ("day",))
    assert count.low is not None and count.high is not None
    width = float(count.high) - float(count.low)
    assert abs(float(count.value or 0) - true) < 2 * width
    flat = 2 * 1.96 * np.sqrt(2 * 2**2 * 274)  # the interval of a flat histogram of both attributes
    assert width < flat
    (north, _) = scumble.query(made, "ward = 'North'").estimates
    assert abs(float(north.value or 0) - int((days % 5 < 2).sum())) < 100


def test_too_many_values_are_refused_while_planning() -> None:
    schema = parse_schema("scumble: schema/1\nattributes:\n  a: {numeric: {low: 0, high: 5000000, step: 1}}\n")
    with pytest.raises(InputError, match=r"5,000,000 values by class, and hay allows 2,000,000"):
        METHOD.plan(schema, Hay(epsilon="1"))
