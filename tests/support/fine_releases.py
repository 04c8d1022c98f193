"""Releases with fine rows, built directly: counts over a cut, and arbitrary rows inside its cells."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.files.release_folder import write_release
from scumble.files.schema_file import parse_schema
from scumble.model.counts import Integers
from scumble.model.cut import Cut, Specialization
from scumble.model.fine_rows import fine_counts
from scumble.model.guarantee import PureDP
from scumble.model.plan import Plan, Spend
from scumble.model.release import CellRelease, FineRows, RecordRelease
from scumble.model.rounding import Rounding
from scumble.model.schema import Schema
from scumble.model.values import published_values


def fine_rows(cut: Cut, sizes: Integers, seed: int) -> FineRows:
    """As many rows as each cell has, anywhere in the cell and of any class."""
    schema, generator = cut.schema, np.random.default_rng(seed)
    digits = np.unravel_index(np.repeat(np.arange(cut.cells), sizes), cut.shape)
    columns = {}
    for attribute, places in zip(schema.predictors, digits, strict=True):
        nodes = cut.nodes[attribute.name]
        ends = [np.array([getattr(node, end) for node in nodes]) for end in ("low", "high")]
        codes = generator.integers(*(end[places] for end in ends))
        columns[attribute.name] = published_values(attribute.domain, codes)
    if schema.target is not None:
        labels = generator.integers(0, len(schema.classes), int(sizes.sum()))
        columns[schema.target] = published_values(schema[schema.target].domain, labels)
    return FineRows(schema=schema, columns=columns)


def fine_release(cut: Cut, measured: Integers, *, seed: int = 0, tables: Sequence[str] = ()) -> CellRelease:
    count = Rounding.PROJECT.apply(measured, 1)
    published = cut.published_schema()
    spends = (Spend(label="count", epsilon=Fraction(1, 2)), Spend(label="detail", epsilon=Fraction(1, 2)))
    measured_beside = [{"attribute": name, "counts": [[1, -2], [3, 4]]} for name in tables]
    detail: dict[str, Any] = {"measured": [*measured_beside, {"counts": [5, 6]}]}
    total = sum((spend.total(published.unit) for spend in spends), Fraction(0))
    return CellRelease(
        method="made up",
        parameters={"rounds": 3},
        plan=Plan(guarantee=PureDP(epsilon=total, unit=published.unit), spends=spends, cells_at_most=cut.cells),
        schema=published,
        measured=measured,
        resolution=1,
        variance=2.5,
        rounding=Rounding.PROJECT,
        count=count,
        fine=fine_rows(cut, fine_counts(count).sum(axis=1), seed),
        documents={"detail": detail},
    )


def same_columns(one: FineRows | RecordRelease, other: FineRows | RecordRelease) -> bool:
    """Whether values and types are equal, including missing numbers."""
    return list(one.columns) == list(other.columns) and all(
        mine.dtype == theirs.dtype
        and (np.array_equal(mine, theirs, equal_nan=True) if mine.dtype.kind == "f" else np.array_equal(mine, theirs))
        for mine, theirs in zip(one.columns.values(), other.columns.values(), strict=True)
    )


def with_target(schema: Schema) -> bool:
    return schema.target is not None


PATIENTS = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 90, step: 10}, missing: "?"}
  weight: {numeric: {low: 30, high: 150, step: 10}}
  ward: {taxonomy: {Any: {North: {a: , b: }, South: {c: , d: }}}}
  ill: {classes: ["no", "yes"]}
"""
)


def halves() -> Cut:
    """Two ranges of age, the second including missing ages, and two wards: four cells."""
    cut = Cut.top(PATIENTS)
    for name, position in (("age", 4), ("ward", 0)):
        node = cut.nodes[name][0]
        children = PATIENTS[name].domain.split(node, position)
        cut = cut.specialize(Specialization(attribute=name, node=node, children=children))
    return cut


def made(seed: int = 0) -> CellRelease:
    return fine_release(halves(), np.array([[20, 7], [-3, 9], [0, -1], [40, 2]]), seed=seed, tables=("age", "weight"))


def raw_rows(seed: int, rows: int = 300) -> pa.Table:
    """Patients whose illness depends on a weight that the cells do not separate."""
    generator = np.random.default_rng(seed)
    weight = generator.integers(30, 150, rows)
    return pa.table(
        {
            "age": generator.integers(0, 90, rows),
            "weight": weight,
            "ward": generator.choice(["a", "b", "c", "d"], rows),
            "ill": np.where(weight < 90, "no", "yes"),
        }
    )


def learned() -> CellRelease:
    """A release whose cells do not predict the class, and whose fine rows do so exactly."""
    release = fine_release(halves(), np.full((4, 2), 40))
    assert release.fine is not None
    classes = np.where(release.fine.columns["weight"] < 90, "no", "yes").astype(object)
    return replace(release, fine=replace(release.fine, columns={**release.fine.columns, "ill": classes}))


def written(release: CellRelease, folder: Path, *, table: bool = True) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_release(release, folder, {}, table=table)
    return folder
