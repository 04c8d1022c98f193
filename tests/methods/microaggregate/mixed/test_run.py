"""Releases of mixed tables: plans that add up, centres, records within the domain, documents, and accuracy."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv
import pytest
from command_line import release
from command_line import scumble as command
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_tables import EVERY_KIND, random_rows

import scumble
from scumble.auditing.laws.cases import under_replace
from scumble.auditing.laws.queries import engine_of, exact_answer
from scumble.demo.patients import PATIENTS_SCHEMA, patients, patients_schema
from scumble.errors import InputError
from scumble.files.measured_tables import listed_tables
from scumble.methods.microaggregate.method import MicroaggregateMethod
from scumble.methods.microaggregate.mixed.estimates import GroupEvidence, NoisyTables, pooled_sizes
from scumble.methods.microaggregate.mixed.profiles import Profiles
from scumble.methods.microaggregate.mixed.rows import mean_amount, median_code, values_of
from scumble.methods.microaggregate.mixed.run import GROUPS, PROFILES, SPLITS, Offers, by_class, divide_budget
from scumble.methods.microaggregate.mixed.sides import Side
from scumble.methods.microaggregate.parameters import Centre, Microaggregate
from scumble.methods.microaggregate.partition import Partition
from scumble.model.guarantee import Unit
from scumble.model.release import RecordRelease
from scumble.model.schema import Schema
from scumble.model.values import NOWHERE, codes_within
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise
from scumble.querying.answers import AnswerSource

SIDES = {attribute.name: Side.of(attribute) for attribute in EVERY_KIND.attributes}


def made(schema: Schema, rows: list[Any], **values: Any) -> RecordRelease:
    method, parameters = MicroaggregateMethod(), Microaggregate(**values)
    holder = CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=method.plan(schema, parameters))
    release = method.run(schema, parameters, holder)
    assert not any(holder.purse.left.values()), "every planned spend was used"
    return release


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**4), max_value=100, max_denominator=10**4),
    records=st.floats(-1000, 1e9),
    unit=st.sampled_from(Unit),
    depth=st.just("auto") | st.integers(0, 12),
)
def test_every_plan_and_division_adds_up_exactly(epsilon: Fraction, records: float, unit: Unit, depth: Any) -> None:
    schema = EVERY_KIND if unit is Unit.ADD_REMOVE else under_replace(EVERY_KIND)
    parameters = Microaggregate(epsilon=epsilon, depth=depth)
    plan = MicroaggregateMethod().plan(schema, parameters)
    assert sum((spend.total(unit) for spend in plan.spends), Fraction(0)) == epsilon
    whole = next((spend for spend in plan.spends if spend.label == GROUPS), None)
    assert (whole is None) == (unit is Unit.REPLACE or depth != "auto"), "only an unknown number of records is counted"
    if whole is not None:
        plan = plan.divided(GROUPS, divide_budget(schema, parameters, whole.epsilon, records))
    levels = len([spend for spend in plan.spends if spend.label in SPLITS])
    assert depth in ("auto", levels) and 2 * 2**levels <= plan.cells_at_most
    assert plan.spends[-1].label == PROFILES


def test_more_records_make_more_groups() -> None:
    parameters = Microaggregate(epsilon=1)
    found = [len(divide_budget(EVERY_KIND, parameters, Fraction(1), records)) for records in (10, 1000, 10_000, 10**6)]
    assert found == sorted(found) and found[0] == 1 and found[-1] > 6


def test_attributes_that_differ_between_classes_are_split_first() -> None:
    rows = random_rows(4000, 9)
    sides = tuple(SIDES.values())
    query = Profiles(partition=by_class(Partition.whole(EVERY_KIND), EVERY_KIND), sides=sides)
    exact = NoisyTables(tables=query.tables(exact_answer(query, EVERY_KIND, rows.tolist())), variance=1.0)
    offers = Offers.of(sides, exact, target=5)
    weights = dict(zip(SIDES, offers.weights, strict=True))
    assert weights["ward"] > 0.3 and weights["age"] > 0.3 and weights["pain"] < 0.1
    offer = offers.offer(query.partition.boxes[0])
    assert offer is not None and offer[0] == 0, "the age can be split more evenly than the ward"
    offer = Offers.of(sides, NoisyTables(tables=tuple(t[:1] for t in exact.tables), variance=1.0), None).offer(
        Partition.whole(EVERY_KIND).boxes[0]
    )
    assert offer is not None


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("centre", list(Centre))
@pytest.mark.parametrize("rows", [0, 1, 40, 3000])
def test_every_record_lies_in_the_domain(unit: Unit, centre: Centre, rows: int) -> None:
    schema = EVERY_KIND if unit is Unit.ADD_REMOVE else replace(under_replace(EVERY_KIND), rows=rows)
    release = made(schema, random_rows(rows, 5).tolist(), epsilon=1, centre=centre)
    if unit is Unit.REPLACE:
        assert release.records == rows
    for attribute in schema.attributes:
        assert (codes_within(attribute.domain, release.columns[attribute.name]) != NOWHERE).all()


@pytest.mark.parametrize("centre", list(Centre))
def test_numbers_alone_can_be_published_as_shares(centre: Centre) -> None:
    schema = replace(EVERY_KIND, attributes=EVERY_KIND.attributes[:1], target=None, rows_at_most=2000)
    release = made(schema, random_rows(2000, 1)[:, :1].tolist(), epsilon=1, centre=centre)
    assert ("tables" in release.documents) == (centre is Centre.SHARES)


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(InputError, match=r"131,072 groups, more than 65,536\. Give a smaller depth"):
        MicroaggregateMethod().plan(EVERY_KIND, Microaggregate(epsilon=1, depth=16))


def counts(name: str, **values: float) -> Any:
    side, found = SIDES[name], np.zeros(SIDES[name].bins)
    for label, number in values.items():
        found[side.attribute.domain.labels.index(label)] = number
    return found


def test_the_centre_of_categories_is_the_median_of_the_taxonomy() -> None:
    ward = SIDES["ward"]
    assert median_code(ward, counts("ward", n1=4, s1=3, s2=2, s3=2)) == 2, "most are in the south, most of them s1"
    assert median_code(ward, counts("ward", n1=9, s1=3, s2=2, s3=2)) == 0


def test_the_centre_of_values_in_order_ignores_missing_ones_unless_they_are_most() -> None:
    pain = SIDES["pain"]
    names = pain.attribute.domain.labels
    assert names[median_code(pain, counts("pain", none=2, mild=2, severe=1, unknown=4))] == "mild"
    assert names[median_code(pain, counts("pain", none=2, mild=2, severe=1, unknown=6))] == "unknown"
    stay = SIDES["stay"]
    scale, amounts = stay.amounts
    numbers = np.array([2.0, 0, 2.0, 0, 0, 90.0])
    assert scale.value(mean_amount(stay, numbers)) == pytest.approx((0.5 + 3.5) / 2)
    assert len(amounts) == 6
    assert np.isnan(float(values_of(stay, np.array([median_code(stay, numbers)]))[0]))


@given(
    table=st.lists(st.integers(-50, 500), min_size=5, max_size=5),
    groups=st.lists(st.lists(st.integers(-50, 300), min_size=5, max_size=5), min_size=3, max_size=3),
    sizes=st.lists(st.integers(0, 400), min_size=3, max_size=3),
)
@settings(max_examples=80)
def test_estimates_are_not_negative_have_the_sizes_and_stay_in_the_box(
    table: list[int], groups: list[list[int]], sizes: list[int]
) -> None:
    schema = replace(EVERY_KIND, attributes=EVERY_KIND.attributes[3:4], target=None)
    partition = Partition.whole(schema).halve({0: (0, 2)}).halve({1: (0, 3)})
    evidence = GroupEvidence(
        partition=partition,
        sides=(SIDES["ward"],),
        part_of=np.zeros(3, dtype=np.int64),
        first=NoisyTables(tables=(np.array([table]),), variance=40.0),
        then=NoisyTables(tables=(np.array(groups),), variance=90.0),
        sizes=np.array(sizes),
    )
    (found,) = evidence.counts()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), sizes, rtol=1e-6, atol=1e-6)
    for line, (ends,) in zip(found, partition.boxes, strict=True):
        outside = np.ones(5, dtype=bool)
        outside[ends[0] : ends[1]] = False
        assert not line[outside].any()


def test_without_noise_estimates_are_the_counts() -> None:
    schema = replace(EVERY_KIND, attributes=EVERY_KIND.attributes[3:4], target=None)
    partition = Partition.whole(schema).halve({0: (0, 2)})
    groups = np.array([[30, 10, 0, 0, 0], [0, 0, 5, 50, 20]])
    profiles = NoisyTables(tables=(groups,), variance=1e-9)
    margins = NoisyTables(tables=(groups.sum(axis=0, keepdims=True),), variance=1e-9)
    sizes, error = pooled_sizes(partition, [SIDES["ward"]], profiles)
    assert sizes.tolist() == [40, 75] and error < 1e-3
    for first in (margins, None):
        (found,) = GroupEvidence(
            partition=partition,
            sides=(SIDES["ward"],),
            part_of=np.zeros(2, dtype=np.int64),
            first=first,
            then=profiles,
            sizes=sizes.astype(np.int64),
        ).counts()
        np.testing.assert_allclose(found, groups, atol=1e-3)


def test_margins_and_dependence_are_close_to_the_rows() -> None:
    """At eps 10 with 20,000 records the noise is far below these limits."""
    rows = random_rows(20_000, 2)
    release = made(EVERY_KIND, rows.tolist(), epsilon=10)
    published = np.stack(
        [codes_within(each.domain, release.columns[each.name]) for each in EVERY_KIND.attributes], axis=1
    )
    for place, side in enumerate(SIDES.values()):
        shares = [
            np.bincount(side.bin_of(table[:, place]), minlength=side.bins) / len(table) for table in (rows, published)
        ]
        assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.03
    assert np.corrcoef(published[:, 0], published[:, 3])[0, 1] > 0.5 * np.corrcoef(rows[:, 0], rows[:, 3])[0, 1] > 0


@pytest.mark.parametrize("depth", [0, 1])
def test_tables_have_noisy_counts_with_their_variance(depth: int) -> None:
    rows = random_rows(500, 3)
    schema = EVERY_KIND if depth else replace(EVERY_KIND, target=None)
    release = made(schema, rows.tolist(), epsilon=2, depth=depth)
    tables = listed_tables(release.documents, schema)
    by_class = {("class",)} | {(name, "class") for name in SIDES if name != "class"}
    assert {table.attributes for table in tables} == (by_class if depth else {(name,) for name in SIDES})
    for table in tables:
        exact = np.zeros(table.counts.shape)
        np.add.at(exact, tuple(SIDES[name].bin_of(rows[:, list(SIDES).index(name)]) for name in table.attributes), 1)
        # Laplace noise is beyond 12 standard deviations less than once in 10 million entries.
        assert np.abs(table.counts - exact).max() < 12 * np.sqrt(table.entry_variance)
    assert {table.terms for table in tables} == ({1, 2, 4} if depth else {1})  # groups of a class, of the table
    groups = release.documents["groups"]
    assert len(groups["groups"]) == (4 if depth else 1) and groups["variance"] > 0
    assert set(groups["groups"][0]["centre"]) == set(SIDES)


def test_the_release_answers_queries(tmp_path: Path) -> None:
    """Counts of measured tables have intervals. At eps 100 their noise is below 50 records in any run."""
    rows = patients(3000, 6)
    options = {"method": "microaggregate", "epsilon": 100, "depth": 0, "ledger": tmp_path / "ledger"}
    scumble.release(rows, schema=patients_schema(), dataset="patients", out=tmp_path / "out", **options)
    frame = rows.to_pandas()
    old, again, female = (
        frame[name] == value for name, value in (("ward", "Geriatrics"), ("readmitted", "yes"), ("sex", "female"))
    )
    exact = {
        "ward = 'Geriatrics'": old.sum(),
        "stay is missing": (frame["stay"] == "?").sum(),
        "ward = 'Geriatrics' and readmitted = 'yes'": (old & again).sum(),
    }
    for where, truth in exact.items():
        answer = scumble.query(tmp_path / "out", where)
        assert answer.estimates[0].source is AnswerSource.MEASURED and answer.interval is not None
        assert answer.value == pytest.approx(truth, abs=50)
    modelled = scumble.query(tmp_path / "out", "ward = 'Geriatrics' and sex = 'female'")
    assert modelled.estimates[0].source is AnswerSource.ROWS and modelled.interval is None
    assert modelled.value == pytest.approx((old & female).sum(), abs=80)


def test_the_command_line_releases_and_evaluates_patients(tmp_path: Path) -> None:
    table, out = tmp_path / "patients.csv", tmp_path / "out"
    pacsv.write_csv(patients(1500, 4), table)
    (tmp_path / "schema.yaml").write_text(PATIENTS_SCHEMA)
    options = {"schema": tmp_path / "schema.yaml", "ledger": tmp_path / "ledger", "method": "microaggregate"}
    ended = release(table, **options, out=out, centre="mean")
    assert ended.code == 0, ended.err
    assert command("verify", out).code == 0
    assert command("evaluate", out, "--test", table, "--json").json
    loaded = scumble.load_records(out)
    assert set(loaded.documents) == {"groups", "tables"}
    assert loaded.documents["tables"]["records"]["deviation"] > 0
