"""The method `privelet`: the growth of the error with the range, what is measured, and what is published."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import coded_rows, schemas

import scumble
from scumble.auditing.laws.queries import engine_of
from scumble.errors import InputError
from scumble.files.measured_tables import listed_tables
from scumble.files.schema_file import parse_schema
from scumble.methods.cell_rows import whole_counts
from scumble.methods.privelet.method import Privelet, PriveletMethod
from scumble.model.counts import Floats, Integers
from scumble.model.release import RecordRelease
from scumble.model.schema import Schema
from scumble.model.transforms.transform import sensitivity_of
from scumble.model.transforms.wavelets import Haar
from scumble.privacy.noise import PaidNoise

METHOD = PriveletMethod()
SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  income: {numeric: {low: 0, high: 2000, step: 1}}
  ward: {taxonomy: {Any: {North: {n1: , n2: }, South: {s1: , s2: , s3: }}}}
  ill: {classes: ["no", "yes"]}
"""
)


class NoNoise:
    """Returns exact numbers and records the sensitivity: for tests on made-up rows."""

    def __init__(self) -> None:
        self.sensitivities: list[int] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        del epsilon
        self.sensitivities.append(sensitivity)
        return values

    def gaussian(self, *_: object, **__: object) -> Integers:
        raise AssertionError("no delta was given")

    def select(self, *_: object, **__: object) -> int:
        raise AssertionError("privelet chooses nothing")


def mean_variances(size: int, widths: list[int]) -> Floats:
    """The variance of ranges of each width, averaged over places, in units of Laplace noise of scale 1 / eps."""
    haar = Haar(size=size)
    places = np.arange(size)[:, np.newaxis]
    found = []
    for width in widths:
        lows = np.random.default_rng(width).integers(0, size - width + 1, 40)
        inside = ((places >= lows) & (places < lows + width)).astype(float)
        found.append(float((haar.adjoint(inside) ** 2).sum(axis=0).mean()) * haar.sensitivity**2)
    return np.array(found)


def test_the_error_grows_with_the_logarithm_of_the_range_and_that_of_a_flat_histogram_with_the_range() -> None:
    """Fitted curves on a domain of 2^14 values. The error of privelet is a line in the logarithm of the range, from
    above zero: from 2^4 to 2^12 values it at most triples, as the logarithm does, where that of a flat histogram grows
    256 times. So its exponent in the range is at most log2(3) / 8, not one."""
    widths = [2**power for power in range(4, 13)]
    variances = mean_variances(2**14, widths)
    logarithms = np.log2(widths)
    slope, start = np.polyfit(logarithms, variances, 1)
    assert np.abs(variances - (start + slope * logarithms)).max() < 0.1 * variances.mean()
    assert start > 0 and slope > 0
    assert variances[-1] <= 3 * variances[0]
    assert np.polyfit(logarithms, np.log2(variances), 1)[0] <= np.log2(3) / 8
    assert np.polyfit(logarithms, np.log2(widths), 1)[0] == pytest.approx(1.0)


def test_the_error_grows_polylogarithmically_with_the_domain() -> None:
    """Xiao et al. 2010, theorem 2: at most (1 + log2 m)^2 (2 + log2 m) / 2 in these units."""
    for power in (6, 9, 12, 15):
        most = mean_variances(2**power, [2 ** (power - 1)]).max()
        assert most <= (1 + power) ** 2 * (2 + power) / 2


@settings(max_examples=30, deadline=None)
@given(data=st.data(), schema=schemas(), wavelets=st.sampled_from(["auto", "all"]))
def test_without_noise_the_rows_and_tables_are_exact(data: st.DataObject, schema: Schema, wavelets: str) -> None:
    rows = data.draw(coded_rows(schema))
    noise = NoNoise()
    parameters = Privelet(epsilon="1", wavelets=wavelets)  # type: ignore[arg-type]
    made = run(METHOD, schema, parameters, engine_of(schema, rows), noise)
    assert isinstance(made, RecordRelease)
    assert made.records == len(rows)
    (table,) = listed_tables(made.documents, made.schema)
    places = [schema.names.index(name) for name in table.attributes]
    for entry in product(*(range(size) for size in table.counts.shape)):
        assert table.counts[entry] == pytest.approx(
            sum(tuple(row[p] for p in places) == entry for row in rows), abs=1e-6
        )
    assert table.inferred is not None
    times = 1 if schema.unit.value == "add-remove" else 2
    assert noise.sensitivities == [times * sensitivity_of(table.inferred.transforms)]


def test_attributes_with_few_values_are_not_transformed_unless_asked() -> None:
    """The rule of Privelet+: at most P^2 H values."""
    auto, every = (METHOD.plan(SCHEMA, Privelet(epsilon="1", wavelets=mode)).notes[0] for mode in ("auto", "all"))
    assert "income: haar, ward: identity, ill: identity" in auto
    assert "income: haar, ward: nominal, ill: nominal" in every


def test_a_table_with_two_dimensions_and_a_taxonomy_is_answered_with_its_error() -> None:
    draw = np.random.default_rng(4)
    incomes = draw.integers(0, 2000, 3000)
    rows = [(int(income), int(income) % 5, int(income > 1000)) for income in incomes]
    made = run(METHOD, SCHEMA, Privelet(epsilon="2", wavelets="all"), engine_of(SCHEMA, rows), PaidNoise())
    for question, inside in (
        ("income < 900", incomes < 900),
        ("ward = 'North' and income >= 1200", (incomes % 5 < 2) & (incomes >= 1200)),
        ("ill = 'yes'", incomes > 1000),
    ):
        (count, share) = scumble.query(made, question).estimates
        assert count.source == share.source == "measured"
        assert count.low is not None and count.high is not None
        assert abs(float(count.value or 0) - int(inside.sum())) < 4 * (float(count.high) - float(count.value or 0)) + 1


def test_chosen_attributes_in_bins_are_published_with_values_of_the_schema() -> None:
    rows = [(each, each % 5, each % 2) for each in range(2000)]
    parameters = Privelet(epsilon="5", attributes=("income",), bins=16)
    made = run(METHOD, SCHEMA, parameters, engine_of(SCHEMA, rows), PaidNoise())
    assert isinstance(made, RecordRelease)
    assert set(made.columns) == {"income", "ill"}
    assert len(set(made.columns["income"].tolist())) > 100
    (table,) = listed_tables(made.documents, made.schema)
    assert table.counts.shape == (16, 2)
    assert np.abs(table.counts.sum(axis=1) - 125).max() < 40


def test_too_large_tables_are_refused_while_planning() -> None:
    schema = parse_schema(
        "scumble: schema/1\nattributes:\n  a: {numeric: {low: 0, high: 3000, step: 1}}\n"
        "  b: {numeric: {low: 0, high: 3000, step: 1}}\n  c: {numeric: {low: 0, high: 9000000, step: 1}}\n"
    )
    with pytest.raises(InputError, match=r"9,000,000 coefficients, and privelet allows 1,000,000"):
        METHOD.plan(schema, Privelet(epsilon="1", attributes=("a", "b")))
    with pytest.raises(InputError, match=r"'c' has 9,000,000 values, too many"):
        METHOD.plan(schema, Privelet(epsilon="1"))
    assert METHOD.plan(schema, Privelet(epsilon="1", bins=64)).cells_at_most == 64**3


@given(numbers=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_whole_counts_keep_the_total_and_are_not_negative(numbers: list[float]) -> None:
    counts = whole_counts(np.array(numbers))
    assert counts.min() >= 0
    assert abs(int(counts.sum()) - max(sum(numbers), 0)) <= 0.5 + len(numbers) / 2048
