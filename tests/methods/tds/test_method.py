"""Top-down specialization: Table 1(b) of the KDD 2011 paper, its readable twin, k-anonymity of every table."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from anonymity_twins import twin_specialize
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, schemas

from scumble.auditing.laws.queries import engine_of
from scumble.errors import InputError
from scumble.files.kinds.generalized import GENERALIZED
from scumble.files.schema_file import parse_schema
from scumble.methods.tds.method import TDS, TDSMethod
from scumble.methods.tds.specialize import specialize
from scumble.model.guarantee import KAnonymity, Unit
from scumble.model.release import GeneralizedRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, simulation

JOBS = parse_schema(
    """
scumble: schema/1
target: Class
attributes:
  Job: {taxonomy: {Any_Job: {Professional: {Engineer: , Lawyer: }, Artist: {Dancer: , Writer: }}}}
  Age: {numeric: {low: 18, high: 65, step: 1}}
  Class: {classes: [Y, N]}
"""
)
TABLE_1A = [
    (0, 34, "Y"),
    (1, 50, "N"),
    (0, 38, "N"),
    (1, 33, "Y"),
    (2, 20, "Y"),
    (3, 37, "N"),
    (3, 32, "Y"),
    (2, 25, "N"),
]
ROWS = [(job, age - 18, "YN".index(label)) for job, age, label in TABLE_1A]


def run(schema: Schema, rows: list[tuple[int, ...]], **parameters: Any) -> GeneralizedRelease:
    chosen, method = TDS(**parameters), TDSMethod()
    plan = method.plan(schema, chosen)
    return method.run(schema, chosen, CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=plan))


def test_table_1b_of_the_paper() -> None:
    """The 4-anonymous table: four professionals and four artists, all ages."""
    made = run(JOBS, ROWS, k=4)
    table = GENERALIZED.table(made, "table", counts=False)
    assert table.column("Job").to_pylist() == ["Professional"] * 4 + ["Artist"] * 4
    assert table.column("Age").to_pylist() == ["[18,65)"] * 8
    assert made.group_sizes.tolist() == [4, 4]
    assert isinstance(made.plan.guarantee, KAnonymity)
    assert made.plan.guarantee.sentence == (
        "NOT differentially private. 4-anonymous only: each record looks like 3 others in Job, Age."
    )
    assert [attribute.domain.size for attribute in made.schema.attributes] == [2, 1, 2]


def test_a_smaller_k_specializes_the_age_where_it_tells_the_classes_apart() -> None:
    """The best position is before 37: all records above it are N. With k = 3 it is valid, and its gain the highest."""
    made = run(JOBS, ROWS, k=3)
    assert [attribute.domain.labels for attribute in made.schema.attributes][1] == ("[18,35)", "[35,65)")
    assert made.group_sizes.tolist() == [3, 5] or made.group_sizes.tolist() == [5, 3]


MIXED = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 9, step: 1}, missing: "?"}
  pain: {ordered: [none, mild, severe]}
  job: {taxonomy: {Any: {Worker: {Smith: , Baker: {Bread: , Cake: }}, Clerk: {Bank: }, None: }}}
  class: {classes: [x, y, z]}
"""
)
DOMAINS = [attribute.domain for attribute in MIXED.attributes]


@given(rows=st.lists(st.tuples(*(st.integers(0, d.size - 1) for d in DOMAINS)), max_size=24), k=st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_the_cut_equals_its_twin(rows: list[tuple[int, ...]], k: int) -> None:
    columns = [np.array([row[side] for row in rows], dtype=np.int64) for side in range(4)]
    lines = specialize(columns[:3], DOMAINS[:3], columns[3], 3, k)
    found = [[(low, high) for side, low, high in lines.tolist() if side == place] for place in range(3)]
    expected = twin_specialize([row[:3] for row in rows], DOMAINS[:3], [row[3] for row in rows], k)
    assert (found if len(lines) else []) == expected


@given(data=st.data(), k=st.integers(2, 5))
@settings(max_examples=100, deadline=None)
def test_every_table_is_k_anonymous(data: st.DataObject, k: int) -> None:
    schema = replace(data.draw(schemas().filter(lambda each: each.target)), unit=Unit.ADD_REMOVE, rows=None)
    rows = data.draw(coded_rows(schema, most_rows=30))
    made = run(schema, rows, k=k)
    assert made.records == (len(rows) if len(rows) >= k else 0)
    assert not len(made.group_sizes) or made.group_sizes.min() >= k
    assert not list(GENERALIZED.faults(made))
    for attribute, published in zip(schema.predictors, made.schema.predictors, strict=True):
        assert published.domain.size <= attribute.domain.size


def test_the_quasi_identifier_alone_is_generalized() -> None:
    random = simulation(3)
    rows = [tuple(int(random.integers(domain.size)) for domain in DOMAINS) for _ in range(200)]
    made = run(MIXED, rows, k=10, quasi="age,pain")
    assert made.schema["job"].domain == MIXED["job"].domain
    assert made.quasi == ("age", "pain")
    counts = np.zeros(MIXED["job"].domain.size, dtype=np.int64)
    np.add.at(counts, made.boxes[:, 2, 0], made.count.sum(axis=1))
    assert counts.tolist() == np.bincount([row[2] for row in rows], minlength=len(counts)).tolist()


def test_bad_input_is_refused_before_any_row_is_read() -> None:
    with pytest.raises(InputError, match="needs a class"):
        TDSMethod().plan(parse_schema("scumble: schema/1\nattributes:\n  a: {classes: [x, y]}\n"), TDS(k=2))
    with pytest.raises(InputError, match="hides nobody"):
        TDSMethod().plan(JOBS, TDS(k=1))
    with pytest.raises(InputError, match="cannot be part"):
        TDSMethod().plan(JOBS, TDS(k=2, quasi=["Class"]))
