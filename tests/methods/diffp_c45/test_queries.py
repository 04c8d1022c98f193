"""The queries of diffp-c45: the neighbour law on random tables, a readable twin of the scores, planted bugs."""

from dataclasses import dataclass
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.auditing.laws.queries import check_added_record, check_replaced_record, exact_answer
from scumble.errors import CheckError
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.scores import PURITY_SCALE
from scumble.methods.diffp_c45.branching import EVERY_VALUE, Branching, NodeTest, offered_positions, offered_sides
from scumble.methods.diffp_c45.queries import LeafClasses, LeafSizes, SplitScores
from scumble.methods.diffp_c45.worths import (
    ENTROPY_UNITS,
    SINGLE,
    EntropySteps,
    Operator,
    entropy_steps,
    worth,
    worth_sensitivity,
)
from scumble.model.guarantee import Unit
from scumble.privacy.query import Sensitivity

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 40, step: 1}, missing: "?"}
  job: {taxonomy: {Any: {A: {a: , b: }, B: {c: }, d: }}}
  pain: {ordered: [none, mild, severe]}
  class: {classes: [x, y, z]}
"""
)
AGE, JOB, PAIN, CLASS = range(4)
Record = tuple[int, ...]
records = st.tuples(*(st.integers(0, attribute.domain.size - 1) for attribute in SCHEMA.attributes))


@st.composite
def trees(draw: st.DrawFn) -> Branching:
    """A tree of up to three tests."""
    tree = Branching.whole(SCHEMA)
    for _ in range(draw(st.integers(0, 3))):
        node = draw(st.sampled_from(tree.leaves))
        sides = [side for side in offered_sides(SCHEMA) if tree.boxes[node][side][1] - tree.boxes[node][side][0] > 1]
        if sides:
            side = draw(st.sampled_from(sides))
            every = not SCHEMA.attributes[side].domain.splits_anywhere
            places = [EVERY_VALUE] if every else offered_positions(SCHEMA, side, tree.boxes[node])
            tree = tree.divided({node: NodeTest(side=side, position=draw(st.sampled_from(places)))})
    return tree


@st.composite
def split_scores(draw: st.DrawFn) -> SplitScores:
    tree = draw(trees())
    nodes = tuple(sorted(draw(st.sets(st.sampled_from(tree.leaves), min_size=1))))
    offers = tuple(
        (
            NodeTest(side=JOB, position=EVERY_VALUE),
            *(NodeTest(side=side, position=at) for side in (AGE, PAIN) for at in offered_positions(SCHEMA, side, box)),
        )
        for box in (tree.boxes[node] for node in nodes)
    )
    operator = draw(st.sampled_from(list(Operator)))
    limit = draw(st.sampled_from([2, 5, 1000]))
    return SplitScores(schema=SCHEMA, tree=tree, nodes=nodes, offers=offers, operator=operator, limit=limit)


@given(query=split_scores(), rows=st.lists(records, max_size=25), record=records, other=records)
def test_scores_keep_their_bounds_and_stay_in_their_parts(
    query: SplitScores, rows: list[Record], record: Record, other: Record
) -> None:
    check_added_record(query, SCHEMA, rows, record)
    check_replaced_record(query, SCHEMA, rows, record, other)


@given(tree=trees(), rows=st.lists(records, max_size=25), record=records, other=records, classes=st.booleans())
def test_counts_keep_their_bounds(
    tree: Branching, rows: list[Record], record: Record, other: Record, classes: bool
) -> None:
    query = (LeafClasses if classes else LeafSizes)(schema=SCHEMA, tree=tree, nodes=tree.leaves)
    check_added_record(query, SCHEMA, rows, record)
    check_replaced_record(query, SCHEMA, rows, record, other)
    counted = exact_answer(query, SCHEMA, rows)
    assert counted.sum() == len(rows)  # every record reaches exactly one leaf
    for leaf, box in zip(tree.leaves, (tree.boxes[leaf] for leaf in tree.leaves), strict=True):
        inside = [row for row in rows if all(low <= code < high for code, (low, high) in zip(row, box, strict=True))]
        places = np.arange(len(counted)).reshape(len(tree.leaves), -1)[tree.leaves.index(leaf)]
        assert counted[places].sum() == len(inside)


def twin_score(operator: Operator, groups: list[list[Record]]) -> float:
    """The score as one reads it: over the groups of records, by the formula of the operator."""
    total = 0.0
    for group in groups:
        counts = [sum(row[CLASS] == label for row in group) for label in range(3)]
        if not group:
            continue
        match operator:
            case Operator.MAX:
                total += max(counts)
            case Operator.GINI:
                total += sum(count**2 for count in counts) / len(group)
            case Operator.INFOGAIN:
                total += sum(count * log2(count / len(group)) for count in counts if count)
    return total


@settings(max_examples=40)
@given(query=split_scores(), rows=st.lists(records, min_size=1, max_size=40))
def test_scores_are_those_of_the_readable_twin(query: SplitScores, rows: list[Record]) -> None:
    query = SplitScores(**{**vars(query), "limit": 1000})
    found = exact_answer(query, SCHEMA, rows)
    for node, offers, line in zip(query.nodes, query.offers, found, strict=True):
        box = query.tree.boxes[node]
        here = [row for row in rows if all(low <= code < high for code, (low, high) in zip(row, box, strict=True))]
        for test, score in zip(offers, line.tolist(), strict=True):
            groups: dict[int, list[Record]] = {}
            for row in here:
                code = row[test.side]
                groups.setdefault(code if test.position == EVERY_VALUE else code >= test.position, []).append(row)
            exact = twin_score(query.operator, list(groups.values()))
            if query.operator is Operator.INFOGAIN:
                constant = worth_sensitivity(query.operator, Unit.ADD_REMOVE, limit=1000, classes=3).bound
                assert score == pytest.approx(ENTROPY_UNITS * exact + constant * len(here), abs=2 * len(here) + 1)
            else:
                scale = PURITY_SCALE if query.operator is Operator.GINI else 1
                assert score == pytest.approx(scale * exact, abs=len(groups) if scale > 1 else 0)


def test_entropy_steps_approximate_x_log_x_and_never_decrease() -> None:
    steps = entropy_steps()
    assert (np.diff(steps.slopes) >= 0).all()
    sizes = np.array([1, 2, 3, 17, SINGLE - 1, SINGLE, SINGLE + 1, 30_162, 10**6, 10**9, 2**38])
    exact = ENTROPY_UNITS * sizes * np.log2(sizes)
    assert steps.total(np.array([0])).tolist() == [0]
    assert (np.abs(steps.total(sizes) - exact) <= 3 * sizes).all()
    assert all(steps.total(np.array([n + 1])) - steps.total(np.array([n])) == steps.slope(n) for n in sizes.tolist())
    assert isinstance(steps, EntropySteps)


def test_a_table_beyond_the_stated_bound_keeps_the_sensitivity() -> None:
    """Counts above the limit are clipped, so a false bound of the schema cannot weaken the guarantee."""
    bound = worth_sensitivity(Operator.INFOGAIN, Unit.ADD_REMOVE, limit=50, classes=2).bound
    counts = np.array([[a, b] for a in range(0, 200, 7) for b in range(0, 200, 7)])
    before = worth(Operator.INFOGAIN, counts, limit=50)
    for label in range(2):
        change = worth(Operator.INFOGAIN, counts + np.eye(2, dtype=np.int64)[label], limit=50) - before
        assert change.min() >= 0
        assert change.max() <= bound


@dataclass(frozen=True, kw_only=True)
class Understated(SplitScores):
    """A planted bug: the bound is one too small."""

    def sensitivity(self, unit: Unit) -> Sensitivity:
        right = super().sensitivity(unit)
        return Sensitivity(bound=right.bound - 1, monotone=right.monotone)


@pytest.mark.parametrize("operator", Operator)
def test_an_understated_sensitivity_is_found(operator: Operator) -> None:
    """The bound of every operator is attained, so the law catches a smaller one."""
    query = Understated(
        schema=SCHEMA,
        tree=Branching.whole(SCHEMA),
        nodes=(0,),
        offers=((NodeTest(side=JOB, position=EVERY_VALUE),),),
        operator=operator,
        limit=2,
    )
    other = [(3, 0, 0, label) for label in (1, 1, 2, 2)]
    found = []
    for rows in ([], other[:2], [(3, 0, 0, 0)], other, [*other, (3, 0, 0, 0)]):
        try:
            check_added_record(query, SCHEMA, rows, (3, 0, 0, 0))
        except CheckError as error:
            found.append(str(error))
    assert found
    assert all("declares a sensitivity" in each for each in found)
