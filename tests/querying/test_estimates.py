"""Linear estimates: variances by simulation, combinations by precision, intervals that cover as often as they say."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from scumble.files.schema_file import parse_schema
from scumble.model.counts import Floats
from scumble.model.measured_tables import AttributeBins, MeasuredTable, NoiseKind
from scumble.querying.answering import Evidence, counts_and_shares, mean_of
from scumble.querying.answers import QueryAnswer, plain
from scumble.querying.estimates import Linear, combined, covariance, ratio_interval
from scumble.querying.groups import combinations, read_group
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import CellValues
from scumble.querying.parser import parse
from scumble.querying.predicates import ALL, Predicate, interpret
from scumble.querying.quantiles import quantile_of
from scumble.querying.values import Values

SCHEMA = parse_schema(
    """
scumble: schema/1
attributes:
  age: {numeric: {low: 0, high: 20, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
"""
)
VALUES: Mapping[str, Values] = {
    "age": CellValues(attribute=SCHEMA["age"]),
    "sex": LeafValues(attribute=SCHEMA["sex"]),
}
SCALE = 3.0
VARIANCE = 2 * math.exp(-1 / SCALE) / (1 - math.exp(-1 / SCALE)) ** 2
TRUTH = np.random.default_rng(5).integers(10, 60, (20, 2)).astype(float)


def laplace(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    first, second = (generator.geometric(1 - math.exp(-1 / SCALE), shape) for _ in range(2))
    return (first - second).astype(np.float64)


def table(counts: Floats, *, kind: NoiseKind = NoiseKind.LAPLACE) -> MeasuredTable:
    bins = tuple(AttributeBins.of_domain(name, SCHEMA[name].domain) for name in ("age", "sex"))
    return MeasuredTable(name="age by sex", bins=bins, counts=counts, kind=kind, variance=VARIANCE)


def evidence(generator: np.random.Generator, tables: int = 1) -> Evidence:
    made = [table(TRUTH + laplace(generator, TRUTH.shape)) for _ in range(tables)]
    return Evidence(tables=made, values=VALUES, rows=None)


def condition(text: str) -> Predicate:
    return interpret(parse(text), VALUES, text, [])


def test_variance_covariance_and_kurtosis_are_those_of_the_noise() -> None:
    generator = np.random.default_rng(1)
    weights = generator.normal(size=(2, *TRUTH.shape))
    noise = laplace(generator, (40_000, *TRUTH.shape))
    drawn = [(noise * each).sum(axis=(1, 2)) for each in weights]
    tables = [table(TRUTH)]
    one, other = (Linear(tables=tables, weights={0: each}) for each in weights)
    assert one.variance == pytest.approx(drawn[0].var(), rel=0.05)
    assert covariance(one, other) == pytest.approx(np.cov(drawn)[0, 1], abs=0.05 * one.variance)
    few = np.where(np.arange(40).reshape(20, 2) < 2, [1.0, 2.0], 0.0)
    sums = laplace(generator, (1_000_000, 2)) @ [1.0, 2.0]
    expected = (sums**4).mean() / sums.var() ** 2 - 3
    assert Linear(tables=tables, weights={0: few}).kurtosis == pytest.approx(expected, rel=0.05)


def test_independent_estimates_are_weighted_by_precision() -> None:
    generator = np.random.default_rng(2)
    made = evidence(generator, tables=3)
    whole = made.measured(ALL)
    assert whole is not None
    assert whole.linear.variance == pytest.approx(40 * VARIANCE / 3)
    assert sorted(whole.linear.weights) == [0, 1, 2]
    certain = Linear(tables=made.tables, weights={}, constant=7.0)
    assert combined([whole.linear, certain]) is certain


def inside(value: float, low: float | str | None, high: float | str | None) -> bool:
    assert low is not None
    assert high is not None
    return float(low) - 1e-9 <= value <= float(high) + 1e-9


def test_intervals_cover_counts_shares_means_and_quantiles() -> None:
    """The seed is fixed. Quantiles jump from number to number, so their band covers more often than it must."""
    young = condition("age < 7 and sex = 'f'")
    ages = np.arange(20)
    female = TRUTH[:, 0]
    true_count, total = float(TRUTH[:7, 0].sum()), float(TRUTH.sum())
    true_mean = float(ages @ female / female.sum())
    true_median = float(np.searchsorted(np.cumsum(female), female.sum() / 2))
    hits = dict.fromkeys(("count", "share", "mean", "quantile"), 0)
    generator, times = np.random.default_rng(11), 300
    for _ in range(times):
        made = evidence(generator)
        count, share = counts_and_shares(made, young, ALL, ())
        mean = mean_of(made, condition("sex = 'f'"), (), "age")
        median = quantile_of(made, condition("sex = 'f'"), (), "age", 0.5)
        hits["count"] += inside(true_count, count.low, count.high)
        hits["share"] += inside(true_count / total, share.low, share.high)
        hits["mean"] += inside(true_mean, mean.low, mean.high)
        hits["quantile"] += inside(true_median, median.low, median.high)
    for name, found in hits.items():
        assert 0.92 <= found / times <= (1.0 if name == "quantile" else 0.98), (name, found / times)


def test_a_ratio_whose_denominator_may_be_zero_is_unbounded() -> None:
    tables = [table(np.zeros_like(TRUTH))]
    one = Linear(tables=tables, weights={0: np.ones_like(TRUTH)}, constant=1.0)
    assert ratio_interval(one, one) is None
    assert ratio_interval(one, Linear(tables=tables, weights={}, constant=-5.0)) is None
    low, high = ratio_interval(one, Linear(tables=tables, weights={}, constant=1e9)) or (0, 0)
    assert low < 1e-9 < high


def test_gaussian_noise_is_bounded_by_its_own_law() -> None:
    single = Linear(tables=[table(TRUTH, kind=NoiseKind.GAUSSIAN)], weights={0: np.eye(20, 2)[:1].repeat(20, 0)})
    several = Linear(tables=single.tables, weights={0: np.arange(40.0).reshape(20, 2)})
    assert single.half_width == pytest.approx(1.96 * math.sqrt(single.variance), abs=1)
    assert several.half_width == pytest.approx(1.96 * math.sqrt(several.variance), rel=1e-3)


def test_groups_cover_every_record_once() -> None:
    made = evidence(np.random.default_rng(4))
    for names in (["age"], ["sex"], ["age:7", "sex"], ["age:0.5"]):
        chosen = [read_group(name, SCHEMA) for name in names]
        found = [made.measured(group) for _, group in combinations(chosen, SCHEMA, VALUES)]
        total = sum(each.linear.value for each in found if each is not None)
        assert total == pytest.approx(float(made.tables[0].counts.sum()))


def test_an_answer_is_displayed_in_plain_numbers() -> None:
    made = evidence(np.random.default_rng(4))
    count, share = counts_and_shares(made, condition("age < 7"), ALL, ())
    answer = QueryAnswer(question="age < 7", by=(), estimates=(count, share))
    assert answer.value == count.value
    assert answer.texts[0][1] == plain(count.value, "count") == f"{count.value:,.0f}"
    assert answer.texts[1][1].endswith(" %")
