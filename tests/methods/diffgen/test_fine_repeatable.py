"""DiffGen's fine rows: drawn again from the release folder alone, and checked against all laws of a method."""

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
from scumble.methods.diffgen.detail.measure import MeasuredCells, add_detail
from scumble.methods.diffgen.detail.queries import MarginalCounts, StageChoice, StageCounts
from scumble.methods.diffgen.levels import LEVELS, diffgen_settings, level_for
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.plan import Plan
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node
from scumble.model.values import codes_within, published_values
from scumble.privacy.noise import PaidNoise

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
    generator = np.random.default_rng(5)
    return tuple(generator.integers(0, each.domain.size, number).astype(np.uint8) for each in schema.attributes)


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


class FolderAnswers:
    """Returns the answers stored in detail.json, in their order."""

    def __init__(self, plan: Plan, schema: Schema, document: dict[str, Any]) -> None:
        self.plan, self.unit = plan, plan.unit
        self._names = [attribute.name for attribute in schema.predictors]
        self._left = list(document["measured"])

    def choose_in_parts(self, query: StageChoice, *, spend: str) -> list[int]:
        del spend
        return [query.places.index(self._names.index(self._left[0]["attribute"]))]

    def measure(self, query: StageCounts | MarginalCounts, *, spend: str) -> Integers:
        del spend
        tables = len(query.places) if isinstance(query, MarginalCounts) else 1
        stored, self._left = self._left[:tables], self._left[tables:]
        return np.concatenate([np.array(table["counts"], dtype=np.int64).ravel() for table in stored])


@pytest.mark.parametrize("epsilon", ["0.05", "1"])
def test_fine_rows_can_be_drawn_again_from_the_folder(tmp_path: Path, epsilon: str) -> None:
    parameters = DiffGen(epsilon=epsilon, detail="yes")
    made = run(DiffGenMethod(), MANY, parameters, MemoryEngine([rows_of(MANY, 2000)], MANY), PaidNoise())
    write_release(made, tmp_path, {})
    verify_folder(tmp_path)
    release = read_release(tmp_path)
    assert isinstance(release, CellRelease) and release.fine is not None
    schema = release.fine.schema
    document = dict(release.documents["detail"])
    records = sum(document.pop("records counted"))
    level = level_for(LEVELS, schema, parameters.epsilon, records)
    detail = diffgen_settings(schema, DiffGen(**release.parameters), level).detail
    assert detail is not None
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
    assert again.document == document


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_detail_satisfies_every_law_of_a_method(epsilon: str) -> None:
    parameters = DiffGen(epsilon=epsilon, detail="yes")
    for schema in [schema for schema in small_schemas() if schema.target is not None]:
        check_method(DiffGenMethod(), schema, parameters)
