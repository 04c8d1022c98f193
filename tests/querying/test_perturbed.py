"""Perturbed records: corrected counts are unbiased, their intervals cover the truth, and what has none says why."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import scumble
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.model.counts import Integers
from scumble.model.local.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.schema import Schema
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.querying.answers import Estimate
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import CellValues
from scumble.querying.parser import parse
from scumble.querying.perturbed import axis_of, count_reports
from scumble.querying.perturbed_answers import perturbed_counts, perturbed_mean, perturbed_quantile
from scumble.querying.predicates import ALL, interpret
from scumble.querying.values import Values

SCHEMA = parse_schema(
    """
scumble: schema/1
attributes:
  age: {numeric: {low: 0, high: 40, step: 2}, missing: "?"}
  ward: {taxonomy: {Any: {North: {a: , b: }, South: {c: , d: }}}}
  ill: {taxonomy: {Any: {no: , yes: }}}
"""
)
ROWS = 2_000


def true_codes() -> dict[str, Integers]:
    generator = np.random.default_rng(1)
    ward = generator.choice(4, ROWS, p=[0.4, 0.3, 0.2, 0.1])
    age = np.where(generator.random(ROWS) < 0.05, 20, generator.binomial(19, 0.3 + 0.1 * ward, ROWS))
    return {"age": age, "ward": ward, "ill": (generator.random(ROWS) < 0.2 + 0.2 * (ward > 1)).astype(np.int64)}


TRUE = true_codes()
VALUES: Mapping[str, Values] = {
    "age": CellValues(attribute=SCHEMA["age"]),
    "ward": LeafValues(attribute=SCHEMA["ward"]),
    "ill": LeafValues(attribute=SCHEMA["ill"]),
}


def reports(noise: NoiseModel, seed: int) -> dict[str, Integers]:
    words = SimulatedWords(simulation(seed))
    return {name: noise[name].apply(TRUE[name], words.draw(b"", (), TRUE[name])) for name in TRUE}


def asked(noise: NoiseModel, seed: int, where: str, *, apart: str = "", copies: int = 1) -> Any:
    """The reports of some copies of the true records, counted as a condition needs them; and the condition."""
    condition = interpret(parse(where), VALUES, where, [])
    axes = [
        axis_of(noise[name], VALUES[name], condition, rows=copies * ROWS, apart=name == apart)
        for name in sorted({mask.attribute for mask in condition.masks} | ({apart} if apart else set()))
    ]
    return count_reports([reports(noise, seed + copy) for copy in range(copies)], axes, VALUES), condition


def covered(estimate: Estimate, truth: float) -> bool:
    assert estimate.low is not None
    assert estimate.high is not None
    return float(estimate.low) <= truth <= float(estimate.high)


def test_randomized_response_is_corrected_without_bias_and_covered() -> None:
    """150 tables of fixed seeds: the mean error is within three standard errors, and 91 to 99 % are covered."""
    noise = for_epsilon(SCHEMA, epsilon="9")
    where = "ward = 'North' and ill = 'yes' or age < 10"
    young, north = TRUE["age"] < 5, TRUE["ward"] < 2
    truth = float((north & (TRUE["ill"] == 1) | young).sum())
    ages = TRUE["age"][north & (TRUE["age"] < 20)] * 2.0
    hits = dict.fromkeys(("count", "share", "mean", "quantile"), 0)
    errors = []
    times = 150
    for seed in range(times):
        counts, condition = asked(noise, seed, where)
        count, share = perturbed_counts(counts, condition, ALL, ())
        errors.append(float(count.value or 0) - truth)
        hits["count"] += covered(count, truth)
        hits["share"] += covered(share, truth / ROWS)
        counts, condition = asked(noise, seed, "ward = 'North'", apart="age")
        hits["mean"] += covered(perturbed_mean(counts, condition, (), "age"), float(ages.mean()))
        median = perturbed_quantile(counts, condition, (), "age", 0.5)
        hits["quantile"] += covered(median, float(np.sort(ages)[(len(ages) + 1) // 2 - 1]))
    assert abs(np.mean(errors)) < 3 * np.std(errors) / times**0.5
    for name, found in hits.items():
        assert 0.91 <= found / times <= (1.0 if name == "quantile" else 0.99), (name, found / times)


def test_reports_without_noise_are_counted() -> None:
    noise = for_epsilon(SCHEMA, epsilon="1", truthful=["ward", "age"])
    counts, condition = asked(noise, 1, "ward in (a, d) and age between 6 and 11", apart="")
    count, _ = perturbed_counts(counts, condition, ALL, ())
    truth = float((np.isin(TRUE["ward"], [0, 3]) & (TRUE["age"] >= 3) & (TRUE["age"] <= 5)).sum())
    assert (count.value, count.low, count.high) == pytest.approx((truth, truth, truth))


@pytest.mark.parametrize("noise_kind", ["gaussian", "uniform"])
def test_added_noise_is_reconstructed_without_an_interval(noise_kind: str) -> None:
    noise = for_privacy(SCHEMA, privacy="50%", noise=noise_kind)
    counts, condition = asked(noise, 1, "age < 16 and ward = 'North'", copies=10)
    count, share = perturbed_counts(counts, condition, ALL, ())
    truth = 10 * float(((TRUE["age"] < 8) & (TRUE["ward"] < 2)).sum())
    assert float(count.value or 0) == pytest.approx(truth, rel=0.05)
    assert count.low is share.low is None
    missing, condition = asked(noise, 1, "age is missing and ward = 'North'", copies=10)
    exact = 10 * float(((TRUE["age"] == 20) & (TRUE["ward"] < 2)).sum())
    assert float(perturbed_counts(missing, condition, ALL, ())[0].value or 0) == pytest.approx(exact, rel=0.1)
    counts, condition = asked(noise, 1, "", apart="age", copies=10)
    mean = perturbed_mean(counts, condition, (), "age")
    assert float(mean.value or 0) == pytest.approx(2 * TRUE["age"][TRUE["age"] < 20].mean(), abs=0.5)


def test_reported_intervals_are_exact_where_they_are_not_cut() -> None:
    noise = for_privacy(SCHEMA, privacy="25%", noise="discretized", truthful=["ward", "ill"])
    edges = noise["age"].published.domain.edges  # type: ignore[union-attr]
    counts, condition = asked(noise, 1, f"age < {edges[1]}")
    (count, _), truth = perturbed_counts(counts, condition, ALL, ()), float((TRUE["age"] * 2 < edges[1]).sum())
    assert (count.value, count.low, count.high) == pytest.approx((truth, truth, truth))
    counts, condition = asked(noise, 1, f"age < {edges[1] + 2}")
    (cut, _) = perturbed_counts(counts, condition, ALL, ())
    assert cut.low is None
    assert float(cut.value or 0) > truth


def test_two_numbers_with_added_noise_are_refused() -> None:
    schema = parse_schema(
        "scumble: schema/1\nattributes:\n  x: {numeric: {low: 0, high: 10, step: 1}}\n"
        "  y: {numeric: {low: 0, high: 10, step: 1}}\n"
    )
    noise = for_privacy(schema, privacy="50%")
    values = {name: CellValues(attribute=schema[name]) for name in schema.names}
    axes = [axis_of(noise[name], values[name], ALL, rows=100, apart=False) for name in schema.names]
    with pytest.raises(InputError, match="Ask about one of them at a time"):
        count_reports([], axes, values)


def table_of(schema: Schema) -> pa.Table:
    labels = {name: schema[name].domain.labels for name in ("ward", "ill")}
    ages = [None if code == 20 else 2 * int(code) for code in TRUE["age"]]
    return pa.table({"age": ages, **{n: [labels[n][code] for code in TRUE[n]] for n in labels}})


def test_a_folder_of_perturbed_records_answers(tmp_path: Path) -> None:
    scumble.perturb(table_of(SCHEMA), schema=SCHEMA, epsilon="12", out=tmp_path / "out")
    answer = scumble.query(tmp_path / "out", "ward = 'North'", by="ill")
    assert [each.source for each in answer.estimates] == ["reconstructed"] * 4
    found = sum(float(each.value or 0) for each in answer.estimates[::2])
    assert found == pytest.approx(float((TRUE["ward"] < 2).sum()), abs=150)
    (tmp_path / "out" / "release.json").unlink()
    assert scumble.query(tmp_path / "out", "ward = 'North'", by="ill") == answer
    with pytest.raises(InputError, match="no attribute 'wards'"):
        scumble.query(tmp_path / "out", "wards = 'North'")


def test_perturbed_records_in_memory_are_refused(tmp_path: Path) -> None:
    scumble.perturb(table_of(SCHEMA), schema=SCHEMA, privacy="50%", out=tmp_path / "out", accept=["interval"])
    with pytest.raises(InputError, match="Give the folder"):
        scumble.query(scumble.load_release(tmp_path / "out"))
    answer = scumble.query(tmp_path / "out", "age < 16")
    assert answer.interval is None
    assert any("reconstructed with smoothing" in note for note in answer.notes)
