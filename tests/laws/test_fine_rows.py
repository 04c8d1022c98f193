"""Fine rows: the laws of methods, planted violations, what the adversary of an audit sees, and the attacks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fine_releases import (
    fine_rows,
    learned,
    made,
    raw_rows,
    written,
)
from planted_bugs import Wrapped

from scumble.auditing.attacks import attack_release, published_table
from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.laws.methods import check_nothing_hidden, check_nothing_unpaid, check_spending
from scumble.auditing.outcomes import ReleaseView
from scumble.errors import CheckError
from scumble.methods.diffgen.method import COUNT
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.cut import Cut
from scumble.model.fine_rows import ROWS_FROM_TABLES, fine_counts
from scumble.model.plan import Plan
from scumble.model.release import CellRelease, FineRows
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.query import CellCounts


class WithFineRows(Wrapped):
    """DiffGen with rows drawn inside its cells, from the published counts alone, as by earlier versions."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        release = super().run(schema, parameters, holder)
        return replace(release, fine=self.draw(release, schema, holder), documents=self.documents(holder))

    def draw(self, release: CellRelease, schema: Schema, holder: CentralHolder) -> FineRows:
        seed = abs(int(release.measured.sum()))
        return fine_rows(Cut.leaves(schema), fine_counts(release.count).sum(axis=1), seed)

    def documents(self, holder: CentralHolder) -> dict[str, dict[str, Any]]:
        return {}


class SeededByTheRows(WithFineRows):
    """Fine rows that depend on the exact number of records."""

    def draw(self, release: CellRelease, schema: Schema, holder: CentralHolder) -> FineRows:
        rows = sum(len(block[0]) for block in holder._engine.blocks())
        return fine_rows(Cut.leaves(schema), fine_counts(release.count).sum(axis=1), rows)


class PublishesRowCountInDocument(WithFineRows):
    """A document that contains the exact number of rows."""

    def documents(self, holder: CentralHolder) -> dict[str, dict[str, Any]]:
        return {"detail": {"tables": [sum(len(block[0]) for block in holder._engine.blocks())]}}


class OneTooMany(WithFineRows):
    """One row too many in the first cell."""

    def draw(self, release: CellRelease, schema: Schema, holder: CentralHolder) -> FineRows:
        sizes = fine_counts(release.count).sum(axis=1)
        sizes[0] += 1
        return fine_rows(Cut.leaves(schema), sizes, 0)


class AnotherSchema(WithFineRows):
    """Fine rows of a schema other than the public one."""

    def draw(self, release: CellRelease, schema: Schema, holder: CentralHolder) -> FineRows:
        return replace(super().draw(release, schema, holder), schema=replace(schema, rows_at_most=7))


class OutsideTheDomain(WithFineRows):
    """Fine rows with a class that the schema does not have."""

    def draw(self, release: CellRelease, schema: Schema, holder: CentralHolder) -> FineRows:
        fine = super().draw(release, schema, holder)
        classes = np.full(fine.rows, "unknown", dtype=object)
        return replace(fine, columns={**fine.columns, str(schema.target): classes})

    def documents(self, holder: CentralHolder) -> dict[str, dict[str, Any]]:
        return {"detail": {"rows": ROWS_FROM_TABLES}}


class OneTooManyFromTables(OneTooMany):
    """The same as `OneTooMany`, but the rows are said to follow the class tables."""

    def documents(self, holder: CentralHolder) -> dict[str, dict[str, Any]]:
        return {"detail": {"rows": ROWS_FROM_TABLES}}


class WithholdsAnAnswer(WithFineRows):
    """Draws fine rows from a second measurement that is paid for but not published."""

    def plan(self, schema: Schema, parameters: DiffGen) -> Plan:
        planned = super().plan(schema, parameters)
        (count,) = planned.spends
        return replace(planned, spends=(replace(count, epsilon=count.epsilon / 2, times=2),))

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        release = super().run(schema, parameters, holder)
        return replace(release, plan=self.plan(schema, parameters))

    def draw(self, release: CellRelease, schema: Schema, holder: CentralHolder) -> FineRows:
        second = holder.measure(CellCounts(cut=Cut.leaves(schema), resolution=1), spend=COUNT)
        return fine_rows(Cut.leaves(schema), fine_counts(release.count).sum(axis=1), abs(int(second.sum())))


LEAVES = DiffGen(epsilon="1", leaves=True)
WITH_CLASS = small_schemas()[0]


def test_rows_drawn_from_the_counts_satisfy_the_laws() -> None:
    for check in (check_spending, check_nothing_unpaid, check_nothing_hidden):
        check(WithFineRows(), WITH_CLASS, LEAVES)


def test_violations_by_fine_rows_are_detected() -> None:
    with pytest.raises(CheckError, match="'fine', which depends on rows"):
        check_nothing_unpaid(SeededByTheRows(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="'documents', which depends on rows"):
        check_nothing_unpaid(PublishesRowCountInDocument(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="not in the proportions of the counts"):
        check_spending(OneTooMany(), WITH_CLASS, LEAVES)
    check_spending(OneTooManyFromTables(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="outside the domain"):
        check_spending(OutsideTheDomain(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="a schema other than the public one"):
        check_spending(AnotherSchema(), WITH_CLASS, LEAVES)
    check_nothing_unpaid(WithholdsAnAnswer(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="does not publish"):
        check_nothing_hidden(WithholdsAnAnswer(), WITH_CLASS, LEAVES)


def test_the_adversary_sees_documents_as_numbers_and_chosen_attributes_in_the_path() -> None:
    view = ReleaseView(made())
    names = dict(zip(view.names, view.numbers.tolist(), strict=True))
    assert names["documents detail measured 1 counts[1]"] == -2 and names["documents detail measured 2 counts[3]"] == 4
    assert any("attribute is weight" in word for word in view.path)
    assert ReleaseView(made(seed=1)).path == view.path, "fine rows are derived from the rest"


def test_attacks_use_the_recommended_table(tmp_path: Path) -> None:
    release = learned()
    table = published_table(release)
    assert table.codes.shape == (4 * 320, 4) and table.codes[:, 1].max() == 11
    folder = written(release, tmp_path / "attacked")
    found = attack_release(folder, train=raw_rows(4), control=raw_rows(5))
    inference = next(each for each in found if each.name == "attribute inference")
    assert inference.in_release > 0.5 and len(found) == 4
