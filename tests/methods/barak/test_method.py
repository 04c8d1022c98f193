"""The method `barak`: consistent, non-negative, integral marginals; what is measured; the linear programme."""

import re
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import coded_rows, schemas

import scumble
from scumble.auditing.laws.queries import engine_of, exact_answer
from scumble.errors import InputError
from scumble.files.measured_tables import listed_tables
from scumble.files.schema_file import parse_schema
from scumble.methods.barak.method import Barak, BarakMethod
from scumble.methods.barak.nearest_table import coefficient_signs, nearest_table
from scumble.methods.barak.queries import MarginalCoefficients
from scumble.methods.public_cut import public_cut
from scumble.model.counts import Integers
from scumble.model.release import RecordRelease
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise

METHOD = BarakMethod()
SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 6, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
  ward: {taxonomy: {Any: {a: , b: , c: }}}
  ill: {classes: ["no", "yes"]}
"""
)


class Fixed:
    """Noise from a seeded generator, and the sensitivity of each request."""

    def __init__(self, seed: int, scale: float) -> None:
        self._draw, self._scale = np.random.default_rng(seed), scale
        self.sensitivities: list[int] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        del epsilon
        self.sensitivities.append(sensitivity)
        return values + np.rint(self._draw.laplace(0, 1, values.shape) * self._scale).astype(np.int64)

    def gaussian(self, *_: object, **__: object) -> Integers:
        raise AssertionError("no delta was given")

    def select(self, *_: object, **__: object) -> int:
        raise AssertionError("barak chooses nothing")


def marginals_of(release: RecordRelease) -> list[tuple[list[str], Any]]:
    listed = release.documents["marginals"]["marginals"]
    return [
        (each["attributes"], np.array(each["counts"]).reshape([len(bins) for bins in each["bins"]])) for each in listed
    ]


def can_be_planned(schema: Schema, parameters: Barak) -> bool:
    """Whether no attribute lacks a level of few values and the programme is not too large. Planning says both."""
    try:
        METHOD.plan(schema, parameters)
    except InputError as refusal:
        if re.search(r"has no level with at most 4 nodes|exceeds 1,000,000 entries", str(refusal)):
            return False
        raise
    return True


def test_a_flat_list_of_many_values_needs_as_many_bins() -> None:
    flat = parse_schema("scumble: schema/1\nattributes:\n  ward: {taxonomy: {Any: {a: , b: , c: , d: , e: }}}\n")
    assert not can_be_planned(flat, Barak(epsilon="1", bins=4))
    assert can_be_planned(flat, Barak(epsilon="1", bins=5))
    assert can_be_planned(SCHEMA, Barak(epsilon="1", bins=4))


@settings(max_examples=30, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32), scale=st.sampled_from([0.0, 3.0, 500.0]), ways=st.integers(1, 2))
def test_marginals_are_consistent_non_negative_and_integral(
    data: st.DataObject, seed: int, scale: float, ways: int
) -> None:
    """For every schema that can be planned, every table and noise: whole numbers, none negative, that agree wherever
    two marginals overlap."""
    parameters = Barak(epsilon="1", ways=ways, bins=4)
    schema = data.draw(schemas().filter(lambda each: can_be_planned(each, parameters)))
    rows = data.draw(coded_rows(schema))
    made = run(METHOD, schema, parameters, engine_of(schema, rows), Fixed(seed, scale))
    assert isinstance(made, RecordRelease)
    marginals = marginals_of(made)
    for names, counts in marginals:
        assert counts.dtype == np.int64
        assert counts.min() >= 0
        for others, theirs in marginals:
            common = [name for name in names if name in others]
            mine = counts.sum(axis=tuple(axis for axis, name in enumerate(names) if name not in common))
            other = theirs.sum(axis=tuple(axis for axis, name in enumerate(others) if name not in common))
            assert np.array_equal(mine, other)
    assert made.records == marginals[0][1].sum()


@settings(max_examples=30, deadline=None)
@given(data=st.data(), schema=schemas())
def test_without_noise_every_measured_marginal_is_exact(data: st.DataObject, schema: Schema) -> None:
    rows = data.draw(coded_rows(schema))
    noise = Fixed(0, 0.0)
    try:
        made = run(METHOD, schema, Barak(epsilon="1"), engine_of(schema, rows), noise)
    except InputError:
        return
    for table in listed_tables(made.documents, made.schema):
        places = [schema.names.index(name) for name in table.attributes]
        for entry in product(*(range(size) for size in table.counts.shape)):
            true = sum(tuple(row[place] for place in places) == entry for row in rows)
            assert table.counts[entry] == pytest.approx(true, abs=1e-6)


def test_each_coefficient_is_measured_once() -> None:
    """age has 3 bits, sex 1, ward 2, ill 1: the sets of bits within the marginals, by hand."""
    cut = public_cut(SCHEMA, attributes=None, bins=None)
    query = MarginalCoefficients(cut=cut, marginals=((0, 1), (1, 2)))
    assert len(query.coefficients) == 2**4 + 2**3 - 2**1
    assert query.sensitivity(SCHEMA.unit).bound == 22
    rows = [(5, 1, 2, 0), (0, 0, 1, 1), (5, 1, 2, 1)]
    answers = exact_answer(query, SCHEMA, rows)
    assert answers[0] == 3  # no bits: the number of records
    assert np.abs(answers - exact_answer(query, SCHEMA, rows[1:])).tolist() == [1] * 22
    shape = [each.values for each in query.walsh]
    table = np.zeros(shape, dtype=np.int64)
    for row in rows:
        table[row] += 1
    assert (coefficient_signs(query) @ table.ravel()).tolist() == answers.tolist()


def test_the_programme_finds_the_least_largest_difference() -> None:
    """Against all tables of whole numbers with as many records: none is nearer by more than rounding can add, which
    moves four cells by two records together at most."""
    schema = parse_schema(
        "scumble: schema/1\nattributes:\n  a: {taxonomy: {Any: {x: , y: }}}\n  b: {taxonomy: {All: {u: , v: }}}\n"
    )
    cut = public_cut(schema, attributes=None, bins=None)
    query = MarginalCoefficients(cut=cut, marginals=((0,), (1,)))
    signs = coefficient_signs(query)
    for seed in range(20):
        measured = np.random.default_rng(seed).integers(-6, 9, len(query.coefficients))
        found = nearest_table(query, measured)
        assert found.solved
        total = max(int(measured[0]), 0)
        tables = [np.array(table) for table in product(range(9), repeat=4) if sum(table) == total]
        best = min(float(np.abs(signs @ table - measured).max()) for table in tables)
        assert found.counts.sum() == total
        assert np.abs(signs @ found.counts.ravel() - measured).max() <= best + 4 / 2


def test_numbers_beyond_the_solver_still_make_a_table() -> None:
    query = MarginalCoefficients(cut=public_cut(SCHEMA, attributes=None, bins=None), marginals=((0, 3),))
    measured = np.random.default_rng(1).integers(-(2**60), 2**60, len(query.coefficients))
    assert nearest_table(query, measured).counts.min() >= 0


def test_answers_of_marginals_have_the_stated_error() -> None:
    """Marginals share coefficients: the total is exact in proportion, and a share needs the covariance."""
    rows = [(each % 6, each % 2, each % 3, int(each % 7 < 2)) for each in range(4000)]
    parameters = Barak(epsilon="2", marginals=(("age", "sex"), ("sex", "ill"), ("ward",)))
    made = run(METHOD, SCHEMA, parameters, engine_of(SCHEMA, rows), PaidNoise())
    assert isinstance(made, RecordRelease)
    assert set(made.columns) == {"age", "sex", "ward", "ill"}
    for question, true in (("age < 3 and sex = 'f'", 1334), ("ill = 'yes'", 1144), ("ward = 'a'", 1334)):
        count, share = scumble.query(made, question).estimates
        assert (count.source, share.source) == ("measured", "measured")
        assert count.low is not None and count.high is not None
        assert abs(float(count.value or 0) - true) < 4 * (float(count.high) - float(count.value or 0)) + 1
    assert scumble.query(made, "age < 3 and ward = 'a'").estimates[0].source == "rows"


def test_wrong_marginals_and_large_tables_are_refused_while_planning() -> None:
    for wrong, words in (
        ({"marginals": "age,sexes"}, "no attribute 'sexes'"),
        ({"marginals": "age,age"}, "names an attribute twice"),
        ({"marginals": "age", "attributes": "age"}, "Leave out --attributes"),
    ):
        with pytest.raises(InputError, match=words):
            METHOD.plan(SCHEMA, METHOD.parameters(epsilon="1", **wrong))  # type: ignore[arg-type]
    wide = parse_schema(
        "scumble: schema/1\nattributes:\n  a: {numeric: {low: 0, high: 200, step: 1}}\n"
        "  b: {numeric: {low: 0, high: 200, step: 1}}\n"
    )
    with pytest.raises(InputError, match=r"exceeds 1,000,000 entries"):
        METHOD.plan(wide, Barak(epsilon="1"))
    assert METHOD.plan(wide, Barak(epsilon="1", bins=16)).cells_at_most == 256


def test_too_many_marginals_are_refused_before_they_are_listed() -> None:
    """A hostile folder may name any parameters, and `verify` plans it again."""
    attributes = "".join(f"  a{number}: {{classes: [x, y]}}\n" for number in range(60))
    schema = parse_schema(f"scumble: schema/1\nattributes:\n{attributes}")
    for many in (Barak(epsilon="1", ways=10), Barak(epsilon="1", marginals=(("a1", "a2"),) * 5001)):
        with pytest.raises(InputError, match="more than 5,000 marginals"):
            BarakMethod().plan(schema, many)


def test_marginals_are_read_from_text() -> None:
    given_as_text = METHOD.parameters(epsilon="1", marginals="age,sex; sex,ill")  # type: ignore[arg-type]
    assert given_as_text == Barak(epsilon="1", marginals=(("age", "sex"), ("sex", "ill")))
