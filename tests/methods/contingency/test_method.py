"""The method `contingency`: every combination of values is counted, within a public limit, in public bins."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import coded_rows, schemas

import scumble
from scumble.auditing.laws.queries import engine_of
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.contingency.method import MOST_COUNTS, Contingency, ContingencyMethod
from scumble.methods.public_cut import public_cut
from scumble.model.counts import Integers
from scumble.model.release import CellRelease
from scumble.model.schema import Schema

METHOD = ContingencyMethod()
SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 100, step: 1}, missing: "?"}
  ward: {taxonomy: {Any: {North: {n1: , n2: }, South: {s1: , s2: , s3: }}}}
  pain: {ordered: [none, mild, severe]}
  day: {date: {from: 2024-01-01, to: 2025-01-01, step: day}}
  ill: {classes: ["no", "yes"]}
"""
)


class NoNoise:
    """Returns exact counts: for tests on made-up rows."""

    def laplace(self, values: Integers, **_: object) -> Integers:
        return values

    def select(self, *_: object, **__: object) -> int:
        raise AssertionError("contingency chooses nothing")

    gaussian = laplace


def released(schema: Schema, rows: list[tuple[int, ...]], **options: object) -> CellRelease:
    parameters = Contingency(epsilon="1", **options)  # type: ignore[arg-type]
    made = run(METHOD, schema, parameters, engine_of(schema, rows), NoNoise())
    assert isinstance(made, CellRelease)
    return made


@settings(max_examples=40, deadline=None)
@given(data=st.data(), schema=schemas(), bins=st.sampled_from([None, 2, 3]))
def test_counts_are_those_of_a_readable_twin(data: st.DataObject, schema: Schema, bins: int | None) -> None:
    rows = data.draw(coded_rows(schema))
    names = schema.names
    try:
        cut = public_cut(schema, attributes=None, bins=bins)
    except InputError:
        return
    made = released(schema, rows, bins=bins)
    places = [names.index(attribute.name) for attribute in schema.predictors]
    label = None if schema.target is None else names.index(schema.target)
    digits = [cut.digits(attribute.name).tolist() for attribute in schema.predictors]
    twin = Counter(
        (*(each[row[place]] for each, place in zip(digits, places, strict=True)), 0 if label is None else row[label])
        for row in rows
    )
    entries = product(*map(range, cut.shape), range(len(schema.classes)))
    assert made.measured.ravel().tolist() == [twin[entry] for entry in entries]
    assert made.count.sum() == len(rows)
    assert bins is None or all(len(nodes) <= bins for nodes in cut.nodes.values())


def test_a_table_that_is_too_large_is_refused_while_planning() -> None:
    with pytest.raises(InputError, match=r"has 1,108,980 counts, and contingency allows 1,000,000.*'day' with 366"):
        METHOD.plan(SCHEMA, Contingency(epsilon="1"))
    assert MOST_COUNTS == 1_000_000
    coarse = METHOD.plan(SCHEMA, Contingency(epsilon="1", bins=12))
    assert coarse.cells_at_most == 12 * 5 * 3 * 12


def test_bins_are_levels_of_taxonomies_and_intervals_of_numbers() -> None:
    cut = public_cut(SCHEMA, attributes=None, bins=4)
    labels = {name: [node.label for node in nodes] for name, nodes in cut.nodes.items()}
    assert labels["age"] == ["[0,33)", "[33,66)", "[66,100)", "?"]
    assert labels["ward"] == ["North", "South"]
    assert labels["pain"] == ["none", "mild", "severe"]
    assert labels["day"] == ["2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4"]


def test_other_attributes_are_generalized_to_one_value() -> None:
    cut = public_cut(SCHEMA, attributes=("ward", "ill"), bins=None)
    assert cut.shape == (1, 5, 1, 1)
    with pytest.raises(InputError, match="no attribute 'wards'"):
        public_cut(SCHEMA, attributes=("wards",), bins=None)
    with pytest.raises(InputError, match="besides the class"):
        public_cut(SCHEMA, attributes=("ill",), bins=None)
    with pytest.raises(InputError, match="no level with at most 2 nodes"):
        public_cut(SCHEMA, attributes=("day",), bins=2)


def test_a_release_answers_ranges_and_marginals_with_its_error(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    rows = ["age,ward,pain,day,ill"]
    ages = draw.integers(0, 100, 3000)
    rows += [f"{age},{'n1' if age < 40 else 's2'},mild,2024-05-05,no" for age in ages]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    options = {"method": "contingency", "epsilon": "2", "attributes": ["age", "ward"], "bins": 20}
    scumble.release(tmp_path / "rows.csv", schema=SCHEMA, out=tmp_path / "out", ledger=tmp_path / "l.db", **options)
    scumble.verify(tmp_path / "out")
    answer = scumble.query(str(tmp_path / "out"), "age < 36 and ward = 'North'")
    count = answer.estimates[0]
    true = int((ages < 36).sum())
    assert count.source == "measured"
    assert count.low is not None and count.high is not None
    assert abs(float(count.value or 0) - true) < 60 and 0 < float(count.high) - float(count.low) < 60
