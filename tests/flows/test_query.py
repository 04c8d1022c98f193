"""`query` on releases: answers without noise are the truth, sources are stated, and questions that fail say why."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from planned_runs import run

import scumble
from scumble.auditing.laws.queries import engine_of
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.flows.query import chart_of
from scumble.methods import method_named
from scumble.model.counts import Integers
from scumble.model.guarantee import Unit
from scumble.model.release import Release
from scumble.model.schema import Outside
from scumble.privacy.noise import PaidNoise
from scumble.querying.answers import SHARES_OF_GROUPS

SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 90, step: 1}, missing: "?"}
  weight: {numeric: {low: 30, high: 150, step: 10}}
  ward name: {taxonomy: {Any: {North: {a: , b-1: }, South: {c: , d: }}}}
  pain: {ordered: [none, mild, severe]}
  ill: {classes: ["no", "yes"]}
"""
)
ROWS = 3_000


class Silent:
    """Adds no noise and chooses the best."""

    def laplace(self, values: Integers, **_: object) -> Integers:
        return values

    def select(self, scores: Integers, **_: object) -> int:
        return int(scores.argmax())


def coded() -> list[tuple[int, ...]]:
    generator = np.random.default_rng(7)
    age = np.where(generator.random(ROWS) < 0.1, 90, generator.integers(0, 90, ROWS))
    weight, ward, pain = (generator.integers(0, size, ROWS) for size in (12, 4, 3))
    ill = (generator.random(ROWS) < np.where(weight < 6, 0.2, 0.7)).astype(int)
    return list(zip(age.tolist(), weight.tolist(), ward.tolist(), pain.tolist(), ill.tolist(), strict=True))


CODED = coded()


def released(method: str, noise: Any = None, **parameters: Any) -> Release:
    chosen = method_named(method)
    given = chosen.parameters(epsilon="1", **parameters)
    made = run(chosen, SCHEMA, given, engine_of(SCHEMA, CODED), Silent() if noise is None else noise)
    assert isinstance(made, Release)
    return made


@pytest.fixture(scope="module")
def histograms() -> Release:
    return released("histograms")


@pytest.fixture(scope="module")
def cells() -> Release:
    return released("diffgen", detail="no")


@pytest.fixture(scope="module")
def detailed() -> Release:
    return released("diffgen")


def truth(condition: Any) -> int:
    return sum(bool(condition(*row)) for row in CODED)


QUESTIONS: dict[str, Any] = {
    "age < 40": lambda age, *_: age < 40,
    "age between 20 and 39 or age is missing": lambda age, *_: 20 <= age <= 39 or age == 90,
    "age = 33 and ill = 'yes'": lambda age, weight, ward, pain, ill: age == 33 and ill == 1,
    "`ward name` = 'North'": lambda age, weight, ward, *_: ward < 2,
    "\"ward name\" in ('b-1', South)": lambda age, weight, ward, *_: ward >= 1,
    "pain > 'none'": lambda age, weight, ward, pain, ill: pain > 0,
    "not ill = 'no'": lambda age, weight, ward, pain, ill: ill == 1,
    "weight >= 90": lambda age, weight, *_: weight >= 6,
    "": lambda *_: True,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_histograms_answer_about_one_attribute_and_the_class(histograms: Release, question: str) -> None:
    answer = scumble.query(histograms, question)
    expected = truth(QUESTIONS[question])
    assert answer.value == pytest.approx(expected)
    count, share = answer.estimates
    assert count.source == share.source == "measured"
    assert share.value == pytest.approx(expected / ROWS)
    low, high = answer.interval or (0, 0)
    assert float(low) < expected < float(high)


def test_two_attributes_beside_the_class_are_answered_by_rows(histograms: Release) -> None:
    answer = scumble.query(histograms, "age < 40 and weight >= 90")
    count, share = answer.estimates
    assert count.source == share.source == "rows"
    assert answer.interval is None
    assert count.value == pytest.approx(truth(lambda age, weight, *_: age < 40 and weight >= 6), rel=0.15)
    assert "not included in any interval" in answer.notes[0]


def test_a_cross_table_adds_up(histograms: Release) -> None:
    answer = scumble.query(histograms, "ill = 'yes'", by="ward name")
    counts = [each for each in answer.estimates if each.measure == "count"]
    assert [each.group for each in counts] == [("a",), ("b-1",), ("c",), ("d",)]
    for place, each in enumerate(counts):
        assert each.value == pytest.approx(truth(lambda a, w, ward, p, ill, place=place: ward == place and ill == 1))
    shares = [each.value for each in answer.estimates if each.measure == "share"]
    assert sum(float(share or 0) for share in shares) == pytest.approx(1.0)
    assert SHARES_OF_GROUPS in answer.notes
    assert SHARES_OF_GROUPS not in scumble.query(histograms, "ill = 'yes'").notes
    assert SHARES_OF_GROUPS not in scumble.query(histograms, mean="age", by="ill").notes
    both = scumble.query(histograms, by=["pain", "ill"])
    assert [each.group for each in both.estimates[::2]] == [
        (p, i) for p in ("none", "mild", "severe") for i in ("no", "yes")
    ]
    widths = scumble.query(histograms, by="age:30")
    assert [each.group[0] for each in widths.estimates[::2]] == ["[0,30)", "[30,60)", "[60,90)", "?"]
    assert all(each.source == "measured" for each in widths.estimates)


def test_groups_counted_in_rows_add_up_to_what_was_measured_of_all_of_them() -> None:
    """With much noise the rows and the measured tables differ: parts follow the rows, and their sum a table."""
    noisy = released("histograms", PaidNoise())
    answer = scumble.query(noisy, "age < 40", by=["ward name", "pain"])
    assert {each.source for each in answer.estimates} == {"rows"}
    counts = [float(each.value or 0) for each in answer.estimates if each.measure == "count"]
    shares = [float(each.value or 0) for each in answer.estimates if each.measure == "share"]
    assert sum(counts) == pytest.approx(float(scumble.query(noisy, "age < 40").value or 0))
    assert sum(shares) == pytest.approx(1)


def test_means_and_quantiles_of_measured_tables(histograms: Release) -> None:
    ill = [row for row in CODED if row[4] == 1]
    weights = sorted(30 + 10 * row[1] for row in ill)
    mean = scumble.query(histograms, "ill = 'yes'", mean="weight")
    assert mean.value == pytest.approx(np.mean(weights))
    assert mean.estimates[0].source == "measured"
    low, high = mean.interval or (0, 0)
    assert float(low) < np.mean(weights) < float(high)
    median = scumble.query(histograms, "ill = 'yes'", quantile=(0.5, "weight"))
    assert median.value == weights[(len(weights) + 1) // 2 - 1]
    ages = sorted(row[0] for row in CODED if row[0] < 90)
    for share in (0.1, 0.5, 0.9):
        found = scumble.query(histograms, quantile=(share, "age"))
        exact = ages[int(np.ceil(share * len(ages))) - 1]
        assert found.value == exact
        assert found.interval is not None
        assert float(found.interval[0]) <= exact <= float(found.interval[1])
    assert scumble.query(histograms, quantile=(0.5, "pain")).value == "mild"


def test_cells_answer_what_does_not_cut_them(cells: Release) -> None:
    weights = cells.schema["weight"].domain
    edges = [float(edge) for edge in weights.edges[1:-1]]  # type: ignore[union-attr]
    assert edges, "the class depends on the weight, so the cells divide it"
    answer = scumble.query(cells, f"weight < {edges[0]} and ill = 'yes'")
    assert answer.estimates[0].source == "measured"
    assert answer.value == truth(lambda a, weight, w, p, ill: 30 + 10 * weight < edges[0] and ill == 1)
    cut = scumble.query(cells, f"weight < {edges[0] + 3}")
    assert cut.estimates[0].source == "cells"
    assert cut.interval is None
    with pytest.raises(InputError, match="no single numbers"):
        scumble.query(cells, "weight = 50")


def test_detail_answers_from_its_tables(detailed: Release) -> None:
    answer = scumble.query(detailed, "`ward name` = 'North' and ill = 'yes'")
    assert answer.estimates[0].source == "measured"
    assert answer.value == pytest.approx(truth(lambda a, w, ward, p, ill: ward < 2 and ill == 1))
    assert scumble.query(detailed, "`ward name` = 'a' and pain = 'mild'").estimates[0].source in ("rows", "measured")


def test_a_folder_answers_as_the_release_it_holds(tmp_path: Path) -> None:
    table = pa.table(
        {
            "age": pa.array([None if row[0] == 90 else row[0] for row in CODED]),
            "weight": [30 + 10 * row[1] for row in CODED],
            "ward name": [["a", "b-1", "c", "d"][row[2]] for row in CODED],
            "pain": [["none", "mild", "severe"][row[3]] for row in CODED],
            "ill": [["no", "yes"][row[4]] for row in CODED],
        }
    )
    made = scumble.release(
        table, schema=SCHEMA, out=tmp_path / "out", method="histograms", epsilon="2", ledger=tmp_path / "ledger.db"
    )
    scumble.verify(tmp_path / "out")
    answers = [scumble.query(each, "age < 40") for each in (tmp_path / "out", str(tmp_path / "out"), made.release)]
    assert answers[0] == answers[1] == answers[2]


def test_frames_and_text(histograms: Release) -> None:
    answer = scumble.query(histograms, "age < 40", by="ill")
    frame = answer.to_frame()
    assert list(frame.columns) == ["ill", "measure", "answer", "low", "high", "source"]
    assert frame["answer"].tolist() == [each.value for each in answer.estimates]
    assert answer.to_frame("dict")["ill"] == ["no", "no", "yes", "yes"]
    assert answer.to_frame("polars").height == answer.to_frame("pyarrow").num_rows == 4
    with pytest.raises(InputError, match="Unknown kind of frame"):
        answer.to_frame("excel")
    assert "age < 40" in repr(answer)
    assert "measured (age by ill)" in str(answer)


@pytest.mark.parametrize(
    ("where", "options", "problem"),
    [
        ("agee < 40", {}, "Did you mean 'age'"),
        ("`ward name` = 'Nort'", {}, "Did you mean 'North'"),
        ("`ward name` < 'North'", {}, "without an order"),
        ("weight is missing", {}, "no missing values"),
        ("age = 'old'", {}, "is a number"),
        ("age = 200", {}, "outside the domain"),
        ("", {"by": "wards"}, "Did you mean 'ward name'"),
        ("", {"by": "pain:3"}, "positive width"),
        ("", {"mean": "pain"}, "has no mean"),
        ("", {"quantile": (0.5, "ward name")}, "no quantiles"),
        ("", {"quantile": (1.5, "age")}, "between 0 and 1"),
        ("", {"mean": "age", "quantile": (0.5, "age")}, "not for both"),
        ("", {"mean": "aeg"}, "no attribute 'aeg'"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(
    histograms: Release, where: str, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        scumble.query(histograms, where, **options)


def test_a_number_inside_a_cell_is_noted(histograms: Release) -> None:
    answer = scumble.query(histograms, "weight < 95")
    assert answer.value == pytest.approx(truth(lambda a, weight, *_: weight <= 6))
    assert any("lies inside the cell [90,100)" in note for note in answer.notes)


class Simulated(Silent):
    """Discrete Laplace noise from a seeded generator, so that the test is the same in every run."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction, **_: object) -> Integers:
        failures = self.generator.geometric(-math.expm1(-float(epsilon / sensitivity)), (2, len(values)))
        return values + failures[0] - failures[1]


def test_noise_stays_within_the_interval_about_as_often_as_stated() -> None:
    """20 questions on each of 20 noisy releases."""
    generator = np.random.default_rng(3)
    covered = 0
    for seed in range(20):
        made = released("histograms", Simulated(seed))
        for _ in range(20):
            low, high = sorted(generator.integers(0, 91, 2).tolist())
            answer = scumble.query(made, f"age >= {low} and age < {high}")
            ends = answer.interval or (0, 0)
            covered += float(ends[0]) <= truth(lambda age, *_, low=low, high=high: low <= age < high) <= float(ends[1])
    assert 0.92 <= covered / 400 <= 0.98


def test_an_answer_is_drawn_as_bars(histograms: Release) -> None:
    chart = chart_of(scumble.query(histograms, by=["pain", "ill"]))
    assert [(bar.label, bar.series) for bar in chart.bars][:3] == [("none", "no"), ("none", "yes"), ("mild", "no")]
    assert all(bar.low is not None and bar.high is not None and bar.low <= bar.value <= bar.high for bar in chart.bars)
    with pytest.raises(InputError, match="is a label"):
        chart_of(scumble.query(histograms, quantile=(0.5, "pain")))


def test_averaged_records_answer_without_an_interval() -> None:
    schema = parse_schema(
        "scumble: schema/1\nrows_at_most: 2000\nattributes:\n  x: {numeric: {low: 0, high: 100, step: 1}}\n"
        "  y: {numeric: {low: 0, high: 10, step: 1}}\n"
    )
    rows = [(place % 100, place % 10) for place in range(2_000)]
    chosen = method_named("microaggregate")
    made = run(chosen, schema, chosen.parameters(epsilon="2"), engine_of(schema, rows), Silent())
    answer = scumble.query(made, "x < 50")
    if answer.estimates[0].source == "rows":
        assert answer.interval is None
        assert any("interval" in note for note in answer.notes)
    assert float(answer.value or 0) == pytest.approx(1_000, rel=0.2)
    assert float(scumble.query(made, mean="x").value or 0) == pytest.approx(49.5, rel=0.1)


def generalized(method: str) -> Release:
    chosen = method_named(method)
    made = run(chosen, SCHEMA, chosen.parameters(k=20, quasi="age,weight"), engine_of(SCHEMA, CODED), Silent())
    assert isinstance(made, Release)
    return made


@pytest.mark.parametrize("method", ["mondrian", "tds"])
@pytest.mark.parametrize("question", ["", "not ill = 'no'", "pain > 'none'", "`ward name` = 'North'"])
def test_generalized_records_answer_exactly_about_what_was_not_generalized(method: str, question: str) -> None:
    assert scumble.query(generalized(method), question).value == pytest.approx(truth(QUESTIONS[question]))


def test_a_question_that_cuts_through_generalized_values_spreads_their_records() -> None:
    cut = scumble.query(generalized("mondrian"), "age < 41 and weight < 70")
    assert cut.interval is None
    assert any("spread evenly" in note for note in cut.notes)
    assert cut.value == pytest.approx(truth(lambda age, weight, *_: age < 41 and weight < 4), rel=0.25)


def test_a_number_inside_a_generalized_value_of_a_cut_is_noted() -> None:
    answer = scumble.query(generalized("tds"), "age < 41")
    assert any("41 lies inside the cell [0,90)" in note for note in answer.notes)


def test_no_noise_of_a_whole_table_is_uncertain_if_the_rows_are_public() -> None:
    """Under `replace` the number of rows is public, so it is exact and shares are relative to it."""
    schema = replace(
        SCHEMA,
        unit=Unit.REPLACE,
        rows=ROWS,
        attributes=tuple(replace(each, outside=Outside.CLAMP) for each in SCHEMA.attributes),
    )
    chosen = method_named("histograms")
    made = run(chosen, schema, chosen.parameters(epsilon="1"), engine_of(schema, CODED), Silent())
    everything = scumble.query(made)
    assert (everything.value, everything.interval) == (ROWS, (ROWS, ROWS))
    assert everything.estimates[0].source == "public"
    count, share = scumble.query(made, "pain = 'mild'").estimates
    assert share.low == pytest.approx(float(count.low or 0) / ROWS, rel=1e-2)
