"""Holder and purse: every answer is planned and paid once; only disjoint parts share a price, which counts twice under
replace."""

from fractions import Fraction

import numpy as np
import pytest

from scumble.auditing.laws.queries import engine_of
from scumble.errors import BudgetError
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.scores import Candidate, Score, ValueScores
from scumble.model.counts import Counts, Integers, Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import JointDP, PureDP, Unit, Unproven
from scumble.model.plan import Plan, Spend
from scumble.privacy.holder import OFFSET_BITS, CentralHolder
from scumble.privacy.noise import PaidNoise, Selection
from scumble.privacy.purse import Purse
from scumble.privacy.query import CellCounts

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
  class: {classes: [a, b]}
"""
)
AGE = SCHEMA["age"].domain
ROWS = [(code, code % 2, code % 2) for code in range(8)]


def plan_of(*spends: Spend, unit: Unit = Unit.ADD_REMOVE) -> Plan:
    total = sum((spend.total(unit) for spend in spends), Fraction(0))
    return Plan(guarantee=PureDP(epsilon=total, unit=unit), spends=spends, cells_at_most=8)


def holder_of(*spends: Spend, noise: object = None) -> CentralHolder:
    return CentralHolder(engine=engine_of(SCHEMA, ROWS), noise=noise or PaidNoise(), plan=plan_of(*spends))  # type: ignore[arg-type]


def splits(low: int, high: int) -> ValueScores:
    node = AGE.interval(low, high)
    candidates = tuple(Candidate(attribute="age", node=node, position=p) for p in AGE.positions(node))
    return ValueScores(schema=SCHEMA, candidates=candidates, score=Score.MAX, within=("age", node))


def test_an_unplanned_answer_is_refused() -> None:
    holder = holder_of(Spend(label="count", epsilon=Fraction(1)))
    with pytest.raises(BudgetError, match="No spend 'other' was planned"):
        holder.measure(CellCounts(cut=Cut.top(SCHEMA)), spend="other")


def test_a_spend_is_used_up() -> None:
    holder = holder_of(Spend(label="count", epsilon=Fraction(1), times=2))
    query = CellCounts(cut=Cut.top(SCHEMA))
    holder.measure(query, spend="count")
    holder.measure(query, spend="count")
    with pytest.raises(BudgetError, match="used up"):
        holder.measure(query, spend="count")


def test_parts_share_a_price_only_if_planned_and_disjoint() -> None:
    shared = Spend(label="split", epsilon=Fraction(1), times=9, shared=True)
    single = Spend(label="one", epsilon=Fraction(1), times=9)
    holder = holder_of(shared, single)
    assert len(holder.choose_apart([splits(0, 4), splits(4, 8)], spend="split")) == 2
    with pytest.raises(BudgetError, match="disjoint"):
        holder.choose_apart([splits(0, 5), splits(4, 8)], spend="split")
    with pytest.raises(BudgetError, match="disjoint"):
        holder.choose_apart([splits(0, 4), splits(4, 8)], spend="one")
    root = SCHEMA["sex"].domain.root
    everywhere = ValueScores(schema=SCHEMA, candidates=(Candidate(attribute="sex", node=root),), score=Score.MAX)
    with pytest.raises(BudgetError, match="disjoint"):
        holder.choose_apart([splits(0, 4), everywhere], spend="split")
    other = ValueScores(
        schema=SCHEMA, candidates=(Candidate(attribute="sex", node=root),), score=Score.MAX, within=("sex", root)
    )
    with pytest.raises(BudgetError, match="disjoint"):
        holder.choose_apart([splits(0, 4), other], spend="split")
    assert holder.purse.left == {"split": 8, "one": 9}, "a refused use costs nothing"


def test_a_spend_is_divided_once_into_parts_that_add_up_to_it() -> None:
    holder = holder_of(Spend(label="first", epsilon=Fraction(1, 4)), Spend(label="rest", epsilon=Fraction(3, 4)))
    query = CellCounts(cut=Cut.top(SCHEMA))
    parts = (Spend(label="a", epsilon=Fraction(1, 4), times=2), Spend(label="b", epsilon=Fraction(1, 4)))
    with pytest.raises(BudgetError, match="No spend 'other' was planned"):
        holder.divide("other", parts)
    for wrong in (parts[:1], (*parts, Spend(label="c", epsilon=Fraction(1, 100)))):
        with pytest.raises(BudgetError, match="add up"):
            holder.divide("rest", wrong)
    with pytest.raises(BudgetError, match="unique"):
        holder.divide("rest", (Spend(label="first", epsilon=Fraction(3, 4)),))
    assert holder.purse.left == {"first": 1, "rest": 1}, "a refused division changes nothing"
    plan = holder.divide("rest", parts)
    assert plan.guarantee.epsilon == 1
    assert [spend.label for spend in plan.spends] == ["first", "a", "b"]
    for spent in ("rest", "first"):
        if spent == "first":
            holder.measure(query, spend="first")
        with pytest.raises(BudgetError, match="used up"):
            holder.divide(spent, (Spend(label="d", epsilon=Fraction(3, 4)),))
    for label in ("a", "b", "a"):
        holder.measure(query, spend=label)
    for label in ("rest", "first", "a", "b"):
        with pytest.raises(BudgetError, match="used up"):
            holder.measure(query, spend=label)


def test_only_a_whole_spend_of_a_proved_plan_is_divided() -> None:
    half = Fraction(1, 2)
    part = (Spend(label="part", epsilon=Fraction(1)),)
    twice = holder_of(Spend(label="twice", epsilon=half, times=2))
    with pytest.raises(BudgetError, match="not planned to be divided"):
        twice.divide("twice", part)
    joint = Plan(
        guarantee=JointDP(epsilon=Fraction(1), delta=Fraction(1, 2**60), coalition=1, unit=Unit.ADD_REMOVE),
        spends=(Spend(label="whole", epsilon=Fraction(1)),),
        cells_at_most=8,
    )
    assert Purse(joint).divide("whole", part).spends == part
    claim = Plan(
        guarantee=Unproven(claim=PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE), reason="it is wrong."),
        spends=joint.spends,
        cells_at_most=8,
    )
    with pytest.raises(BudgetError, match="not planned to be divided"):
        Purse(claim).divide("whole", part)


def test_under_replace_parts_add_up_to_what_they_cost_there() -> None:
    purse = Purse(plan_of(Spend(label="rest", epsilon=Fraction(1)), unit=Unit.REPLACE))
    with pytest.raises(BudgetError, match="add up"):
        purse.divide("rest", (Spend(label="part", epsilon=Fraction(1), shared=True),))
    purse.divide("rest", (Spend(label="part", epsilon=Fraction(1, 2), shared=True),))
    assert purse.unit("part") is Unit.ADD_REMOVE


def test_a_shared_price_counts_double_under_replace() -> None:
    spend = Spend(label="split", epsilon=Fraction(1, 3), times=3, shared=True)
    assert spend.total(Unit.ADD_REMOVE) == 1
    assert spend.total(Unit.REPLACE) == 2


def test_a_plan_that_does_not_add_up_is_refused() -> None:
    spend = Spend(label="count", epsilon=Fraction(1, 3), times=3)
    with pytest.raises(BudgetError, match="add up"):
        Plan(guarantee=PureDP(epsilon=Fraction(99, 100), unit=Unit.ADD_REMOVE), spends=(spend,), cells_at_most=1)
    with pytest.raises(BudgetError, match="unique"):
        plan_of(spend, spend)


class Recording:
    """A source of noise that adds none and records the requests, for tests only."""

    def __init__(self) -> None:
        self.requests: list[tuple[Integers, int, bool, Fraction, Selection]] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        raise AssertionError("no measurement is expected here")

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        self.requests.append((scores, sensitivity, monotone, epsilon, selection))
        return int(scores.argmax())


def test_log_weights_are_exact_offsets_in_score_units() -> None:
    noise = Recording()
    holder = holder_of(Spend(label="split", epsilon=Fraction(1, 4)), noise=noise)
    query = splits(0, 8)
    holder.choose(query, spend="split", log_weights=[-1.5] * len(query.candidates))
    scores, sensitivity, monotone, epsilon, _ = noise.requests[0]
    plain = query.answer(engine_of(SCHEMA, ROWS).tabulate(query.tabulation))
    offset = round(-1.5 * 4 * 2**OFFSET_BITS)
    assert monotone and epsilon == Fraction(1, 4) and sensitivity == 2**OFFSET_BITS
    np.testing.assert_array_equal(scores, plain * 2**OFFSET_BITS + offset)


def test_a_query_is_answered_only_as_what_it_is() -> None:
    """A bound on each score is no bound on the sum of all changes: scores must not be measured for the price of one."""
    holder = holder_of(Spend(label="split", epsilon=Fraction(1)))
    with pytest.raises(BudgetError, match="not a query of this kind"):
        holder.measure(splits(0, 8), spend="split")  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="not a query of this kind"):
        holder.choose(CellCounts(cut=Cut.top(SCHEMA)), spend="split")  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="not a query of this kind"):
        holder.choose_in_parts(splits(0, 8), spend="split")  # type: ignore[arg-type]
    assert holder.purse.left == {"split": 1}, "nothing was paid"


class HugeScores(ValueScores):
    """Scores at the ends of 64 bits, as very many records give them."""

    def answer(self, counts: Counts) -> Integers:
        ends = [-(2**62), -(2**47), 0, 2**46, 2**47, 2**62]
        return np.array([*ends, *([0] * (len(self.candidates) - len(ends)))], dtype=np.int64)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10**9), Fraction(1, 10**15)])
def test_scores_and_offsets_are_clipped_and_never_wrap(epsilon: Fraction) -> None:
    noise = Recording()
    holder = holder_of(Spend(label="split", epsilon=epsilon), noise=noise)
    plain = splits(0, 8)
    query = HugeScores(schema=SCHEMA, candidates=plain.candidates, score=Score.MAX, within=plain.within)
    holder.choose(query, spend="split", log_weights=[-21.5, *([0.0] * (len(plain.candidates) - 1))])
    scores, sensitivity, _, _, _ = noise.requests[0]
    ordered = scores[1:6]
    assert (np.diff(ordered) >= 0).all() and ordered[0] < 0 < ordered[-1], "the order of scores is kept"
    assert scores[0] <= scores[1], "a negative offset lowers a score"
    assert sensitivity == 2**OFFSET_BITS


def test_the_same_counts_are_tabulated_once() -> None:
    class Counting:
        def __init__(self) -> None:
            self.requests: list[Tabulation] = []

        def tabulate(self, request: Tabulation) -> Counts:
            self.requests.append(request)
            return engine_of(SCHEMA, ROWS).tabulate(request)

    engine = Counting()
    plan = plan_of(Spend(label="split", epsilon=Fraction(1), times=5))
    holder = CentralHolder(engine=engine, noise=PaidNoise(), plan=plan)
    for low in range(4):
        holder.choose(splits(low, 8), spend="split")
    assert len(engine.requests) == 1
