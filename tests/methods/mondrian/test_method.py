"""Mondrian: its readable twin, k-anonymity and its conditions on every table, the paper's example, bad input."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from anonymity_twins import cover, entropy_values, moved_earth, twin_mondrian
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, schemas

from scumble.auditing.laws.queries import engine_of
from scumble.errors import BudgetError, InputError
from scumble.files.kinds.generalized import GENERALIZED
from scumble.files.schema_file import parse_schema
from scumble.methods.mondrian.method import Mondrian, MondrianMethod
from scumble.methods.mondrian.partition import GroupCondition, SensitiveRule, covering_range, partition
from scumble.model.diversity import MoveCosts
from scumble.model.guarantee import KAnonymity, LDiversity, PureDP, TCloseness, Unit
from scumble.model.plan import WARNING, Plan, Spend
from scumble.model.release import GeneralizedRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, simulation

PATIENTS = parse_schema(
    """
scumble: schema/1
target: disease
attributes:
  sex: {taxonomy: {Person: {Male: , Female: }}}
  age: {numeric: {low: 20, high: 30, step: 1}}
  zip: {numeric: {low: 53710, high: 53713, step: 1}}
  disease: {classes: [Flu, Hepatitis, Bronchitis, Broken Arm, AIDS, Hang Nail]}
"""
)
ROWS = [(0, 5, 1, 0), (1, 5, 2, 1), (0, 6, 1, 2), (0, 7, 0, 3), (1, 7, 2, 4), (0, 8, 1, 5)]
MIXED = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 12, step: 1}, missing: "?"}
  pain: {ordered: [none, mild, severe], missing: unknown}
  job: {taxonomy: {Any: {Worker: {Smith: , Baker: {Bread: , Cake: }}, Clerk: {Bank: }, None: }}}
  class: {taxonomy: {Ill: {Lung: {Flu: , Asthma: }, Heart: , Skin: {Acne: , Burn: , Scar: }}}}
"""
)
DOMAINS = [attribute.domain for attribute in MIXED.attributes]
ROWS_OF_MIXED = st.lists(st.tuples(*(st.integers(0, domain.size - 1) for domain in DOMAINS)), min_size=0, max_size=40)


def run(schema: Schema, rows: list[tuple[int, ...]], **parameters: Any) -> GeneralizedRelease:
    settings_ = Mondrian(**parameters)
    method = MondrianMethod()
    plan = method.plan(schema, settings_)
    return method.run(schema, settings_, CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=plan))


def test_the_patients_of_the_paper() -> None:
    """Six patients as in LeFevre et al. and their strict 2-anonymous version, not compared with the printed figure."""
    groups = GENERALIZED.table(run(PATIENTS, ROWS, k=2), "table", counts=False).to_pylist()
    found = Counter((each["sex"], each["age"], each["zip"], each["disease"]) for each in groups)
    young, old, women = (
        ("Male", "[25,27)", "[53711,53712)"),
        ("Male", "[27,29)", "[53710,53712)"),
        (
            "Female",
            "[25,28)",
            "[53712,53713)",
        ),
    )
    assert found == Counter(
        [
            (*young, "Flu"),
            (*young, "Bronchitis"),
            (*old, "Broken Arm"),
            (*old, "Hang Nail"),
            (*women, "Hepatitis"),
            (*women, "AIDS"),
        ]
    )


@given(rows=ROWS_OF_MIXED, k=st.integers(2, 6), relaxed=st.booleans())
@settings(max_examples=150)
def test_the_partition_equals_its_twin(rows: list[tuple[int, ...]], k: int, relaxed: bool) -> None:
    rows.sort()
    quasi = [row[:3] for row in rows]
    columns = [np.array([row[side] for row in quasi], dtype=np.int64) for side in range(3)]
    found = partition(columns, DOMAINS[:3], GroupCondition(k=k), relaxed=relaxed)
    expected = twin_mondrian(quasi, DOMAINS[:3], k, relaxed=relaxed)
    assert _as_sets(found) == {frozenset(group) for group in expected}


@pytest.mark.parametrize("rule", [SensitiveRule.DISTINCT, SensitiveRule.ENTROPY, SensitiveRule.CLOSENESS])
@given(rows=ROWS_OF_MIXED, limit=st.sampled_from([0.1, 0.25, 0.5]))
@settings(max_examples=50)
def test_the_conditions_equal_their_twins(rule: SensitiveRule, rows: list[tuple[int, ...]], limit: float) -> None:
    limit = limit if rule is SensitiveRule.CLOSENESS else 1 + 4 * limit
    sensitive, everybody = DOMAINS[3], [row[3] for row in rows]

    def shares(numbers: list[int]) -> list[float]:
        counts = Counter(everybody[number] for number in numbers)
        return [counts[value] / max(len(numbers), 1) for value in range(sensitive.size)]

    def allowed(group: list[int]) -> bool:
        values = [everybody[number] for number in group]
        if rule is SensitiveRule.DISTINCT:
            return len(set(values)) >= limit - 1e-9
        if rule is SensitiveRule.ENTROPY:
            return log(entropy_values(values)) >= log(limit) - 1e-9
        return moved_earth(sensitive, shares(group), shares(list(range(len(rows))))) <= limit + 1e-9

    condition = GroupCondition(
        k=2, rule=rule, limit=limit, values=sensitive.size, costs=MoveCosts.of(MIXED.attributes[3])
    )
    columns = [np.array([row[side] for row in rows], dtype=np.int64) for side in range(4)]
    found = partition(columns[:3], DOMAINS[:3], condition, sensitive=columns[3])
    expected = twin_mondrian([row[:3] for row in rows], DOMAINS[:3], 2, allowed=allowed)
    assert _as_sets(found) == {frozenset(group) for group in expected}


def _as_sets(labels: Any) -> set[frozenset[int]]:
    if labels is None:
        return set()
    return {frozenset(np.flatnonzero(labels == group).tolist()) for group in np.unique(labels)}


@given(data=st.data(), k=st.integers(2, 5), relaxed=st.booleans())
@settings(max_examples=100)
def test_every_table_is_k_anonymous_and_its_records_lie_in_their_values(
    data: st.DataObject, k: int, relaxed: bool
) -> None:
    schema = replace(data.draw(schemas()), unit=Unit.ADD_REMOVE, rows=None)
    rows = data.draw(coded_rows(schema, most_rows=30))
    made = run(schema, rows, k=k, relaxed=relaxed)
    assert made.records == (len(rows) if len(rows) >= k else 0)
    assert not len(made.group_sizes) or made.group_sizes.min() >= k
    assert not list(GENERALIZED.faults(made))
    _check_boxes(schema, rows, made)


def _check_boxes(schema: Schema, rows: list[tuple[int, ...]], made: GeneralizedRelease) -> None:
    """Without groups that overlap, each record would be counted where it lies; so totals of each box are at least its
    records, and every single attribute has the true class totals."""
    if not made.records:
        return
    order = [list(schema.names).index(attribute.name) for attribute in schema.predictors]
    for box in made.boxes:
        inside = [
            row for row in rows if all(low <= row[place] < high for place, (low, high) in zip(order, box, strict=True))
        ]
        assert inside, "a published value without any record in it"
    target = None if schema.target is None else list(schema.names).index(schema.target)
    classes = Counter(0 if target is None else row[target] for row in rows)
    assert made.count.sum(axis=0).tolist() == [classes[code] for code in range(len(schema.classes))]


def test_the_order_of_rows_does_not_matter() -> None:
    random = simulation(5)
    rows = [tuple(int(random.integers(domain.size)) for domain in DOMAINS) for _ in range(300)]
    for relaxed in (False, True):
        first = run(MIXED, rows, k=4, relaxed=relaxed)
        other = run(MIXED, rows[::-1], k=4, relaxed=relaxed)
        np.testing.assert_array_equal(first.boxes, other.boxes)
        np.testing.assert_array_equal(first.count, other.count)
    assert len(run(MIXED, rows, k=4, relaxed=True).group_sizes) >= len(run(MIXED, rows, k=4).group_sizes)


@pytest.mark.parametrize(
    ("parameters", "guarantee"),
    [
        ({}, KAnonymity(k=2, quasi=("age", "pain", "job"))),
        ({"quasi": "job, age"}, KAnonymity(k=2, quasi=("age", "job"))),
        (
            {"diversity": 2},
            LDiversity(k=2, quasi=("age", "pain", "job"), l=Fraction(2), sensitive="class"),
        ),
        (
            {"diversity": "1.5", "entropy": True, "sensitive": "pain"},
            LDiversity(k=2, quasi=("age", "job"), l=Fraction(3, 2), sensitive="pain", entropy=True),
        ),
        (
            {"closeness": "0.2"},
            TCloseness(k=2, quasi=("age", "pain", "job"), t=Fraction(1, 5), sensitive="class"),
        ),
    ],
)
def test_the_guarantee_says_what_was_asked_for(parameters: dict[str, Any], guarantee: KAnonymity) -> None:
    plan = MondrianMethod().plan(MIXED, Mondrian(k=2, **parameters))
    assert plan.guarantee == guarantee
    assert plan.guarantee.sentence.startswith("NOT differentially private. 2-anonymous only:")
    assert plan.spends == ()
    unprotected = {"age", "pain", "job"} - set(guarantee.quasi or ())
    assert any(note.startswith(WARNING) for note in plan.notes) == bool(unprotected)


@given(rows=ROWS_OF_MIXED)
@settings(max_examples=60)
def test_a_release_is_as_diverse_as_it_says(rows: list[tuple[int, ...]]) -> None:
    for parameters in ({"diversity": 2}, {"diversity": "1.5", "entropy": True}, {"closeness": "0.3"}):
        made = run(MIXED, rows, k=2, **parameters)  # type: ignore[arg-type]
        assert not list(GENERALIZED.faults(made))


def test_other_attributes_are_published_exactly() -> None:
    made = run(PATIENTS, ROWS, k=2, quasi="age")
    table = GENERALIZED.table(made, "table", counts=False).to_pylist()
    names = ["Male", "Female"]
    assert Counter((row["sex"], row["zip"]) for row in table) == Counter(
        (names[sex], f"[{53710 + code},{53711 + code})") for sex, _, code, _ in ROWS
    )


def test_the_smallest_cover() -> None:
    job = DOMAINS[2]
    for low in range(job.size):
        for high in range(low, job.size):
            node = cover(job, (low, high))
            assert covering_range(job, low, high) == (node.low, node.high)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 1}, "hides nobody"),
        ({"k": 2, "quasi": "class"}, "cannot be part"),
        ({"k": 2, "quasi": "nothing"}, "no attribute 'nothing'"),
        ({"k": 2, "quasi": "age,age"}, "twice"),
        ({"k": 2, "diversity": 2, "closeness": 0.1}, "not both"),
        ({"k": 2, "sensitive": "pain"}, "need --diversity"),
        ({"k": 2, "entropy": True, "closeness": 0.1}, "measures --diversity"),
        ({"k": 2, "diversity": 9}, "at most 6"),
        ({"k": 2, "diversity": 1}, "above 1"),
        ({"k": 2, "closeness": 2}, "between 0 and 1"),
        ({"k": 2, "diversity": 2, "sensitive": "age", "quasi": "age"}, "cannot be part"),
    ],
)
def test_bad_parameters_are_refused_before_any_row_is_read(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MondrianMethod().plan(MIXED, Mondrian(**parameters))


def test_no_exact_answer_under_a_plan_of_differential_privacy() -> None:
    guarantee = PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE)
    plan = Plan(guarantee=guarantee, spends=(Spend(label="all", epsilon=Fraction(1)),), cells_at_most=1)
    holder = CentralHolder(engine=engine_of(PATIENTS, ROWS), noise=PaidNoise(), plan=plan)
    with pytest.raises(BudgetError, match="no exact answer"):
        MondrianMethod().run(PATIENTS, Mondrian(k=2), holder)
