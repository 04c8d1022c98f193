"""The default selection mode: scores against a readable twin, weights of long grids, limits, and edge cases."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import coded_rows, cuts, schemas

from scumble.auditing.laws.queries import engine_of, exact_answer
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.cell_bounds import descend, most_cells
from scumble.methods.diffgen.detail.spends import FIT
from scumble.methods.diffgen.method import COUNT, COUNT_RECORDS, REST, DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.scores import PURITY_SCALE, Candidate, PartitionScores, Score
from scumble.methods.diffgen.settings import RECORDS_SHARE, diffgen_settings
from scumble.methods.diffgen.together import CHOOSE
from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.holder import OFFSET_BITS, CentralHolder
from scumble.privacy.noise import PaidNoise, Selection, laplace_variance, selection_scale

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 101, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
  class: {classes: [a, b]}
"""
)


with_target = schemas().filter(lambda schema: schema.target is not None)


def twin_score(schema: Schema, rows: list[tuple[int, ...]], cut: Cut, score: Score) -> int:
    """The worth of a whole partition, by its definition."""
    names = [attribute.name for attribute in schema.attributes]
    groups: dict[tuple[int, ...], Counter[int]] = {}
    for row in rows:
        cell = tuple(
            next(place for place, node in enumerate(cut.nodes[name]) if node.low <= row[names.index(name)] < node.high)
            for name in cut.nodes
        )
        groups.setdefault(cell, Counter())[row[names.index(str(schema.target))]] += 1
    if score is Score.ACCURACY:
        return sum(max(group.values()) for group in groups.values())
    purities = (Fraction(sum(n * n for n in group.values()), sum(group.values())) for group in groups.values())
    return sum(int(PURITY_SCALE * purity) for purity in purities)


@st.composite
def partitions(draw: st.DrawFn) -> tuple[Schema, Cut, list[tuple[int, ...]]]:
    schema = draw(with_target)
    return schema, draw(cuts(schema)), draw(coded_rows(schema))


def candidates_of(cut: Cut) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(attribute=name, node=node, position=position)
        for name, nodes in cut.nodes.items()
        for node in nodes
        for position in list(cut.schema[name].domain.positions(node))[:5]
    )


@settings(max_examples=150)
@given(partitions(), st.sampled_from([Score.ACCURACY, Score.GINI]))
def test_scores_equal_the_worth_of_the_partition_that_each_candidate_makes(
    drawn: tuple[Schema, Cut, list[tuple[int, ...]]], score: Score
) -> None:
    schema, cut, rows = drawn
    candidates = candidates_of(cut)
    if candidates:
        query = PartitionScores(cut=cut, candidates=candidates, score=score)
        expected = [twin_score(schema, rows, cut.specialize(each.step(schema)), score) for each in candidates]
        assert exact_answer(query, schema, rows).tolist() == expected


class Watching:
    """The noise of the product, which also records the requested selections."""

    def __init__(self) -> None:
        self.selections: list[dict[str, Any]] = []
        self.counts: list[dict[str, Any]] = []
        self._noise = PaidNoise()

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        self.counts.append({"sensitivity": sensitivity, "epsilon": epsilon, "length": len(values)})
        return self._noise.laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        self.selections.append(
            {"scores": scores, "sensitivity": sensitivity, "monotone": monotone, "epsilon": epsilon, "law": selection}
        )
        return self._noise.select(
            scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
        )


def test_a_long_grid_has_the_weight_of_one_category() -> None:
    """On an empty table all scores are equal. Under the exponential mechanism's weights exp(score / scale), all hundred
    splits of a grid together have the weight of the one split of a tree."""
    noise = Watching()
    run(DiffGenMethod(), SCHEMA, DiffGen(epsilon="1", rounds=1), engine_of(SCHEMA, []), noise)
    request = noise.selections[0]
    scale = float(
        selection_scale(sensitivity=request["sensitivity"], monotone=request["monotone"], epsilon=request["epsilon"])
    )
    weights = np.exp(request["scores"] / scale)
    assert len(weights) == 101
    assert weights[:100].sum() == pytest.approx(weights[100], rel=1e-4)


@pytest.mark.parametrize(
    ("score", "monotone", "bound"), [("accuracy", True, 1), ("gini", False, PURITY_SCALE), ("max", True, 1)]
)
def test_each_score_is_charged_by_its_own_sensitivity(score: str, monotone: bool, bound: int) -> None:
    noise = Watching()
    parameters = DiffGen(epsilon="1", rounds=2, score=score, selection_share="2/3")
    run(DiffGenMethod(), SCHEMA, parameters, engine_of(SCHEMA, [(5, 0, 0), (60, 1, 1)]), noise)
    assert [each["monotone"] for each in noise.selections] == [monotone] * 2
    assert [each["sensitivity"] for each in noise.selections] == [bound << OFFSET_BITS] * 2
    assert [each["epsilon"] for each in noise.selections] == [Fraction(1, 3)] * 2
    assert [each["law"] for each in noise.selections] == [Selection.PERMUTE_AND_FLIP] * 2
    assert noise.counts[0]["epsilon"] == Fraction(1, 3)
    assert noise.counts[0]["sensitivity"] == 1


def test_under_replace_no_score_is_monotone_and_counts_have_twice_the_sensitivity() -> None:
    schema = parse_schema(
        "scumble: schema/1\nunit: replace\nrows: 2\ntarget: class\nattributes:\n"
        "  a: {numeric: {low: 0, high: 9, step: 1}}\n  class: {classes: [x, y]}\n"
    )
    noise = Watching()
    made = run(
        DiffGenMethod(), schema, DiffGen(epsilon="2", score="accuracy"), engine_of(schema, [(1, 0), (7, 1)]), noise
    )
    assert not any(each["monotone"] for each in noise.selections)
    assert noise.counts[0]["sensitivity"] == 2
    assert made.plan.guarantee.unit is Unit.REPLACE
    assert made.variance == pytest.approx(laplace_variance(sensitivity=2, epsilon=Fraction(1)))


@settings(max_examples=60)
@given(
    with_target,
    st.integers(1, 12),
    st.integers(2, 200),
    st.sampled_from(["accuracy", "gini", "max"]),
    st.data(),
)
def test_cells_stay_within_the_plan_and_the_limit(
    schema: Schema, rounds: int, max_cells: int, score: str, data: st.DataObject
) -> None:
    parameters = DiffGen(epsilon="1", rounds=rounds, max_cells=max_cells, score=score)
    plan = DiffGenMethod().plan(schema, parameters)
    rows = data.draw(coded_rows(schema))
    made = run(DiffGenMethod(), schema, parameters, engine_of(schema, rows), PaidNoise())
    assert len(made.count) <= plan.cells_at_most <= max_cells
    assert made.plan == plan
    assert (made.count >= 0).all()
    for place in range(len(schema.classes)):
        assert made.count[:, place].sum() == max(0, made.measured[:, place].sum())


def test_the_bound_on_cells_is_reached() -> None:
    """Two rounds on a tree with three children and a grid: 3 x 2."""
    schema = parse_schema(
        "scumble: schema/1\ntarget: c\nattributes:\n  t: {taxonomy: {Any: {x: , y: , z: }}}\n"
        "  n: {numeric: {low: 0, high: 4, step: 1}}\n  c: {classes: [p, q]}\n"
    )
    assert most_cells(schema, 1, 1000) == 3
    assert most_cells(schema, 2, 1000) == 6
    assert most_cells(schema, 3, 1000) == 9
    assert most_cells(schema, 50, 1000) == 12, "never more than the finest cells there are"
    assert most_cells(schema, 50, 7) == 7


def test_a_limit_without_any_specialization_is_refused_by_the_plan() -> None:
    with pytest.raises(InputError, match="max_cells"):
        DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", max_cells=1))


def test_leaves_publish_the_full_table_with_the_whole_budget() -> None:
    parameters = DiffGen(epsilon="0.7", leaves=True)
    plan = DiffGenMethod().plan(SCHEMA, parameters)
    assert [(spend.label, spend.epsilon) for spend in plan.spends] == [(COUNT, Fraction("0.7"))]
    noise = Watching()
    made = run(DiffGenMethod(), SCHEMA, parameters, engine_of(SCHEMA, [(5, 0, 0)]), noise)
    assert noise.selections == []
    assert len(made.count) == plan.cells_at_most == 202
    assert made.schema["age"].domain.size == 101


def test_too_many_leaves_are_refused_with_their_number_and_a_remedy() -> None:
    with pytest.raises(InputError, match=r"202 cells.*--max-cells.*'age' with 101"):
        DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", leaves=True, max_cells=201))


def test_single_children_are_replaced_at_no_cost() -> None:
    schema = parse_schema(
        "scumble: schema/1\ntarget: c\nattributes:\n  t: {taxonomy: {Any: {Only: {A: {B: {x: }}, y: }}}}\n"
        "  c: {classes: [p, q]}\n"
    )
    assert [node.label for node in descend(Cut.top(schema)).nodes["t"]] == ["Only"]
    made = run(DiffGenMethod(), schema, DiffGen(epsilon="1", rounds=5), engine_of(schema, [(0, 0)]), PaidNoise())
    assert made.schema["t"].domain.labels == ("x", "y")
    assert made.story == ("t: Only -> A | y",)


def test_rounds_without_candidates_are_not_used() -> None:
    schema = parse_schema(
        "scumble: schema/1\ntarget: c\nattributes:\n  t: {taxonomy: {Any: {x: , y: }}}\n  c: {classes: [p, q]}\n"
    )
    parameters = DiffGen(epsilon="1", rounds=6)
    holder = CentralHolder(
        engine=engine_of(schema, []), noise=PaidNoise(), plan=DiffGenMethod().plan(schema, parameters)
    )
    made = DiffGenMethod().run(schema, parameters, holder)
    assert holder.purse.left == {CHOOSE: 5, COUNT: 0}
    assert made.plan.guarantee.epsilon == 1


@pytest.mark.parametrize(
    "values",
    [
        {"epsilon": "0"},
        {"epsilon": "-1"},
        {"epsilon": "nan"},
        {"epsilon": float("inf")},
        {"epsilon": "1e9"},
        {"epsilon": True},
        {"epsilon": "1", "rounds": 0},
        {"epsilon": "1", "rounds": "many"},
        {"epsilon": "1", "score": "infogain"},
        {"epsilon": "1", "score": "gini", "selection": "published"},
        {"epsilon": "1", "selection_share": "1/2", "selection": "published"},
        {"epsilon": "1", "selection_share": "1"},
        {"epsilon": "1", "selection_share": "0"},
        {"epsilon": "1", "leaves": True, "rounds": 3},
        {"epsilon": "1", "max_cells": 0},
        {"epsilon": "1", "round": 3},
        {},
    ],
)
def test_bad_parameters_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        DiffGen(**values)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=20))
def test_defaults_of_cells_follow_from_epsilon_and_the_plan_adds_up(epsilon: Fraction) -> None:
    parameters = DiffGen(epsilon=epsilon, detail="no")
    plan = DiffGenMethod().plan(SCHEMA, parameters)
    assert sum(spend.total(Unit.ADD_REMOVE) for spend in plan.spends) == epsilon
    assert diffgen_settings(SCHEMA, parameters).rounds in range(1, 9)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=20), st.integers(1, 10**9))
def test_a_public_number_of_records_is_not_counted(epsilon: Fraction, records: int) -> None:
    plan = DiffGenMethod().plan(SCHEMA, DiffGen(epsilon=epsilon, records=records))
    assert sum(spend.total(Unit.ADD_REMOVE) for spend in plan.spends) == epsilon
    assert {COUNT_RECORDS, REST}.isdisjoint(spend.label for spend in plan.spends)


@given(st.fractions(min_value=Fraction(1, 100), max_value=20), st.integers(-1000, 10**6))
def test_the_number_of_cells_is_limited_by_their_noise(epsilon: Fraction, records: int) -> None:
    parameters = DiffGen(epsilon=epsilon)
    settled = diffgen_settings(SCHEMA, parameters, records)
    scale = 1 / (epsilon * settled.cell_share * (1 - settled.selection_share))
    assert 8 <= settled.max_cells <= 10_000
    assert settled.max_cells == 8 or records >= 8 * scale * len(SCHEMA.classes) * settled.max_cells
    chosen = diffgen_settings(SCHEMA, DiffGen(epsilon=epsilon, max_cells=777, detail="yes"), records)
    assert chosen.max_cells == 777, "a limit that is given stays"


@pytest.mark.parametrize("counted", [-5000, 0, 3, 4_999, 5_001, 30_000, 10**9])
def test_the_counted_records_decide_how_the_rest_is_divided(counted: int) -> None:
    """For every noisy count, the count alone decides how the rest is divided, and all spends add up."""

    class Counted(PaidNoise):
        def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
            if epsilon == RECORDS_SHARE:
                return np.array([counted], dtype=np.int64)
            return super().laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    parameters = DiffGen(epsilon="1")
    made = run(DiffGenMethod(), SCHEMA, parameters, engine_of(SCHEMA, []), Counted())
    same = DiffGenMethod().plan(SCHEMA, DiffGen(epsilon="1", records=max(counted, 1)))
    rest = {spend.label: spend.total(SCHEMA.unit) for spend in made.plan.spends}
    assert rest.pop(COUNT_RECORDS) == RECORDS_SHARE
    expected = {spend.label: spend.total(SCHEMA.unit) * (1 - RECORDS_SHARE) for spend in same.spends}
    # What pays for combinations and weights is divided again, by the chosen combinations.
    fit = expected.pop(FIT, Fraction(0))
    assert {label: rest.pop(label) for label in expected} == expected
    assert sum(rest.values(), Fraction(0)) == fit
    assert made.documents["detail"]["records counted"] == counted


@pytest.mark.parametrize("counted", [10**9, 10**12, 10**15])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1)])
def test_a_noisy_count_beyond_any_table_stays_within_the_plan(epsilon: Fraction, counted: int) -> None:
    class Counted(PaidNoise):
        def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
            if epsilon == parameters.epsilon * RECORDS_SHARE:
                return np.array([counted], dtype=np.int64)
            return super().laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    parameters = DiffGen(epsilon=epsilon)
    plan = DiffGenMethod().plan(SCHEMA, parameters)
    made = run(DiffGenMethod(), SCHEMA, parameters, engine_of(SCHEMA, []), Counted())
    assert len(made.count) <= plan.cells_at_most


def test_too_many_classes_for_detail_are_released_without_it_and_the_plan_says_so() -> None:
    """With 200,000 classes, the drawn rows did not fit into memory, after the charge."""
    labels = ", ".join(f"c{number}" for number in range(101))
    schema = parse_schema(
        "scumble: schema/1\ntarget: class\nattributes:\n"
        f"  n: {{numeric: {{low: 0, high: 4, step: 1}}}}\n  class: {{classes: [{labels}]}}\n"
    )
    plan = DiffGenMethod().plan(schema, DiffGen(epsilon="1"))
    assert "No detail is measured: 'class' has 101 classes, more than 100." in plan.notes
    made = run(DiffGenMethod(), schema, DiffGen(epsilon="1"), engine_of(schema, []), PaidNoise())
    assert made.fine is None and made.count.shape[1] == 101
    with pytest.raises(InputError, match="101 classes"):
        DiffGenMethod().plan(schema, DiffGen(epsilon="1", detail="yes"))


def test_a_schema_without_a_class_is_refused() -> None:
    schema = parse_schema("scumble: schema/1\nattributes:\n  n: {numeric: {low: 0, high: 4, step: 1}}\n")
    with pytest.raises(InputError, match="target"):
        DiffGenMethod().plan(schema, DiffGen(epsilon="1"))
