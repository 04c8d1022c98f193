"""What can be learned: regimes rise with epsilon and records, bands have the width of the noise, all pages say it."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fine_releases import PATIENTS, raw_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from report_pages import attribute

from scumble import plan, release
from scumble.files.report.detail import measured_detail, uses_of
from scumble.methods.diffgen.detail.class_totals import class_totals
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.regime import ClassCounts, Regime, learnable, regime_of
from scumble.methods.diffgen.settings import detail_settings, information
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import laplace_variance

RECORDS = (1, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000, 100_000_000)


def schema_of(attributes: int, classes: int) -> Schema:
    grid = Grid.regular(low=Decimal(0), high=Decimal(12), step=Decimal(1))
    target = attribute("class", Tree.flat([f"c{label}" for label in range(classes)]))
    return Schema(attributes=(*(attribute(f"a{place}", grid) for place in range(attributes)), target), target="class")


def regimes(schema: Schema, epsilon: Fraction) -> list[Regime]:
    return [
        regime_of(schema, detail_settings(schema, epsilon, records), information(schema, epsilon, records))
        for records in RECORDS
    ]


@pytest.mark.parametrize(("attributes", "classes"), [(1, 2), (5, 2), (14, 2), (23, 2), (60, 2), (14, 5)])
def test_the_regime_rises_with_the_records_from_lowest_to_highest(attributes: int, classes: int) -> None:
    found = regimes(schema_of(attributes, classes), Fraction(1))
    assert found == sorted(found)
    assert (found[0], found[-1]) == (Regime.CLASS_SHARES, Regime.ALL_ATTRIBUTES)
    assert Regime.FEW_ATTRIBUTES in found or attributes < 8


def test_only_the_product_of_epsilon_and_records_counts() -> None:
    schema = schema_of(14, 2)
    for records in (1_000, 10_000, 100_000):
        one, other = (
            regime_of(schema, detail_settings(schema, epsilon, number), information(schema, epsilon, number))
            for epsilon, number in ((Fraction(1), records), (Fraction(1, 10), 10 * records))
        )
        assert one is other


@settings(max_examples=25, deadline=None)
@given(
    prices=st.lists(st.tuples(st.sampled_from([1, 2, 10, 50]), st.sampled_from([1, 4, 30])), min_size=1, max_size=4),
    classes=st.sampled_from([2, 3, 6]),
    unit=st.sampled_from(list(Unit)),
    seed=st.integers(0, 9),
)
def test_the_band_of_a_class_share_covers_the_noise(
    prices: list[tuple[int, int]], classes: int, unit: Unit, seed: int
) -> None:
    """Against noise that is drawn: of class totals that `class_totals` estimates from all measurements."""
    records = 4_000
    schema = replace(schema_of(5, classes), unit=unit, rows=records if unit is Unit.REPLACE else None)
    counted = [ClassCounts(price=Fraction(price, 100), entries=entries) for price, entries in prices]
    tables_not_counted = replace(detail_settings(schema, Fraction(1, 1000), 1), bins=6)
    assert not tables_not_counted.tables
    band = learnable(schema, Fraction(1), tables_not_counted, (), records=records, counted=counted).share_error
    generator, errors = np.random.default_rng(seed), []
    truth = np.full(classes, records // classes)
    for _ in range(400):
        tables = []
        for each in counted:
            sensitivity = 1 if unit is Unit.ADD_REMOVE else 2
            deviation = laplace_variance(sensitivity=sensitivity, epsilon=each.price) ** 0.5
            noise = generator.laplace(scale=deviation / 2**0.5, size=(each.entries, classes))
            even = np.zeros((each.entries, classes))
            even[0] = truth
            tables.append((np.rint(even + noise).astype(np.int64), deviation))
        totals = class_totals(tables)
        errors.append(totals[0] / totals.sum() - 1 / classes)
    covered = float(np.mean(np.abs(errors) <= band))
    assert covered >= 0.92
    if band < 0.1:
        narrow = float(np.mean(np.abs(errors) <= band / 3))
        assert narrow < 0.95, "a band of a third of the width would not do"


def test_the_band_of_a_probability_follows_from_the_price_of_a_table() -> None:
    schema, epsilon, records = schema_of(14, 2), Fraction(1, 10), 50_000
    measured = detail_settings(schema, epsilon, records)
    spends = [Spend(label=f"count a{place} by class", epsilon=Fraction(1, 200)) for place in range(14)]
    found = learnable(schema, epsilon, measured, spends, records=records, counted=())
    deviation = laplace_variance(sensitivity=1, epsilon=Fraction(1, 200)) ** 0.5
    assert found.probability_error == pytest.approx(1.96 * deviation / (records / 10))


def test_a_plan_states_the_regime_for_public_records_and_for_a_range_otherwise() -> None:
    schema = schema_of(14, 2)
    (note,) = (note for note in plan(schema=schema, epsilon="1", records=50_000).notes if "learned" in note)
    assert note.startswith("What can be learned from 50,000 records: all attributes, and strong interactions (class")
    unknown = plan(schema=schema, epsilon="1")
    (note,) = (note for note in unknown.notes if "learned" in note)
    assert all(f"from {records} records: " in note for records in ("1,000", "10,000", "100,000"))
    assert unknown.warnings == ()
    assert not any("learned" in note for note in plan(schema=schema, epsilon="1", detail="no").notes)


def test_a_plan_warns_where_only_class_shares_can_be_learned() -> None:
    schema = schema_of(14, 2)
    (warning,) = plan(schema=schema, epsilon="0.01", records=300).warnings
    assert "what can be learned from 300 records: nothing but the class shares (class shares ± " in warning
    assert "Attributes can be learned from about" in warning
    (fewer,) = plan(schema=schema, epsilon="0.01").warnings
    enough = int(fewer.split("fewer than about ")[1].split()[0].replace(",", ""))
    assert regimes(schema, Fraction(1, 100))[RECORDS.index(1_000)] is Regime.CLASS_SHARES
    assert detail_settings(schema, Fraction(1, 100), enough).tables > 0
    assert plan(schema=schema, epsilon="1e-9").warnings, "no number of records is enough"


@pytest.mark.parametrize(("epsilon", "lowest"), [("0.02", True), ("20", False)])
def test_a_release_says_what_can_be_learned_from_its_paid_counts(tmp_path: Path, epsilon: str, lowest: bool) -> None:
    made = release(
        raw_rows(0, rows=1_000),
        schema=PATIENTS,
        out=tmp_path / "out",
        ledger=tmp_path / "ledger.db",
        dataset="patients",
        method=DiffGen(epsilon=Fraction(epsilon), records=1_000),
    )
    detail = json.loads((tmp_path / "out" / "detail.json").read_text())
    learned = detail["learned"]
    assert learned["records"] == sum(detail["class totals"])
    assert (learned["regime"] == Regime.CLASS_SHARES.words) is lowest
    assert learned["class probabilities within"] is None if lowest else learned["class probabilities within"] < 0.2
    assert learned["sentence"] in made.warnings if lowest else not made.warnings
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert any(line.startswith("what can be learned from about ") for line in manifest["story"])
    for page in ("README.md", "report.html"):
        text = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert learned["regime"] in text
        assert ("to train any classifier and for" in text) is (page == "README.md" and not lowest)
        assert ("The records are too few for this epsilon to learn about any attribute." in text) is lowest
    cells = made.release.cells
    assert measured_detail(cells).unlearnable is lowest
    assert ("training classifiers for ill" in uses_of(cells).good) is not lowest
    assert ("training classifiers" in uses_of(cells).bad) is lowest
