"""The neighbour law: for every query class and random neighbouring tables, the answer stays within its sensitivity.

Every query class needs a strategy for examples in this file, or the first test fails. The last tests understate
sensitivities and make false declarations, which the law must detect.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from scumble.auditing.laws.queries import check_added_record, check_replaced_record
from scumble.errors import CheckError
from scumble.files.schema_file import parse_schema
from scumble.methods import METHODS
from scumble.methods.barak.queries import MarginalCoefficients
from scumble.methods.diffgen.scores import PURITY_SCALE, Candidate, PartitionScores, Score, ValueScores, purity
from scumble.methods.hay.method import tree_of
from scumble.methods.hay.queries import ClassHierarchies
from scumble.methods.histograms.method import ClassTables
from scumble.methods.privelet.queries import CellCoefficients
from scumble.model.counts import Counts, Integers, Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.model.transforms.hierarchy import Hierarchy
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.model.transforms.transform import Identity
from scumble.model.transforms.wavelets import Haar, Nominal
from scumble.privacy.query import CellCounts, Choice, Measurement, Query, RecordCount, Region, Sensitivity

assert METHODS, "importing the methods defines their query classes"

SCHEMAS = [
    parse_schema(
        """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 5, step: 1}, missing: "?"}
  job: {taxonomy: {Any: {A: {a: , b: }, B: {C: {c: }}, d: }}}
  class: {classes: [x, y]}
"""
    ),
    parse_schema(
        """
scumble: schema/1
target: class
attributes:
  job: {taxonomy: {Any: {a: , b: , c: }}}
  class: {classes: [x, y, z]}
  sex: {taxonomy: {Any: {f: , m: }}}
  size: {numeric: {edges: [0, 0.5, 3]}}
"""
    ),
]


def records(schema: Schema) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(0, attribute.domain.size - 1) for attribute in schema.attributes))


@st.composite
def cuts(draw: st.DrawFn, schema: Schema) -> Cut:
    cut = Cut.top(schema)
    for _ in range(draw(st.integers(0, 4))):
        candidates = all_candidates(cut)
        if not candidates:
            break
        cut = cut.specialize(draw(st.sampled_from(candidates)).step(schema))
    return cut


def all_candidates(cut: Cut) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(attribute=name, node=node, position=position)
        for name, nodes in cut.nodes.items()
        for node in nodes
        for position in cut.schema[name].domain.positions(node)
    )


@st.composite
def cell_counts(draw: st.DrawFn, schema: Schema) -> CellCounts:
    return CellCounts(cut=draw(cuts(schema)), resolution=draw(st.sampled_from([1, 1023])))


@st.composite
def partition_scores(draw: st.DrawFn, schema: Schema) -> PartitionScores:
    cut = draw(cuts(schema))
    candidates = all_candidates(cut)
    assume(candidates)
    return PartitionScores(cut=cut, candidates=candidates, score=draw(st.sampled_from([Score.ACCURACY, Score.GINI])))


@st.composite
def value_scores(draw: st.DrawFn, schema: Schema) -> ValueScores:
    candidates = all_candidates(draw(cuts(schema)))
    assume(candidates)
    within: Region | None = None
    if draw(st.booleans()):
        one = draw(st.sampled_from(candidates))
        candidates = tuple(each for each in candidates if (each.attribute, each.node) == (one.attribute, one.node))
        within = (one.attribute, one.node)
    score = draw(st.sampled_from([Score.MAX, Score.INFOGAIN]))
    return ValueScores(schema=schema, candidates=candidates, score=score, within=within)


@st.composite
def class_hierarchies(draw: st.DrawFn, schema: Schema) -> ClassHierarchies:
    branching = draw(st.integers(2, 4))
    hierarchies = tuple(Hierarchy(tree=tree_of(attribute, branching)) for attribute in schema.predictors)
    return ClassHierarchies(schema=schema, hierarchies=hierarchies)


@st.composite
def cell_coefficients(draw: st.DrawFn, schema: Schema) -> CellCoefficients:
    cut = draw(cuts(schema))
    kinds = st.sampled_from([lambda size: Identity(size=size), lambda size: Haar(size=size), _nominal])
    transforms = [draw(kinds)(size) for size in (*cut.shape, len(schema.classes))]
    return CellCoefficients(cut=cut, transforms=tuple(transforms))


def _nominal(size: int) -> Nominal:
    return Nominal.of(IntervalTree.balanced(size, branching=3))


@st.composite
def marginal_coefficients(draw: st.DrawFn, schema: Schema) -> MarginalCoefficients:
    axes = range(len(schema.predictors) + 1)
    marginals = draw(
        st.lists(st.sets(st.sampled_from(axes), min_size=1).map(sorted).map(tuple), min_size=1, max_size=3)
    )
    return MarginalCoefficients(cut=draw(cuts(schema)), marginals=tuple(marginals))


EXAMPLES: dict[type[Query], Callable[[Schema], st.SearchStrategy[Any]]] = {
    CellCoefficients: cell_coefficients,
    CellCounts: cell_counts,
    ClassHierarchies: class_hierarchies,
    ClassTables: lambda schema: st.just(ClassTables(schema=schema)),
    MarginalCoefficients: marginal_coefficients,
    PartitionScores: partition_scores,
    RecordCount: lambda schema: st.just(RecordCount(schema=schema)),
    ValueScores: value_scores,
}


@dataclass(frozen=True)
class Case:
    """A query and neighbouring tables."""

    schema: Schema
    query: Query
    rows: list[tuple[int, ...]]
    record: tuple[int, ...]
    other: tuple[int, ...]

    def breaks(self) -> bool:
        try:
            check_added_record(self.query, self.schema, self.rows, self.record)
            check_replaced_record(self.query, self.schema, self.rows, self.record, self.other)
        except CheckError:
            return True
        return False


@st.composite
def cases(draw: st.DrawFn, kind: type[Query], change: Callable[[Any], Query] = lambda query: query) -> Case:
    schema = draw(st.sampled_from(SCHEMAS))
    query = draw(EXAMPLES[kind](schema))
    rows = draw(st.lists(records(schema), max_size=8))
    return Case(schema, change(query), rows, draw(records(schema)), draw(records(schema)))


def concrete_queries(kind: type[Query]) -> set[type[Query]]:
    below = {each for child in kind.__subclasses__() for each in concrete_queries(child)}
    shipped = kind.__module__.startswith("scumble.")
    return below | ({kind} if shipped and not getattr(kind, "__abstractmethods__", None) else set())


def test_every_query_class_is_checked() -> None:
    assert concrete_queries(Query) == set(EXAMPLES)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_query_satisfies_the_law(kind: type[Query]) -> None:
    @settings(max_examples=300)
    @given(cases(kind))
    def law(case: Case) -> None:
        check_added_record(case.query, case.schema, case.rows, case.record)
        check_replaced_record(case.query, case.schema, case.rows, case.record, case.other)

    law()


def test_large_groups_of_equal_records_satisfy_the_law() -> None:
    """Large groups, where squaring and rounding down are most likely to break the bound."""

    @settings(max_examples=200)
    @given(
        case=cases(PartitionScores),
        repeats=st.lists(st.integers(1, 400), min_size=8, max_size=8),
    )
    def law(case: Case, repeats: list[int]) -> None:
        rows = [row for row, times in zip(case.rows, repeats, strict=False) for _ in range(times)]
        check_added_record(case.query, case.schema, rows, case.record)
        check_replaced_record(case.query, case.schema, rows, case.record, case.other)

    law()


@dataclass(frozen=True, kw_only=True)
class AlteredQuery(Query):
    """A query with a lowered sensitivity or a false declaration."""

    inner: Query
    lower_by: int = 0
    declare_monotone: bool = False
    declare_region: Region | None = None

    @property
    def tabulation(self) -> Tabulation:
        return self.inner.tabulation

    @property
    def region(self) -> Region | None:
        return self.declare_region or self.inner.region

    def answer(self, counts: Counts) -> Integers:
        return self.inner.answer(counts)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        true = self.inner.sensitivity(unit)
        return replace(true, bound=true.bound - self.lower_by, monotone=true.monotone or self.declare_monotone)


class Altered(AlteredQuery, Choice):
    """An altered selection: the change of each score is bounded."""


class AlteredMeasurement(AlteredQuery, Measurement):
    """An altered measurement: the sum of all changes is bounded."""


def with_score(score: Score) -> Callable[[Any], Query]:
    return lambda query: replace(query, score=score)


def lowered(change: Callable[[Any], Query]) -> Callable[[Any], Query]:
    return lambda query: Altered(inner=change(query), lower_by=1)


PLANTED: dict[str, tuple[type[Query], Callable[[Any], Query]]] = {
    "accuracy, one too small": (PartitionScores, lowered(with_score(Score.ACCURACY))),
    "gini, one part in 65,536 too small": (PartitionScores, lowered(with_score(Score.GINI))),
    "gini, declared monotone": (
        PartitionScores,
        lambda query: Altered(inner=with_score(Score.GINI)(query), declare_monotone=True),
    ),
    "max, one too small": (ValueScores, lowered(with_score(Score.MAX))),
    "infogain, one part in 2^20 too small": (ValueScores, lowered(with_score(Score.INFOGAIN))),
    "infogain, declared monotone": (
        ValueScores,
        lambda query: Altered(inner=with_score(Score.INFOGAIN)(query), declare_monotone=True),
    ),
    "max, declared region too small": (
        ValueScores,
        lambda query: Altered(
            inner=with_score(Score.MAX)(query),
            declare_region=(query.candidates[0].attribute, replace(query.candidates[0].node, high=1)),
        ),
    ),
    "counts, one too small": (CellCounts, lambda query: AlteredMeasurement(inner=query, lower_by=1)),
    "the number of records, one too small": (
        RecordCount,
        lambda query: AlteredMeasurement(inner=query, lower_by=1),
    ),
    "tables by class, one too small": (ClassTables, lambda query: AlteredMeasurement(inner=query, lower_by=1)),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_the_law_detects_false_declarations(planted: str) -> None:
    kind, change = PLANTED[planted]
    try:
        found = find(
            cases(kind, change),
            Case.breaks,
            settings=settings(max_examples=20_000, database=None, phases=[Phase.generate]),
        )
    except NoSuchExample:
        pytest.fail(f"not detected: {planted}")
    assert found.breaks()


def test_one_floor_per_group_keeps_the_bound_and_a_floor_per_class_would_not() -> None:
    """A new record changes the score by at most M, the purity scale, if the score is rounded down once per group.

    Rounding down once per class would change it by M + 1: for instance, if a record of a third class joins 589,824
    records of one class and three of another.
    """

    def careless(groups: Integers) -> Integers:
        return (PURITY_SCALE * groups**2 // groups.sum(axis=-1, keepdims=True)).sum(axis=-1)

    few = np.stack(np.meshgrid(np.arange(1, 1500), np.arange(6), np.arange(6), indexing="ij"), axis=-1)
    many = np.array([[PURITY_SCALE * size**2 - size, size, 0] for size in range(1, 100)])
    for groups in (few, many):
        for added in np.eye(3, dtype=np.int64):
            assert np.abs(purity(groups + added) - purity(groups)).max() <= PURITY_SCALE
    third = np.array([0, 0, 1])
    assert np.abs(careless(many + third) - careless(many)).max() == PURITY_SCALE + 1


@pytest.mark.parametrize("classes", [2, 3, 50])
def test_purity_keeps_its_bound_for_any_number_of_records(classes: int) -> None:
    """Counts of up to 2^40 records: clipped, so that no square leaves 64 bits, and still within the bound."""
    sizes = [2**power + shift for power in range(20, 41) for shift in (-1, 0, 1)]
    groups = np.array([[size, *([size // 3] * (classes - 1))] for size in sizes])
    for added in np.eye(classes, dtype=np.int64):
        assert (purity(groups) >= 0).all()
        assert np.abs(purity(groups + added) - purity(groups)).max() <= PURITY_SCALE
