"""Random queries: what they ask, and their answers against rows counted one by one."""

from decimal import Decimal
from random import Random

import numpy as np
import pytest

from scumble.mining.fidelity.workload import SMALLEST_SHARE, CheckedQuery, RandomQuery, random_queries
from scumble.model.grid import Grid
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

JOBS = Tree.nested({"Any": {"White": {"Engineer": None, "Lawyer": None}, "Blue": {"Dancer": None, "Writer": None}}})
AGES = Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(1), missing="?")


def schema_of(ages: Grid, jobs: Tree) -> Schema:
    return Schema(
        attributes=(
            Attribute(name="age", domain=ages, outside=Outside.CLAMP, missing="?"),
            Attribute(name="job", domain=jobs, outside=Outside.CLAMP),
            Attribute(name="size", domain=Ordered.of(["S", "M", "L"]), outside=Outside.CLAMP),
        )
    )


PUBLIC = schema_of(AGES, JOBS)


def drawn(number: int) -> list[RandomQuery]:
    return random_queries(PUBLIC, number, Random(1).randrange)


def test_queries_are_on_one_two_and_three_attributes_and_never_empty() -> None:
    queries = drawn(60)
    assert [len(query.conditions) for query in queries] == [1, 2, 3] * 20
    for query in queries:
        for name, accepted in query.conditions.items():
            assert accepted.any() and len(accepted) == PUBLIC[name].domain.size
            assert name in query.words
        if "age" in query.conditions:
            assert not query.conditions["age"][-1], "an interval of numbers does not contain missing ones"
            codes = np.flatnonzero(query.conditions["age"])
            assert codes[-1] - codes[0] + 1 == len(codes)
    assert [query.words for query in drawn(60)] == [query.words for query in queries], (
        "the same draws, the same queries"
    )


def test_answers_are_shares_of_rows_counted_one_by_one() -> None:
    draw = np.random.default_rng(1)
    rows = {name: draw.integers(0, PUBLIC[name].domain.size, 200) for name in PUBLIC.names}
    weights = draw.integers(0, 4, 200).astype(np.float64)
    for query in drawn(30):
        expected = sum(
            weights[row]
            for row in range(200)
            if all(accepted[rows[name][row]] for name, accepted in query.conditions.items())
        )
        assert query.share(rows, PUBLIC, PUBLIC, weights) == pytest.approx(expected / weights.sum())
        assert query.share(rows, PUBLIC, PUBLIC, np.zeros(200)) == 0


def test_a_generalized_value_counts_evenly() -> None:
    """[0, 40) has ten of forty ages below 10, and Blue has one of two jobs."""
    coarse = schema_of(
        Grid(edges=tuple(map(Decimal, (0, 40, 100))), missing="?"),
        JOBS.truncate([JOBS.node("White"), JOBS.node("Blue")]),
    )
    rows = {"age": np.array([0, 1]), "job": np.array([1, 0]), "size": np.array([0, 0])}
    conditions = {"age": np.arange(101) < 10, "job": np.array([False, False, True, False])}
    query = RandomQuery(conditions=conditions, words="")
    assert query.share(rows, coarse, PUBLIC, np.ones(2)) == pytest.approx(10 / 40 / 2 / 2)


def test_relative_errors_of_rare_answers_are_relative_to_one_in_a_thousand() -> None:
    assert CheckedQuery(words="", true=0.5, released=0.4).relative_error == pytest.approx(0.2)
    assert CheckedQuery(words="", true=0.0, released=0.002).relative_error == pytest.approx(0.002 / SMALLEST_SHARE)
