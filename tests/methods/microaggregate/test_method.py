"""`microaggregate`: declared sensitivities, plans that add up, and accuracy of the release."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.auditing.laws.queries import check_added_record, check_replaced_record, engine_of, exact_answer
from scumble.errors import BudgetError, CheckError, InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.coordinates import Layout, require_numbers
from scumble.methods.mdav.method import ExactSums
from scumble.methods.mdav.queries import GroupingRule, GroupSums
from scumble.methods.microaggregate.method import MicroaggregateMethod
from scumble.methods.microaggregate.parameters import Centre, Microaggregate, partition_settings
from scumble.methods.microaggregate.partition import POSITIONS, Partition, positions, widest_side
from scumble.methods.microaggregate.queries import Balance, Sizes, Sums
from scumble.methods.microaggregate.sizes import usable_sizes
from scumble.model.counts import Block, Integers
from scumble.model.grid import Grid
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan, Spend
from scumble.model.schema import Schema
from scumble.privacy.holder import OFFSET_BITS, CentralHolder
from scumble.privacy.noise import PaidNoise, Selection, simulation
from scumble.privacy.query import RowChoice, RowMeasurement, RowQuery, Sensitivity
from scumble.reproductions.microaggregation.figures import NumericTable, constant_line, containing, default_line
from scumble.reproductions.microaggregation.violation import distance_apart, exact_centres, random_changes

SCHEMA = parse_schema(
    """
scumble: schema/1
unit: replace
rows: 9
attributes:
  a: {numeric: {low: 0, high: 12, step: 1}}
  b: {numeric: {low: -3, high: 3, step: 0.5}}
  c: {numeric: {edges: [0, 1, 5, 20, 100]}}
"""
)
WIDTHS = [attribute.domain.size for attribute in SCHEMA.attributes]
RECORDS = st.tuples(*(st.integers(0, width - 1) for width in WIDTHS))
TABLES = st.lists(RECORDS, max_size=9)
PARTITION = Partition.whole(SCHEMA).halve({0: (0, 5)}).halve({0: (1, 6), 1: (2, 2)}).halve({3: (0, 9)})


def balance(leaves: Sequence[int] = (0, 1, 4), sides: Sequence[int] = (0, 1, 2)) -> Balance:
    offered = []
    for leaf, side in zip(leaves, sides, strict=True):
        grid = SCHEMA.attributes[side].domain
        assert isinstance(grid, Grid)
        offered.append(positions(grid, *PARTITION.boxes[leaf][side]))
    return Balance(partition=PARTITION, leaves=tuple(leaves), sides=tuple(sides), positions=tuple(offered))


QUERIES: list[RowQuery] = [
    balance(),
    balance((3,), (1,)),
    Sizes(partition=PARTITION),
    Sums(partition=PARTITION, amounts=require_numbers(SCHEMA, "test")),
]
UNDER_REPLACE: list[RowQuery] = [
    *QUERIES,
    GroupSums(schema=SCHEMA, grouping=GroupingRule.RECORDS),
    GroupSums(schema=SCHEMA, grouping=GroupingRule.INSENSITIVE, k=2),
    GroupSums(schema=SCHEMA, grouping=GroupingRule.INSENSITIVE, k=4),
]


def shipped(kind: type) -> set[type]:
    below = {each for child in kind.__subclasses__() for each in shipped(child)}
    concrete = kind.__module__.startswith("scumble.") and not getattr(kind, "__abstractmethods__", None)
    return below | ({kind} if concrete and kind not in (RowChoice, RowMeasurement) else set())


def test_every_row_query_is_checked() -> None:
    """`ExactSums` declares no bound: a holder returns it only under a plan without differential privacy."""
    elsewhere = (
        "scumble.methods.diffgen.detail",  # tests/methods/diffgen/detail/test_queries.py
        "scumble.methods.diffp_c45",  # tests/methods/diffp_c45/test_queries.py
        "scumble.methods.explore",  # tests/methods/explore/test_queries.py
        "scumble.methods.microaggregate.mixed",  # tests/methods/microaggregate/mixed/test_profiles.py
        "scumble.methods.mondrian",  # declares no bound either: tests/methods/mondrian
        "scumble.methods.tds",  # nor does this: tests/methods/tds
    )
    here = {kind for kind in shipped(RowQuery) if not kind.__module__.startswith(elsewhere)}
    assert here == {type(query) for query in UNDER_REPLACE} | {ExactSums}
    with pytest.raises(InputError, match="no sensitivity"):
        ExactSums(layout=Layout(schema=SCHEMA), k=2).sensitivity(Unit.REPLACE)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@given(rows=TABLES, record=RECORDS)
def test_no_added_record_exceeds_the_declared_sensitivity(
    query: RowQuery, rows: list[tuple[int, ...]], record: tuple[int, ...]
) -> None:
    check_added_record(query, SCHEMA, rows, record)


@pytest.mark.parametrize("query", UNDER_REPLACE, ids=lambda query: type(query).__name__)
@given(rows=st.lists(RECORDS, min_size=8, max_size=8), record=RECORDS, other=RECORDS)
def test_no_replaced_record_exceeds_the_declared_sensitivity(
    query: RowQuery, rows: list[tuple[int, ...]], record: tuple[int, ...], other: tuple[int, ...]
) -> None:
    check_replaced_record(query, SCHEMA, rows, record, other)


@dataclass(frozen=True, kw_only=True)
class Understated(RowQuery):
    """A query that declares less than it should, for tests only."""

    inner: RowQuery
    bound: int
    boxes: tuple[tuple[tuple[int, int], ...], ...] | None = None

    @property
    def parts(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        return self.inner.parts if self.boxes is None else self.boxes

    def answer(self, blocks: Iterable[Block]) -> Integers:
        return self.inner.answer(blocks)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        return replace(self.inner.sensitivity(unit), bound=self.bound)


class UnderstatedChoice(Understated, RowChoice):
    pass


def caught(query: RowQuery, schema: Schema = SCHEMA, tries: int = 400) -> bool:
    """Whether the check finds a violation by a query, on tables with many records in corners of the domain."""
    draw = simulation(3)
    widths = [attribute.domain.size for attribute in schema.attributes]
    assert schema.rows is not None

    def record() -> tuple[int, ...]:
        corner = draw.random() < 0.5
        return tuple(int(draw.integers(2)) * (w - 1) if corner else int(draw.integers(w)) for w in widths)

    for _ in range(tries):
        *rows, one, other = (record() for _ in range(schema.rows + 1))
        try:
            check_replaced_record(query, schema, rows, one, other)
        except CheckError:
            return True
    return False


@pytest.mark.parametrize("query", UNDER_REPLACE, ids=lambda query: type(query).__name__)
def test_a_lowered_bound_is_caught(query: RowQuery) -> None:
    """Tight bounds are lowered by one. I-MDAV's bound is not tight: it is lowered below that of a single group."""
    bound = query.sensitivity(Unit.REPLACE).bound
    insensitive = isinstance(query, GroupSums) and query.grouping is GroupingRule.INSENSITIVE
    kind = UnderstatedChoice if isinstance(query, RowChoice) else Understated
    assert not caught(kind(inner=query, bound=bound))
    assert caught(kind(inner=query, bound=query.reach - 1 if insensitive else bound - 1))  # type: ignore[attr-defined]


def test_a_line_that_depends_on_a_record_outside_its_box_is_caught() -> None:
    query = UnderstatedChoice(inner=balance((0, 1), (0, 0)), bound=1, boxes=(PARTITION.boxes[1], PARTITION.boxes[0]))
    inside_0 = tuple(low for low, _ in PARTITION.boxes[0])
    outside = [tuple(high - 1 for _, high in PARTITION.boxes[0])] * 3
    with pytest.raises(CheckError, match="declares the part"):
        check_added_record(query, SCHEMA, outside, inside_0)


def test_the_law_catches_s_mdav() -> None:
    """Its declared sensitivity is the paper's claim about a pair of tables. Grouping each table by itself violates
    it."""
    schema = replace(SCHEMA, rows=8, attributes=SCHEMA.attributes[:2])
    query = GroupSums(schema=schema, grouping=GroupingRule.STABLE, k=2)
    assert caught(query, schema)


@given(rows=TABLES)
def test_answers_equal_those_of_a_readable_twin_for_any_blocks(rows: list[tuple[int, ...]]) -> None:
    query = balance()
    lines = []
    for leaf, side, offered in zip(query.leaves, query.sides, query.positions, strict=True):
        box = PARTITION.boxes[leaf]
        inside = [row for row in rows if all(low <= code < high for code, (low, high) in zip(row, box, strict=True))]
        before = [sum(row[side] < position for row in inside) for position in offered]
        lines.append([min(number, len(inside) - number) for number in before])
    assert exact_answer(query, SCHEMA, rows).tolist() == lines
    halves = [*engine_of(SCHEMA, rows[::2]).blocks(), *engine_of(SCHEMA, rows[1::2]).blocks()]
    for each in QUERIES:
        np.testing.assert_array_equal(each.answer(halves), exact_answer(each, SCHEMA, rows))
    sizes = exact_answer(Sizes(partition=PARTITION), SCHEMA, rows)
    assert sizes.sum() == len(rows)
    labels = containing(PARTITION.boxes, np.array(rows, dtype=np.int64).reshape(-1, 3))
    np.testing.assert_array_equal(np.bincount(labels, minlength=len(sizes)), sizes)


def plan_of(*spends: Spend, unit: Unit = Unit.REPLACE) -> Plan:
    total = sum((spend.total(unit) for spend in spends), Fraction(0))
    return Plan(guarantee=PureDP(epsilon=total, unit=unit), spends=spends, cells_at_most=8)


class Recording:
    """A source of noise that adds none and records the requests, for tests only."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, bool, Fraction]] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        self.requests.append((sensitivity, False, epsilon))
        return values

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        self.requests.append((sensitivity, monotone, epsilon))
        return int(scores.argmax())


def test_parts_share_a_price_only_if_planned_and_disjoint() -> None:
    shared = Spend(label="shared", epsilon=Fraction(1, 4), times=3, shared=True)
    single = Spend(label="single", epsilon=Fraction(1, 4), times=3)
    noise = Recording()
    holder = CentralHolder(engine=engine_of(SCHEMA, [(1, 1, 1)]), noise=noise, plan=plan_of(shared, single))
    assert len(holder.choose_in_parts(balance(), spend="shared")) == 3
    assert noise.requests == [(1 << OFFSET_BITS, True, Fraction(1, 4))] * 3, (
        "each part satisfies its price under add-remove"
    )
    with pytest.raises(BudgetError, match="disjoint"):
        holder.choose_in_parts(balance(), spend="single")
    with pytest.raises(BudgetError, match="disjoint"):
        holder.choose_in_parts(balance((0, 1, 0), (0, 1, 2)), spend="shared")
    hidden = UnderstatedChoice(inner=balance(), bound=1, boxes=())
    with pytest.raises(BudgetError, match="more lines than it has parts"):
        holder.choose_in_parts(hidden, spend="shared")
    noise.requests.clear()
    holder.choose_in_parts(balance((0,), (0,)), spend="single")
    holder.measure(Sizes(partition=PARTITION), spend="single")
    assert noise.requests == [(1 << OFFSET_BITS, False, Fraction(1, 4)), (2, False, Fraction(1, 4))]


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**4), max_value=100, max_denominator=10**4),
    rows=st.integers(0, 10**8),
    unit=st.sampled_from(Unit),
    centre=st.sampled_from([Centre.MEDIAN, Centre.MEAN]),
    depth=st.just("auto") | st.integers(0, 16),
)
def test_every_plan_adds_up_exactly(epsilon: Fraction, rows: int, unit: Unit, centre: Centre, depth: object) -> None:
    schema = replace(SCHEMA, rows=rows, unit=unit)
    given_params = Microaggregate(epsilon=epsilon, centre=centre, depth=depth)
    plan = MicroaggregateMethod().plan(schema, given_params)
    assert sum((spend.total(unit) for spend in plan.spends), Fraction(0)) == epsilon
    assert plan.cells_at_most == 2 ** partition_settings(schema, given_params).depth


def test_depth_follows_epsilon_and_rows() -> None:
    def depth(rows: int, epsilon: str, unit: Unit = Unit.REPLACE) -> int:
        return partition_settings(replace(SCHEMA, rows=rows, unit=unit), Microaggregate(epsilon=epsilon)).depth

    assert [depth(rows, "1") for rows in (10, 1000, 10_000, 10**6, 10**8)] == [0, 2, 6, 10, 10]
    assert [depth(4000, epsilon) for epsilon in ("0.01", "0.1", "1", "10")] == [0, 1, 4, 8]
    assert depth(4000, "1", Unit.ADD_REMOVE) == depth(4000, "2"), "a shared price counts double under replace"
    without = replace(SCHEMA, rows=None, unit=Unit.ADD_REMOVE)
    assert partition_settings(replace(without, rows_at_most=4000), Microaggregate(epsilon=1)).depth == 5
    with pytest.raises(InputError, match="rows_at_most"):
        partition_settings(without, Microaggregate(epsilon=1))


@given(low=st.integers(0, 10**6 - 1), width=st.integers(1, 10**6), start=st.sampled_from([-500_000, 0, 1900, 10**6]))
def test_positions_lie_inside_and_ascend(low: int, width: int, start: int) -> None:
    high = min(low + width, 10**6)
    schema = parse_schema(
        f"scumble: schema/1\nattributes:\n  a: {{numeric: {{low: {start}, high: {start + 10**6}, step: 1}}}}\n"
    )
    grid = schema["a"].domain
    assert isinstance(grid, Grid)
    offered = positions(grid, low, high)
    assert len(offered) == POSITIONS and list(offered) == sorted(offered)
    assert all(low < place < high for place in offered) or offered == (low,) * POSITIONS
    assert (high - low == 1) == (offered[0] == low)


@given(cuts=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2), st.integers(0, 20)), max_size=8), record=RECORDS)
def test_every_record_lies_in_the_box_it_is_routed_to(
    cuts: list[tuple[int, int, int]], record: tuple[int, ...]
) -> None:
    partition = Partition.whole(SCHEMA)
    for number, side, place in cuts:
        leaf = number % len(partition.boxes)
        low, high = partition.boxes[leaf][side]
        if high - low > 1:
            partition = partition.halve({leaf: (side, low + 1 + place % (high - low - 1))})
    leaf = int(partition.leaf_of(np.array([record], dtype=np.int32))[0])
    assert all(low <= code < high for code, (low, high) in zip(record, partition.boxes[leaf], strict=True))
    assert containing(partition.boxes, np.array([record])).tolist() == [leaf]
    assert widest_side(SCHEMA, tuple((3, 4) for _ in WIDTHS)) is None


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("centre", [Centre.MEDIAN, Centre.MEAN])
@pytest.mark.parametrize("rows", [0, 1, 9, 3000])
def test_small_and_constant_tables_make_a_release(unit: Unit, centre: Centre, rows: int) -> None:
    schema = replace(SCHEMA, rows=rows, unit=unit)
    table = [(3, 3, 1)] * rows  # constant columns
    method, given_params = MicroaggregateMethod(), Microaggregate(epsilon=1, centre=centre)
    holder = CentralHolder(engine=engine_of(schema, table), noise=PaidNoise(), plan=method.plan(schema, given_params))
    made = method.groups(schema, given_params, holder)
    assert not any(holder.purse.left.values()), "every planned spend was used"
    assert made.boxes is not None and len(made.boxes) == len(made.centres) == len(made.sizes)
    assert (made.sizes >= 0).all()
    if unit is Unit.REPLACE:
        assert made.sizes.sum() == rows
    for centre_values, box in zip(made.numbers, made.boxes, strict=True):
        assert 0 <= centre_values[0] < 12 and box[0][0] <= centre_values[0] < max(box[0][1], 1)


def test_sizes_keep_the_public_number_of_rows() -> None:
    schema = replace(SCHEMA, rows=100)
    assert usable_sizes(np.array([70, -8, 20, 30]), schema).sum() == 100
    assert usable_sizes(np.array([50, 20, 20, 20]), replace(schema, unit=Unit.ADD_REMOVE)).sum() == 110


def test_groups_are_close_to_the_rows_and_means_preserve_averages() -> None:
    schema = generated_schema(20_000)
    rows = generated_rows(20_000)
    table = NumericTable("generated", schema, rows)
    constant = constant_line(table).il1s
    median = default_line(table, Fraction(1), 2, PaidNoise())
    mean = default_line(table, Fraction(1), 2, PaidNoise(), centre="mean")
    assert median.il1s < 0.55 * constant and mean.il1s < 0.6 * constant
    assert median.margins is not None and median.margins < 0.25 * constant
    method, given_params = MicroaggregateMethod(), Microaggregate(epsilon=1, centre="mean")
    holder = CentralHolder(
        engine=engine_of(schema, rows.tolist()), noise=PaidNoise(), plan=method.plan(schema, given_params)
    )
    made = method.groups(schema, given_params, holder)
    average = (made.numbers * made.sizes[:, None]).sum(axis=0) / made.sizes.sum()
    assert average == pytest.approx(table.numbers.mean(axis=0), rel=0.15)


def generated_schema(rows: int) -> Schema:
    lines = "".join(f"  a{side}: {{numeric: {{low: 0, high: 50000, step: 1}}}}\n" for side in range(3))
    return parse_schema(f"scumble: schema/1\nunit: replace\nrows: {rows}\nattributes:\n{lines}")


def generated_rows(rows: int) -> Integers:
    draw = simulation(11)
    size = draw.normal(size=(rows, 1))
    values = np.exp(7 + 0.8 * size + 0.4 * draw.normal(size=(rows, 3)))
    return np.minimum(values, 49_999).astype(np.int64)


WANTED = {"census": (0.80, 0.70, 0.36, 0.23), "eia": (0.41, 0.34, 0.17, 0.085)}


@pytest.mark.parametrize("name", list(WANTED))
def test_the_default_reaches_the_required_accuracy(data_folder: Path, name: str) -> None:
    """Few runs here, 40 in benchmarks/microaggregation.py; the means lie several standard errors below the bounds."""
    table = NumericTable.load(name)
    for epsilon, wanted, runs in zip(("0.01", "0.1", "1", "10"), WANTED[name], (2, 8, 6, 4), strict=True):
        line = default_line(table, Fraction(epsilon), runs, PaidNoise())
        assert line.il1s <= wanted, f"eps {epsilon}"
        assert line.il1s <= constant_line(table).il1s


def test_s_mdav_changes_by_more_than_its_noise_is_calibrated_to() -> None:
    moved = random_changes(rows=200, k=5, attributes=4, pairs=6, seed=2)
    assert float(np.median(moved)) > 2
    same = simulation(0).integers(0, 1001, (60, 2))
    assert distance_apart(exact_centres(same, 5), exact_centres(same, 5)) == 0
