"""The method `histograms`: rows drawn from noisy tables, their cost, and their file format."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import coded_rows, grids, schemas, trees

import scumble
from scumble.auditing.laws.queries import engine_of
from scumble.comparison.recipes import RECIPES
from scumble.comparison.trials import CodedTable
from scumble.engines.coding import code_blocks
from scumble.errors import InputError
from scumble.flows.evaluate import training_sample
from scumble.methods import method_named
from scumble.methods.histograms.method import HistogramsMethod
from scumble.methods.histograms.rows import class_totals, draw_rows, project
from scumble.model.counts import Integers
from scumble.model.domain import Domain
from scumble.model.guarantee import Unit
from scumble.model.release import RecordRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.values import published_values
from scumble.privacy.noise import PaidNoise
from scumble.sources import open_source

METHOD = HistogramsMethod()


class Listening:
    """Adds no noise, and records the sensitivity and epsilon of each request."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, Fraction]] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        self.requests.append((sensitivity, epsilon))
        return values

    def select(self, *_: object, **__: object) -> int:
        raise AssertionError("histograms choose nothing")


def released(schema: Schema, rows: list[tuple[int, ...]], noise: Listening | PaidNoise, epsilon: str) -> RecordRelease:
    parameters = METHOD.parameters(epsilon=epsilon)
    made = run(METHOD, schema, parameters, engine_of(schema, rows), noise)
    assert isinstance(made, RecordRelease)
    return made


@settings(max_examples=100)
@given(data=st.data(), schema=schemas().filter(lambda schema: schema.target is not None))
def test_one_measurement_of_all_tables_costs_the_whole_budget(data: st.DataObject, schema: Schema) -> None:
    """The noise scale is d / eps under add-remove and twice that under replace; without noise, the number of rows is
    exact."""
    rows = data.draw(coded_rows(schema))
    noise = Listening()
    made = released(schema, rows, noise, "1/3")
    times = 1 if schema.unit is Unit.ADD_REMOVE else 2
    assert noise.requests == [(times * len(schema.predictors), Fraction(1, 3))]
    assert [spend.epsilon for spend in made.plan.spends] == [Fraction(1, 3)]
    assert made.records == len(rows)
    assert set(made.columns) == {attribute.name for attribute in schema.attributes}


@settings(max_examples=200)
@given(data=st.data(), domain=st.one_of(trees(), grids()))
def test_a_published_value_is_read_back_as_its_code(data: st.DataObject, domain: Domain) -> None:
    codes = np.array(data.draw(st.lists(st.integers(0, domain.size - 1), min_size=1)), dtype=np.int64)
    missing = getattr(domain, "missing", None)
    here = Attribute(name="here", domain=domain, outside=Outside.DROP, missing=missing)
    schema = Schema(attributes=(here,))
    # As in evaluation.training_sample: a missing number is NaN in memory and null in a table.
    source = open_source(pa.table({"here": pa.array(published_values(domain, codes), from_pandas=True)}))
    read = [block[0] for block in code_blocks(source.batches(schema.columns), schema)]
    assert np.concatenate(read).tolist() == codes.tolist()


def test_numbers_are_integers_if_the_grid_is() -> None:
    grid = RECIPES["xor"].schema["level"].domain
    assert published_values(grid, np.array([0, 19])).dtype == np.int64


@given(
    column=st.lists(st.integers(-500, 500), min_size=1, max_size=12),
    total=st.integers(1, 2000),
)
def test_projection_is_the_nearest_vector_with_the_total(column: list[int], total: int) -> None:
    """By the conditions that characterise it: one amount is taken off all entries above zero, and it would make the
    others negative."""
    measured = np.array(column)
    projected = project(measured, total)
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(total)
    above = projected > 0
    amounts = (measured - projected)[above]
    assert np.ptp(amounts) == pytest.approx(0, abs=1e-9)
    assert (measured[~above] <= amounts[0] + 1e-9).all()


def test_a_short_table_has_more_weight_in_totals() -> None:
    """Variances 2 and 8, so weights 4 to 1."""
    short = np.array([[30, 10], [30, 10]])
    long = np.array([[20, 0]] * 8)
    assert class_totals([short, long]).tolist() == [(4 * 60 + 160) // 5, (4 * 20 + 0) // 5]
    assert class_totals([-short]).tolist() == [0, 0]


def test_draws_repeat_and_follow_the_tables() -> None:
    draw = np.random.default_rng(5)
    tables = [draw.integers(0, 300, (values, 3)) for values in (4, 2, 9)]
    first, again = draw_rows(tables), draw_rows([table.copy() for table in tables])
    assert all((a == b).all() for a, b in zip(first.predictors, again.predictors, strict=True))
    other = draw_rows([tables[0] + np.eye(4, 3, dtype=np.int64), *tables[1:]])
    assert any(a.shape != b.shape or (a != b).any() for a, b in zip(first.predictors, other.predictors, strict=True))
    totals = class_totals(tables)
    for column, table in zip(first.predictors, tables, strict=True):
        for label in range(3):
            drawn = np.bincount(column[first.labels == label], minlength=len(table))
            wanted = project(table[:, label], int(totals[label]))
            assert (np.abs(drawn - wanted) <= 6 * np.sqrt(wanted + 1)).all()


def test_an_empty_table_makes_a_release() -> None:
    schema = RECIPES["xor"].schema
    made = released(schema, [], Listening(), "1")
    assert made.records == 0
    assert all(len(column) == 0 for column in made.columns.values())


def test_rows_keep_the_relation_to_the_class_but_not_between_attributes() -> None:
    """On `xor` only the combination of attributes determines the class. Drawn given the class, they are independent."""
    table = RECIPES["xor"].table(rows=20_000, seed=4)
    rows = list(zip(*(column.tolist() for column in table.columns), strict=True))
    sample = training_sample(released(table.schema, rows, PaidNoise(), "5"))
    raw = table.sample(table.schema)
    for label in (0, 1):
        mine, theirs = sample.codes[sample.labels == label], raw.codes[raw.labels == label]
        assert abs(len(mine) - len(theirs)) < 40
        assert np.abs(mine[:, :4].mean(axis=0) - theirs[:, :4].mean(axis=0)).max() < 0.3
        assert abs(np.corrcoef(theirs[:, 0], theirs[:, 1])[0, 1]) > 0.4
        assert abs(np.corrcoef(mine[:, 0], mine[:, 1])[0, 1]) < 0.05


def test_release_verify_read_evaluate(tmp_path: Path) -> None:
    """Release, verify, read back, evaluate; a schema without a class is refused before anything is charged."""
    table = RECIPES["five-classes"].table(rows=3_000, seed=1)
    frame = pa.table(
        {
            attribute.name: published_values(attribute.domain, column.astype(np.int64))
            for attribute, column in zip(table.schema.attributes, table.columns, strict=True)
        }
    )
    published = scumble.release(
        frame,
        schema=table.schema,
        method="histograms",
        epsilon="2",
        out=tmp_path / "out",
        ledger=tmp_path / "ledger.db",
        dataset="five",
    )
    assert scumble.verify(tmp_path / "out")
    again = scumble.load_release(tmp_path / "out")
    assert (training_sample(again).codes == training_sample(published.release).codes).all()
    judged = scumble.evaluate(tmp_path / "out", test=frame)
    assert judged["boosting"]["accuracy"] > judged["majority"] + 0.2
    classless = Schema(attributes=table.schema.predictors)
    with pytest.raises(InputError, match="target"):
        method_named("histograms").plan(classless, METHOD.parameters(epsilon="1"))


def test_memory_and_file_give_the_same_sample() -> None:
    """The sample that is evaluated in memory equals the one that a miner reads from the file."""
    table = RECIPES["rare-class"].table(rows=500, seed=2)
    rows = list(zip(*(column.tolist() for column in table.columns), strict=True))
    made = released(table.schema, rows, Listening(), "1")
    frame = pa.table({name: pa.array(column) for name, column in made.columns.items()})
    coded = CodedTable.read(open_source(frame), table.schema).sample(table.schema)
    assert (coded.codes == training_sample(made).codes).all()
