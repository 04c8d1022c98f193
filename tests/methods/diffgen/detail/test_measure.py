"""The detail as a whole: rows of the public schema for any table, and what each ingredient is for."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from detail_models import usable
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import coded_rows, schemas

from scumble.auditing.laws.queries import engine_of
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.spends import CHOOSE_TABLE
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.fine_rows import ROWS_FROM_TABLES, drawn_inside_cells, strays
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.model.values import codes_within
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise

EIGHT = parse_schema(
    "scumble: schema/1\ntarget: class\nattributes:\n"
    + "".join(f"  x{number}: {{taxonomy: {{Any: {{a: , b: , c: , d: }}}}}}\n" for number in range(8))
    + "  class: {classes: [x, y]}\n"
)
TWELVE = parse_schema(
    "scumble: schema/1\ntarget: class\nattributes:\n"
    + "".join(f"  x{number}: {{numeric: {{low: 0, high: 8, step: 1}}}}\n" for number in range(12))
    + "  class: {classes: [x, y]}\n"
)


def released(schema: Schema, columns: list[Any], **parameters: Any) -> CellRelease:
    block = tuple(np.asarray(column).astype(np.uint16) for column in columns)
    return run(DiffGenMethod(), schema, DiffGen(**parameters), MemoryEngine([block], schema), PaidNoise())


def fine_codes(release: CellRelease) -> dict[str, Any]:
    assert release.fine is not None
    return {
        each.name: codes_within(each.domain, release.fine.columns[each.name]) for each in release.fine.schema.attributes
    }


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_fine_rows_have_values_of_the_public_schema_for_any_table(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    rows = data.draw(coded_rows(schema, most_rows=20))
    given_too = data.draw(st.sampled_from([{}, {"records": 5}, {"records": 500}, {"records": 10**5}]))
    parameters = DiffGen(epsilon=data.draw(st.sampled_from(["1/10", "3", "40"])), **given_too)
    method = DiffGenMethod()
    plan = method.plan(schema, parameters)
    assert sum((spend.total(schema.unit) for spend in plan.spends), Fraction(0)) == parameters.epsilon
    holder = CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=plan)
    made = method.run(schema, parameters, holder)
    assert made.fine is not None and made.fine.schema == schema and strays(made.fine) == []
    assert set(made.fine.columns) == {attribute.name for attribute in schema.attributes}
    assert {len(column) for column in made.fine.columns.values()} == {made.fine.rows}
    assert made.documents["detail"]["rows"] == ROWS_FROM_TABLES
    assert not drawn_inside_cells(made.documents["detail"])


def test_four_rows_are_drawn_for_every_counted_record() -> None:
    generator = np.random.default_rng(1)
    made = released(TWELVE, [generator.integers(0, 8, 5000) for _ in range(12)] + [np.arange(5000) % 2], epsilon="1")
    assert made.fine is not None and made.fine.rows == pytest.approx(20_000, rel=0.02)


@pytest.mark.parametrize("epsilon", ["1/40", "2"])
def test_the_attribute_that_decides_the_class_is_counted_and_followed(epsilon: str) -> None:
    """A small epsilon leads to few tables, which are chosen; a large one counts every attribute."""
    generator = np.random.default_rng(2)
    columns = [generator.integers(0, 8, 20_000) for _ in range(12)]
    label = (columns[7] >= 5) ^ (generator.random(20_000) < 0.05)
    made = released(TWELVE, [*columns, label], epsilon=epsilon, records=20_000)
    tables = [
        each["attributes"] for each in made.documents["detail"]["measured"] if "counts" in each and "attributes" in each
    ]
    assert ["x7"] in tables and (len(tables) < 12) == (CHOOSE_TABLE in {spend.label for spend in made.plan.spends})
    codes = fine_codes(made)
    high = codes["x7"] >= 5
    assert codes["class"][high].mean() - codes["class"][~high].mean() > 0.25


def test_a_value_with_many_records_keeps_them() -> None:
    """Half of the records have the same of 1,000 values."""
    schema = parse_schema(
        "scumble: schema/1\ntarget: class\nattributes:\n"
        "  pay: {numeric: {low: 0, high: 1000, step: 1}}\n  class: {classes: [x, y]}\n"
    )
    generator = np.random.default_rng(3)
    pay = np.where(generator.random(20_000) < 0.5, 137, generator.integers(0, 1000, 20_000))
    made = released(schema, [pay, pay > 500], epsilon="1")
    codes = fine_codes(made)
    assert (codes["pay"] == 137).mean() == pytest.approx(0.5, abs=0.05)
    assert max((codes["pay"] == other).mean() for other in (136, 138)) < 0.02
    assert codes["class"][codes["pay"] > 600].mean() > 0.9 > 0.1 > codes["class"][codes["pay"] < 400].mean()


def test_an_interaction_that_no_attribute_shows_alone_is_found() -> None:
    """The class is the exclusive or of two attributes."""
    generator = np.random.default_rng(4)
    columns = [generator.integers(0, 8, 60_000) for _ in range(12)]
    label = ((columns[2] >= 4) ^ (columns[9] >= 4)) ^ (generator.random(60_000) < 0.05)
    made = released(TWELVE, [*columns, label], epsilon="2")
    measured = made.documents["detail"]["measured"]
    assert any({"x2", "x9"} <= set(each["attributes"]) for each in measured if "residuals" in each)
    codes = fine_codes(made)
    odd = (codes["x2"] >= 4) ^ (codes["x9"] >= 4)
    assert codes["class"][odd].mean() > 0.7 > 0.3 > codes["class"][~odd].mean()


def test_an_interaction_of_three_that_no_pair_shows_is_found() -> None:
    generator = np.random.default_rng(8)
    columns = [generator.integers(0, 4, 60_000) for _ in range(8)]
    odd = (columns[1] >= 2) ^ (columns[4] >= 2) ^ (columns[6] >= 2)
    made = released(EIGHT, [*columns, odd ^ (generator.random(60_000) < 0.05)], epsilon="2")
    codes = fine_codes(made)
    odd = (codes["x1"] >= 2) ^ (codes["x4"] >= 2) ^ (codes["x6"] >= 2)
    assert codes["class"][odd].mean() > 0.7 > 0.3 > codes["class"][~odd].mean()


def test_without_an_interaction_no_combination_is_added_most_of_the_time() -> None:
    generator, added = np.random.default_rng(5), 0
    for _ in range(6):
        columns = [generator.integers(0, 8, 40_000) for _ in range(12)]
        label = generator.random(40_000) < np.where(columns[3] >= 4, 0.7, 0.3)
        made = released(TWELVE, [*columns, label], epsilon="2")
        added += any("residuals" in each for each in made.documents["detail"]["measured"])
    assert added < 6


def test_class_shares_of_the_rows_are_those_of_the_records() -> None:
    generator = np.random.default_rng(6)
    columns = [generator.integers(0, 8, 30_000) for _ in range(12)]
    label = generator.random(30_000) < np.where(columns[3] >= 6, 0.6, 0.05)
    made = released(TWELVE, [*columns, label], epsilon="1")
    codes = fine_codes(made)
    assert codes["class"].mean() == pytest.approx(label.mean(), abs=0.01)
    assert np.bincount(codes["x3"], minlength=8) / len(codes["x3"]) == pytest.approx(np.full(8, 1 / 8), abs=0.02)
