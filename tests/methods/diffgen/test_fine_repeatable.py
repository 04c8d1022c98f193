"""DiffGen's fine rows: drawn again from the release folder alone, and checked against all laws of a method."""

from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fine_releases import same_columns
from planned_runs import run

from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.laws.methods import check_method
from scumble.engines.memory import MemoryEngine
from scumble.files.release_folder import read_release, write_release
from scumble.files.schema_file import parse_schema
from scumble.files.verify import verify_folder
from scumble.methods.diffgen.detail.counts import ValueCounts
from scumble.methods.diffgen.detail.measure import add_detail
from scumble.methods.diffgen.detail.measured import MeasuredCells
from scumble.methods.diffgen.detail.residuals import ResidualChoice
from scumble.methods.diffgen.method import REST, DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.settings import diffgen_settings
from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.plan import Plan, Spend
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node
from scumble.model.values import codes_within, published_values
from scumble.privacy.noise import PaidNoise
from scumble.privacy.query import RowMeasurement

MANY = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 90, step: 10}, missing: "?"}
  ward: {taxonomy: {Any: {North: {a: , b: }, South: {c: , d: }}}}
"""
    + "".join(f"  x{number}: {{taxonomy: {{Any: {{u: , v: }}}}}}\n" for number in range(8))
    + "  ill: {classes: [a, b, c]}\n"
)


def rows_of(schema: Schema, number: int) -> tuple[Any, ...]:
    """Random rows whose class depends on a combination of two attributes, and somewhat on chance."""
    generator = np.random.default_rng(5)
    *columns, label = (generator.integers(0, each.domain.size, number).astype(np.uint8) for each in schema.attributes)
    return *columns, np.where(generator.random(number) < 0.8, columns[-1] ^ columns[-2], label)


def cut_of(fine: Schema, published: Schema) -> Cut:
    """The cut that generalizes one schema to the other, found from the values of both."""
    nodes = {}
    for attribute in fine.predictors:
        domain = published[attribute.name].domain
        codes = codes_within(domain, published_values(attribute.domain, np.arange(attribute.domain.size)))
        found, low = [], 0
        for code, group in groupby(codes.tolist()):
            high = low + len(list(group))
            found.append(Node(label=domain.labels[code], low=low, high=high))
            low = high
        nodes[attribute.name] = tuple(found)
    return Cut(schema=fine, nodes=nodes)


ANSWERS = ("values", "counts", "residuals", "slopes", "overlaps")
"""The keys of the answers in detail.json."""


class FolderPrices:
    """The prices of a release's plan, and of what it divided."""

    def __init__(self, plan: Plan) -> None:
        wholes = [division.whole for division in plan.divisions]
        self._prices = {spend.label: spend.epsilon for spend in (*plan.spends, *wholes)}

    def price(self, label: str) -> Fraction:
        return self._prices[label]


class FolderAnswers:
    """Returns the answers stored in detail.json, in their order."""

    def __init__(self, plan: Plan, schema: Schema, document: dict[str, Any]) -> None:
        self.plan, self.unit = FolderPrices(plan), plan.unit
        self._names = [attribute.name for attribute in schema.predictors]
        self._left = list(document["measured"])
        self.divisions = [division for division in plan.divisions if division.whole.label != REST]

    def divide(self, spend: str, parts: tuple[Spend, ...]) -> None:
        expected = self.divisions.pop(0)
        assert (expected.whole.label, expected.parts) == (spend, parts), "the plan states how it was divided"

    def choose_in_parts(self, query: ResidualChoice, *, spend: str) -> list[int]:
        del spend
        chosen = self._left.pop(0)["chosen"] if query.optional else self._left[0]["attributes"]
        places = tuple(self._names.index(name) for name in chosen)
        every = [candidate.places for candidate in query.candidates]
        return [every.index(places) if places else len(every)]

    def measure(self, query: RowMeasurement, *, spend: str) -> Integers:
        del spend
        answers = len(query.places) if isinstance(query, ValueCounts) else 1
        stored, self._left = self._left[:answers], self._left[answers:]
        numbers = [next(each[key] for key in ANSWERS if key in each) for each in stored]
        return np.concatenate([np.array(each, dtype=np.int64).ravel() for each in numbers])


CASES = {
    "no tables": ({"epsilon": "0.05"}, 2000),
    "tables, chosen": ({"epsilon": "1", "records": 150}, 2000),
    "all tables, weights, combinations": ({"epsilon": "5"}, 20_000),
}


@pytest.mark.parametrize("case", CASES)
def test_fine_rows_can_be_drawn_again_from_the_folder(tmp_path: Path, case: str) -> None:
    given, rows = CASES[case]
    parameters = DiffGen(**given)
    made = run(DiffGenMethod(), MANY, parameters, MemoryEngine([rows_of(MANY, rows)], MANY), PaidNoise())
    write_release(made, tmp_path, {})
    verify_folder(tmp_path)
    release = read_release(tmp_path)
    assert isinstance(release, CellRelease) and release.fine is not None
    schema = release.fine.schema
    document = dict(release.documents["detail"])
    counted = document.pop("records counted", None)
    learned = document.pop("learned")  # follows from the settings and the class totals
    records = parameters.records if counted is None else max(counted, 1)
    detail = diffgen_settings(schema, DiffGen(**release.parameters), records).detail
    assert detail is not None
    if case != "no tables":
        assert detail.tables > 0 and bool(detail.choice_share) == ("chosen" in case) == (not detail.fit_share)
    answers: Any = FolderAnswers(release.plan, schema, document)
    cells = MeasuredCells(
        cut=cut_of(schema, release.schema),
        split=tuple(document["split"]),
        measured=release.measured,
        variance=release.variance,
        count=release.count,
    )
    again = add_detail(cells, detail, answers)
    assert again.fine.rows > 0 and same_columns(again.fine, release.fine)
    assert again.document == document and not answers.divisions
    assert learned["records"] == sum(document["class totals"])


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_detail_satisfies_every_law_of_a_method(epsilon: str) -> None:
    parameters = DiffGen(epsilon=epsilon, detail="yes")
    for schema in [schema for schema in small_schemas() if schema.target is not None]:
        check_method(DiffGenMethod(), schema, parameters)
