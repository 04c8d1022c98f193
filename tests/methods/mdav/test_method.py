"""MDAV, I-MDAV and S-MDAV against their readable twins; published values; categories; bad input."""

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from microaggregation_twins import twin_insensitive, twin_mdav, twin_stable

from scumble.auditing.laws.queries import engine_of
from scumble.errors import BudgetError, InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.coordinates import FIXED_POINT, Amounts, Layout
from scumble.methods.mdav.insensitive import insensitive_mdav, insensitive_sizes
from scumble.methods.mdav.mdav import group_sizes, mdav
from scumble.methods.mdav.method import (
    I_MDAV,
    IMDAV,
    MDAV,
    PLAIN,
    S_MDAV,
    ExactSums,
    MDAVMethod,
    Plain,
)
from scumble.methods.mdav.queries import GroupingRule, GroupSums
from scumble.methods.mdav.stable import stable_pair
from scumble.model.counts import Integers
from scumble.model.guarantee import KAnonymity, PureDP, Unproven
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, simulation
from scumble.reproductions.microaggregation.measures import il1s, linkage_risk, margins_distance, sse_over_sst

SMALL_TABLES = st.integers(1, 3).flatmap(
    lambda sides: st.integers(0, 60).flatmap(
        lambda rows: arrays(np.int64, (rows, sides), elements=st.integers(-4, 4) | st.integers(-(10**9), 10**9))
    )
)


@given(table=SMALL_TABLES, k=st.integers(2, 9))
@settings(max_examples=150)
def test_mdav_equals_its_twin_including_ties(table: np.ndarray, k: int) -> None:
    labels = mdav(table, k)
    assert labels.tolist() == twin_mdav(table, k)
    np.testing.assert_array_equal(np.bincount(labels, minlength=0), group_sizes(len(table), k))


@pytest.mark.parametrize(("rows", "sides", "k"), [(700, 4, 3), (400, 13, 10), (300, 2, 100), (500, 1, 7)])
def test_mdav_equals_its_twin_on_larger_tables(rows: int, sides: int, k: int) -> None:
    values = simulation(rows).normal(size=(rows, sides)) ** 3
    table = np.rint(values * FIXED_POINT).astype(np.int64)
    table[: rows // 4] = table[0]  # many records alike
    assert mdav(table, k).tolist() == twin_mdav(table, k)


@given(rows=st.integers(0, 200), k=st.integers(2, 20))
def test_every_group_has_k_to_2k_minus_1(rows: int, k: int) -> None:
    for sizes in (group_sizes(rows, k), insensitive_sizes(rows, k)):
        assert sizes.sum() == rows
        if rows >= k:
            assert sizes.min() >= k and sizes.max() <= 2 * k - 1


@pytest.mark.parametrize(("name", "wanted"), [("tarragona", [16.93, 22.46, 33.19]), ("census", [5.69, 9.09, 14.16])])
def test_mdav_has_the_published_information_loss(data_folder: Path, name: str, wanted: list[float]) -> None:
    with (data_folder / f"{name}.csv").open() as file:
        values = np.array(list(csv.reader(file))[1:], dtype=np.float64)
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    coordinates = np.rint(values * FIXED_POINT).astype(np.int64)
    assert [round(sse_over_sst(values, mdav(coordinates, k)), 2) for k in (3, 5, 10)] == wanted


@given(table=SMALL_TABLES.map(np.abs), k=st.integers(2, 9))
def test_insensitive_mdav_equals_its_twin(table: np.ndarray, k: int) -> None:
    largest = [10**9] * table.shape[1]
    labels = insensitive_mdav(table, largest, k)
    found = {
        frozenset(np.flatnonzero(labels == group).tolist()) for group in range(len(insensitive_sizes(len(table), k)))
    }
    twin = twin_insensitive(table, largest, k)
    # Equal records are interchangeable: compare what the groups hold.
    grouped = sorted(sorted(tuple(table[row]) for row in group) for group in found)
    assert grouped == sorted(sorted(tuple(table[row]) for row in group) for group in twin)


@given(
    table=arrays(np.int64, (17, 2), elements=st.integers(0, 50)),
    row=st.integers(0, 16),
    replacement=arrays(np.int64, 2, elements=st.integers(0, 50)),
)
def test_a_replaced_record_changes_one_member_of_each_insensitive_group(
    table: np.ndarray, row: int, replacement: np.ndarray
) -> None:
    other = table.copy()
    other[row] = replacement
    one, two = (insensitive_mdav(t, [50, 50], 3) for t in (table, other))
    for group in range(len(insensitive_sizes(17, 3))):
        before = sorted(map(tuple, table[one == group]))
        after = sorted(map(tuple, other[two == group]))
        for record in after:
            if record in before:
                before.remove(record)
        assert len(before) <= 1


@given(
    table=arrays(np.int64, (13, 2), elements=st.integers(0, 1000)),
    row=st.integers(0, 12),
    replacement=arrays(np.int64, 2, elements=st.integers(0, 1000)),
)
def test_algorithm_1_equals_its_twin_and_is_stable_as_a_pair(
    table: np.ndarray, row: int, replacement: np.ndarray
) -> None:
    groups_x, groups_y = stable_pair(table, row, replacement, lambda points: mdav(points, 3))
    np.testing.assert_array_equal(groups_x, mdav(table, 3))
    twin = twin_stable(table, row, replacement, groups_x)
    y = table.copy()
    y[row] = replacement
    assert sse_over_sst(y.astype(float), groups_y) == pytest.approx(sse_over_sst(y.astype(float), np.array(twin)))
    np.testing.assert_array_equal(np.bincount(groups_y), np.bincount(groups_x))
    assert (groups_x != groups_y).sum() in (0, 2), "Definition 3.1: two groups, one record each"


MIXED = parse_schema(
    """
scumble: schema/1
unit: replace
rows: 9
attributes:
  age: {numeric: {low: 20, high: 80, step: 0.5}}
  band: {numeric: {edges: [0, 10, 40, 100]}}
  job: {taxonomy: {Any: {Office: {Clerk: , Lawyer: }, Field: {Nurse: , Driver: {Bus: , Tram: }}}}}
"""
)


def test_the_distance_of_categories_is_the_path_length_in_the_taxonomy() -> None:
    layout = Layout(schema=MIXED)
    codes = MIXED["job"].domain.codes
    rows = np.array([(0, 0, codes[job]) for job in ("Clerk", "Lawyer", "Nurse", "Bus", "Tram")])
    numbers = layout.numbers(rows)[:, layout.columns[2]]
    steps = ((numbers[:, None] - numbers[None, :]) ** 2).sum(axis=2)
    assert steps.tolist() == [[0, 2, 4, 5, 5], [2, 0, 4, 5, 5], [4, 4, 0, 3, 3], [5, 5, 3, 0, 2], [5, 5, 3, 2, 0]]


def test_all_attributes_have_equal_weight_and_a_constant_one_has_none() -> None:
    layout = Layout(schema=MIXED)
    rows = np.stack([simulation(1).integers(0, n, 400) for n in (120, 3, 5)], axis=1)
    rows[:, 1] = 2
    coordinates = layout.standardized(rows) / FIXED_POINT
    spread = [float((coordinates[:, place] ** 2).mean(axis=0).sum()) for place in layout.columns]
    assert spread == pytest.approx([1, 0, 1], abs=1e-6)


def test_amounts_are_exact_on_regular_and_irregular_grids() -> None:
    age, band = Amounts.of(MIXED["age"]), Amounts.of(MIXED["band"])
    assert (age.low, age.unit, age.largest) == (20, Fraction(1, 2), 119)
    codes = np.array([0, 1, 2])
    assert [band.value(float(amount)) for amount in band.of_codes(codes)] == [5, 25, 70]


def test_mdav_releases_mixed_groups_exactly_and_only_as_k_anonymity() -> None:
    rows = [(0, 0, 0), (2, 0, 0), (4, 0, 1), (100, 2, 3), (102, 2, 3), (104, 2, 4), (50, 1, 2), (52, 1, 2), (54, 1, 2)]
    given_k = MDAV(k=3)
    plan = MDAVMethod().plan(MIXED, given_k)
    assert plan.guarantee == KAnonymity(k=3) and plan.spends == ()
    made = MDAVMethod().groups(
        MIXED, given_k, CentralHolder(engine=engine_of(MIXED, rows), noise=PaidNoise(), plan=plan)
    )
    assert sorted(made.centres) == [(21.0, 5.0, "Clerk"), (46.0, 25.0, "Nurse"), (71.0, 70.0, "Bus")]
    assert made.sizes.tolist() == [3, 3, 3]


WITH_MISSING = parse_schema(
    """
scumble: schema/1
unit: replace
rows: 9
attributes:
  stay: {numeric: {edges: [0, 2, 10, 40]}, missing: "?"}
  pain: {ordered: [none, mild, severe], missing: unknown}
  day: {date: {from: 2024-01-01, to: 2024-02-01, step: day}, missing: "-"}
"""
)


def test_missing_values_have_a_column_of_their_own() -> None:
    layout = Layout(schema=WITH_MISSING)
    rows = np.stack([simulation(4).integers(0, n, 500) for n in (4, 4, 32)], axis=1)
    numbers = layout.numbers(rows)
    for place, missing in zip(layout.columns, (3, 3, 31), strict=True):
        absent = rows[:, place.start // 2] == missing
        np.testing.assert_array_equal(numbers[:, place.start + 1], absent)
        assert not numbers[absent, place.start].any()
    coordinates = layout.standardized(rows) / FIXED_POINT
    spread = [float((coordinates[:, place] ** 2).mean(axis=0).sum()) for place in layout.columns]
    assert spread == pytest.approx([1, 1, 1], abs=1e-6)
    absent = rows[:, 0] == 3
    known, gone = coordinates[~absent, :2], coordinates[absent, :2]
    between = ((known[:, None] - known[None, :]) ** 2).sum(axis=2).mean()
    across = ((known[:, None] - gone[None, :]) ** 2).sum(axis=2).mean()
    assert across == pytest.approx(1.5 * between), "farther than two values from each other"


def test_mdav_groups_missing_values() -> None:
    rows = [(0, 0, 0), (0, 0, 2), (3, 3, 31), (1, 1, 20), (1, 2, 20), (2, 1, 23), (3, 3, 31), (3, 3, 31), (3, 3, 31)]
    plan = MDAVMethod().plan(WITH_MISSING, MDAV(k=3))
    holder = CentralHolder(engine=engine_of(WITH_MISSING, rows), noise=PaidNoise(), plan=plan)
    release = MDAVMethod().run(WITH_MISSING, MDAV(k=3), holder)
    assert sorted(release.columns["stay"].tolist(), key=str)[-3:] == pytest.approx([float("nan")] * 3, nan_ok=True)
    assert set(release.columns["pain"].tolist()) == {"none", "mild", "unknown"}
    assert set(release.columns["day"].tolist()) == {"2024-01-02", "2024-01-22", "-"}
    centres = [group["centre"]["stay"] for group in release.documents["groups"]["groups"]]
    assert sorted(map(str, centres)) == ["1.0", "12.333333333333334", "None"], "plain data has no NaN"


def test_an_exact_answer_needs_a_plan_without_differential_privacy() -> None:
    rows = [(0, 0, 0)] * 9
    query = ExactSums(layout=Layout(schema=MIXED), k=3)
    for private in (
        I_MDAV.plan(NUMBERS, IMDAV(k=2, epsilon=1)),
        PLAIN.plan(NUMBERS, Plain(epsilon=1)),
    ):
        assert isinstance(private.guarantee, PureDP)
        with pytest.raises(BudgetError, match="exact answer"):
            CentralHolder(engine=engine_of(MIXED, rows), noise=PaidNoise(), plan=private).disclose(query)
    open_holder = CentralHolder(
        engine=engine_of(MIXED, rows), noise=PaidNoise(), plan=MDAVMethod().plan(MIXED, MDAV(k=3))
    )
    with pytest.raises(BudgetError, match="No spend"):
        open_holder.measure(GroupSums(schema=NUMBERS, grouping=GroupingRule.RECORDS), spend="any")


NUMBERS = parse_schema(
    """
scumble: schema/1
unit: replace
rows: 12
attributes:
  a: {numeric: {low: 0, high: 50, step: 1}}
  b: {numeric: {low: 0, high: 7, step: 1}}
"""
)
ROWS = [(4 * i, i % 7) for i in range(12)]


def test_each_method_plans_the_guarantee_that_is_proved() -> None:
    given_both = IMDAV(k=3, epsilon="0.5")
    proved, unproven = I_MDAV.plan(NUMBERS, given_both), S_MDAV.plan(NUMBERS, given_both)
    assert isinstance(proved.guarantee, PureDP)
    assert isinstance(unproven.guarantee, Unproven)
    assert unproven.guarantee.sentence.startswith("UNPROVEN.")
    assert unproven.to_json()["guarantee"]["kind"] == "Unproven"
    with pytest.raises(BudgetError, match="add up"):
        Plan(guarantee=unproven.guarantee, spends=(), cells_at_most=1)
    with pytest.raises(BudgetError, match="nothing to spend"):
        Plan(guarantee=KAnonymity(k=2), schema_unit=NUMBERS.unit, spends=unproven.spends, cells_at_most=1)


class KeptNoise(PaidNoise):
    """The shipped noise, which also keeps what it added."""

    def __init__(self) -> None:
        self.drawn: list[Integers] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        noisy = super().laplace(values, sensitivity=sensitivity, epsilon=epsilon)
        self.drawn.append(noisy - values)
        return noisy


class NoNoise(PaidNoise):
    """For the exact answers behind a release."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return values


def test_plain_does_not_release_the_order_of_the_rows() -> None:
    """A table is a multiset: in whatever order its rows are, the distribution of the release is the same."""
    chosen = Plain(epsilon=1)
    plan = PLAIN.plan(NUMBERS, chosen)

    def published(rows: Sequence[Sequence[int]]) -> list[tuple[float, ...]]:
        holder = CentralHolder(engine=engine_of(NUMBERS, rows), noise=NoNoise(), plan=plan)
        return [tuple(line) for line in PLAIN.groups(NUMBERS, chosen, holder).numbers.tolist()]

    assert published(ROWS) == published(ROWS[::-1]) == sorted(published(ROWS))


@pytest.mark.parametrize(("method", "groups"), [(PLAIN, 1), (I_MDAV, 4), (S_MDAV, 2)])
def test_the_noise_scale_is_as_stated_and_sizes_divide_after_the_noise(method: object, groups: int) -> None:
    """The noise scale of a sum is groups x attributes x range / epsilon. 30 % less or more is detected."""
    plain = method is PLAIN
    given_params = Plain(epsilon=2) if plain else IMDAV(k=3, epsilon=2)
    query = GroupSums(schema=NUMBERS, grouping=method.grouping, k=1 if plain else 3)  # type: ignore[attr-defined]
    plan = method.plan(NUMBERS, given_params)  # type: ignore[attr-defined]
    exact = query.answer(engine_of(NUMBERS, ROWS).blocks())
    noise = KeptNoise()
    for _ in range(150):
        holder = CentralHolder(engine=engine_of(NUMBERS, ROWS), noise=noise, plan=plan)
        holder.measure(query, spend=plan.spends[0].label)
    spread = np.abs(np.concatenate([each.reshape(-1, 2) / query.weights for each in noise.drawn])).mean(axis=0)
    stated = np.array([groups * 2 * width / 2 for width in (49, 6)])
    # 600 to 1800 draws of |Laplace|: its mean is known to 4 % at worst, so 25 % is six deviations.
    assert (np.abs(spread / stated - 1) < 0.25).all()
    made = method.groups(
        NUMBERS, given_params, CentralHolder(engine=engine_of(NUMBERS, ROWS), noise=PaidNoise(), plan=plan)
    )  # type: ignore[attr-defined]
    assert made.sizes.sum() == 12
    assert (made.numbers >= 0).all() and (made.numbers <= [49, 6]).all()
    np.testing.assert_allclose(
        query.centres(exact, 12) * query.sizes(12)[:, None], (exact.reshape(-1, 2) / query.weights), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("k", "message"), [(1, "group of one"), (0, "group of one"), (13, "at most half"), (7, "at most 6")]
)
def test_a_bad_k_is_refused_by_the_plan(k: int, message: str) -> None:
    for method in (I_MDAV, S_MDAV):
        with pytest.raises(InputError, match=message):
            method.plan(NUMBERS, IMDAV(k=k, epsilon=1))
    with pytest.raises(InputError, match=message):
        MDAVMethod().plan(NUMBERS, MDAV(k=k))


def schema_with(line: str, unit: str = "unit: replace\nrows: 12") -> Schema:
    return parse_schema(f"scumble: schema/1\n{unit}\nattributes:\n  a: {line}\n")


def test_unsupported_schemas_are_refused_by_the_plan() -> None:
    numeric, given_both = "{numeric: {low: 0, high: 9, step: 1}}", IMDAV(k=3, epsilon=1)
    with pytest.raises(InputError, match="is a category"):
        I_MDAV.plan(MIXED, given_both)
    with pytest.raises(InputError, match="missing"):
        I_MDAV.plan(schema_with('{numeric: {low: 0, high: 9, step: 1}, missing: "?"}'), given_both)
    for method, params in ((I_MDAV, given_both), (S_MDAV, given_both), (PLAIN, Plain(epsilon=1))):
        with pytest.raises(InputError, match="unit: replace"):
            method.plan(schema_with(numeric, "rows: 12"), params)
    with pytest.raises(InputError, match="exact number of rows"):
        MDAVMethod().plan(schema_with(numeric, "rows: 12"), MDAV(k=3))


def test_constant_columns_and_empty_cells_are_supported() -> None:
    labels = mdav(np.zeros((10, 3), dtype=np.int64), 3)
    assert sorted(np.bincount(labels).tolist()) == [3, 3, 4]
    assert mdav(np.zeros((0, 3), dtype=np.int64), 3).tolist() == []
    assert Layout(schema=NUMBERS).standardized(np.zeros((0, 2), dtype=np.int64)).shape == (0, 2)


def test_measures_follow_their_definition() -> None:
    original = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0], [6.0, 5.0]])
    deviation = original[:, 0].std(ddof=1)
    shifted = original + np.array([1.0, 3.0])
    assert il1s(original, shifted) == pytest.approx(1 / (np.sqrt(2) * deviation)), "constant columns are left out"
    labels, centres = np.array([0, 0, 1, 1]), np.array([[1.0, 5.0], [5.0, 5.0]])
    assert sse_over_sst(original, labels) == pytest.approx(100 * 4 / 20)
    assert linkage_risk(original, centres, labels) == pytest.approx(1 / 2)
    assert linkage_risk(original, original, np.arange(4)) == 1
    assert linkage_risk(original, np.full((2, 2), 5.0), labels) == pytest.approx(1 / 4), "alike groups hide each other"
    assert margins_distance(original, original[::-1], np.ones(4, dtype=np.int64)) == 0
    assert margins_distance(original, centres, np.array([2, 2])) == pytest.approx(il1s(original, centres[labels]))
    assert margins_distance(original, centres, np.array([1, 3])) > margins_distance(original, centres, np.array([2, 2]))
