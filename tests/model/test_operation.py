"""What queries declare that they need, and what plans list, for every method."""

from typing import Any

import pytest

from scumble.auditing.laws.cases import small_schemas
from scumble.methods.diffgen.detail.measure import DETAIL_NEEDS
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.hay.method import Hay, HayMethod
from scumble.methods.histograms.method import Histograms, HistogramsMethod
from scumble.model.operation import COMPARED, ROWS, SUMS, Operation
from scumble.privacy.query import RowMeasurement

SCHEMA = small_schemas()[0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, COMPARED | {Operation.DIVISION}),
        ({"detail": "yes", "score": "accuracy"}, COMPARED),
        ({"score": "max"}, COMPARED),
        ({"leaves": True}, SUMS),
        ({"selection": "published"}, COMPARED | {Operation.EXPONENTIAL}),
        ({"selection": "published", "score": "infogain"}, COMPARED | {Operation.EXPONENTIAL, Operation.DIVISION}),
    ],
)
def test_a_plan_lists_what_its_queries_need(given: dict[str, Any], expected: frozenset[Operation]) -> None:
    plan = DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", **given))
    assert set(plan.needs) == expected
    assert all(text for operation, text in plan.needs.items() if operation not in COMPARED), "an alternative is named"


def test_gaussian_noise_is_listed_where_there_is_a_delta() -> None:
    for method, parameters in ((HistogramsMethod(), Histograms), (HayMethod(), Hay)):
        assert set(method.plan(SCHEMA, parameters(epsilon="1")).needs) == SUMS
        assert Operation.GAUSSIAN in method.plan(SCHEMA, parameters(epsilon="1", delta="1e-9")).needs


def test_a_query_needs_everything_unless_it_says_otherwise() -> None:
    assert RowMeasurement.needs == ROWS
    assert DETAIL_NEEDS == COMPARED
