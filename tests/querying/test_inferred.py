"""Answers from inferred tables: their noise is correlated, and the stated variance and interval include that."""

from typing import Any

import numpy as np
import pytest

from scumble.errors import InputError
from scumble.files.measured_tables import listed_tables
from scumble.files.schema_file import parse_schema
from scumble.methods.inferred_tables import InferredAxis, inferred_table, measured_vector, vectors_document
from scumble.model.counts import Floats
from scumble.model.measured_tables import NoiseKind
from scumble.model.transforms.hierarchy import Hierarchy
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.model.transforms.transform import Identity, transformed
from scumble.model.transforms.walsh import Walsh
from scumble.querying.answering import Evidence, counts_and_shares
from scumble.querying.estimates import Linear, combined, covariance
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import CellValues
from scumble.querying.parser import parse
from scumble.querying.predicates import ALL, interpret

SCHEMA = parse_schema(
    """
scumble: schema/1
attributes:
  age: {numeric: {low: 0, high: 12, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
"""
)
VALUES: Any = {"age": CellValues(attribute=SCHEMA["age"]), "sex": LeafValues(attribute=SCHEMA["sex"])}
TRUTH = np.random.default_rng(5).integers(10, 60, (12, 2))
AXES = (Hierarchy(tree=IntervalTree.balanced(12, branching=3)), Identity(size=2))
ENTRY = inferred_table(
    [
        InferredAxis(attribute=name, starts=range(each.values), transform=each)
        for name, each in zip(("age", "sex"), AXES, strict=True)
    ]
)
RATIO = 0.8
VARIANCE = 2 * RATIO / (1 - RATIO) ** 2


def laplace(draw: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return draw.geometric(1 - RATIO, shape) - draw.geometric(1 - RATIO, shape)


def evidence(draw: np.random.Generator, unit: int | None = None, **changes: Any) -> Evidence:
    exact = transformed(TRUTH, AXES)
    vector = measured_vector(exact + laplace(draw, exact.shape), VARIANCE, [{**ENTRY, **changes}])
    document = vectors_document(NoiseKind.LAPLACE, [vector])
    return Evidence(tables=listed_tables({"tables": document}, SCHEMA), values=VALUES, rows=None, public_records=unit)


@pytest.mark.parametrize(
    ("question", "records"), [("age < 7", None), ("age < 7", int(TRUTH.sum())), ("age < 5 and sex = 'f'", None)]
)
def test_intervals_cover_as_often_as_they_state(question: str, records: int | None) -> None:
    """200 releases; beyond 4.5 standard errors of either figure is an alarm."""
    draw = np.random.default_rng(11)
    where = interpret(parse(question), VALUES, question, [])
    ages, sexes = np.indices(TRUTH.shape)
    inside = ages < 7 if question == "age < 7" else (ages < 5) & (sexes == 0)
    true = float(TRUTH[inside].sum())
    errors, covered, stated = [], 0, 0.0
    for _ in range(200):
        made = evidence(draw, records)
        found = made.measured(where)
        assert found is not None
        stated = found.linear.variance
        errors.append(found.linear.value - true)
        (count, share) = counts_and_shares(made, where, ALL, ())
        assert count.low is not None and share.low is not None
        covered += float(count.low) <= true <= float(count.high or 0)
    assert abs(float(np.mean(errors))) < 4.5 * np.sqrt(stated / 200)
    assert abs(float(np.mean(np.square(errors))) / stated - 1) < 4.5 * np.sqrt(5 / 200)
    assert abs(covered / 200 - 0.95) < 4.5 * np.sqrt(0.95 * 0.05 / 200) + 0.01


def test_a_public_number_of_records_lowers_the_variance() -> None:
    where = interpret(parse("age < 7"), VALUES, "age < 7", [])
    draw = np.random.default_rng(1)
    with_noise, public = (evidence(draw, records).measured(where) for records in (None, int(TRUTH.sum())))
    assert with_noise is not None and public is not None
    assert public.linear.variance < with_noise.linear.variance


def test_marginals_keep_the_correlation() -> None:
    made = evidence(np.random.default_rng(3)).tables[0]
    summed = made.marginal(["age"])
    weights = np.arange(12.0)
    whole = Linear(tables=[made], weights={0: np.stack([weights, weights], axis=1)})
    alone = Linear(tables=[summed], weights={0: weights})
    assert whole.value == pytest.approx(alone.value)
    assert whole.variance == pytest.approx(alone.variance)
    nothing = made.marginal([])
    total = Linear(tables=[nothing], weights={0: np.ones(())})
    assert total.variance == pytest.approx(Linear(tables=[made], weights={0: np.ones((12, 2))}).variance)


def test_tables_from_one_vector_are_not_averaged_as_if_they_were_independent() -> None:
    """Two tables share the coefficients of age: the better one answers, and covariances cross tables."""
    walsh = Walsh(size=12)
    coefficients: Floats = transformed(TRUTH, (walsh, Walsh(size=2))).astype(float)
    of_age = (np.arange(16) * 2).tolist()
    table = {"attributes": ["age"], "bins": [list(range(12))], "transforms": [walsh.to_json()], "places": of_age}
    both = {**ENTRY, "transforms": [walsh.to_json(), Walsh(size=2).to_json()]}
    entry = {"measured": coefficients.ravel().tolist(), "variance": VARIANCE, "tables": [both, table]}
    document = {"format": "tables/1", "noise": "discrete Laplace", "tables": [], "inferred": [entry]}
    tables = [each.marginal(["age"]) for each in listed_tables({"tables": document}, SCHEMA)]
    estimates = [Linear(tables=tables, weights={number: (np.arange(12) < 7).astype(float)}) for number in (0, 1)]
    assert estimates[0].value == pytest.approx(float(TRUTH[:7].sum()))
    assert estimates[0].variance == pytest.approx(estimates[1].variance)
    assert covariance(*estimates) == pytest.approx(estimates[0].variance)
    assert combined(estimates).variance == pytest.approx(estimates[0].variance)
    assert estimates[0].plus(estimates[1], -1.0).variance == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "changes",
    [
        {"transforms": [{"kind": "haar"}]},
        {"transforms": [{"kind": "haar"}, {"kind": "cosine"}]},
        {"transforms": [{"kind": "hierarchy", "children": [12, *[0] * 11]}, {"kind": "identity"}]},
        {"places": [0, 1]},
        {"places": [-1, *range(1, 34)]},
    ],
)
def test_a_document_that_contradicts_itself_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="does not describe measured tables"):
        evidence(np.random.default_rng(0), **changes)
