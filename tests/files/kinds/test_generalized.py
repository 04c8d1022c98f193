"""Releases of generalized records: what is written is read back, and verify finds groups that break the guarantee."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, grids, schemas, trees

from scumble.auditing.laws.queries import engine_of
from scumble.errors import CheckError, InputError
from scumble.files.kinds.generalized import GENERALIZED, sensitive_counts
from scumble.files.release_folder import read_release, write_release
from scumble.files.verify import verify_folder
from scumble.flows.load import load_cells, load_generalized
from scumble.methods.mondrian.method import Mondrian, MondrianMethod
from scumble.model.generalized import label_of_range, range_of_label, spread
from scumble.model.grid import Grid
from scumble.model.guarantee import KAnonymity, LDiversity, TCloseness, Unit
from scumble.model.release import GeneralizedRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise

AGE = Attribute(name="age", domain=Grid(edges=tuple(map(Decimal, (0, 10, 20, 40)))), outside=Outside.CLAMP)
ILL = Attribute(name="ill", domain=Tree.flat(["no", "flu", "cold"]), outside=Outside.DROP)
SCHEMA = Schema(attributes=(AGE, ILL), target="ill")
GUARANTEE = KAnonymity(k=3, quasi=("age",))


def made(schema: Schema, rows: list[tuple[int, ...]], **parameters: Any) -> GeneralizedRelease:
    chosen, method = Mondrian(**parameters), MondrianMethod()
    plan = method.plan(schema, chosen)
    return method.run(schema, chosen, CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=plan))


@given(data=st.data(), table=st.booleans())
@settings(max_examples=40)
def test_a_release_is_read_back_as_it_was_written(data: st.DataObject, table: bool) -> None:
    drawn = replace(data.draw(schemas()), unit=Unit.ADD_REMOVE, rows=None, rows_at_most=None)
    confirmed = tuple(replace(each, unconfirmed=False) for each in drawn.attributes)
    release = made(replace(drawn, attributes=confirmed), data.draw(coded_rows(drawn, most_rows=20)), k=2)
    with TemporaryDirectory() as folder:
        write_release(release, Path(folder), {}, table=table)
        back = read_release(Path(folder))
        assert isinstance(back, GeneralizedRelease)
        assert GENERALIZED.table(back, "table", counts=True) == GENERALIZED.table(release, "table", counts=True)
        np.testing.assert_array_equal(back.group_sizes, release.group_sizes)
        assert (back.quasi, back.plan, back.records) == (release.quasi, release.plan, release.records)
        assert any("every group of groups.csv" in line for line in verify_folder(Path(folder)))
        assert (Path(folder) / "table.csv").exists() == table


@given(domain=trees() | grids(), data=st.data())
@settings(max_examples=100)
def test_labels_of_ranges_are_read_back(domain: Tree | Grid, data: st.DataObject) -> None:
    if isinstance(domain, Grid):
        low = data.draw(st.integers(0, domain.size - 1))
        ends = (low, data.draw(st.integers(low + 1, domain.size)))
    else:
        node = data.draw(st.sampled_from([*domain.root.walk()]))
        ends = (node.low, node.high)
    assert range_of_label(domain, label_of_range(domain, *ends)) == ends


@pytest.mark.parametrize(
    "label", ["[0,15)", "[20,10)", "[10,10)", "10", "[0,10", "[,10)", "[0,1e999999999)", "[nan,10)"]
)
def test_other_texts_are_refused(label: str) -> None:
    with pytest.raises(InputError, match="not an interval"):
        range_of_label(AGE.domain, label)


def test_rows_are_spread_evenly() -> None:
    codes = spread(np.zeros((10_000, 3), dtype=np.int64), np.tile([1, 7, 100], (10_000, 1)))
    assert (codes[:, 0] == 0).all()
    for column, width in ((1, 7), (2, 100)):
        shares = np.bincount(codes[:, column], minlength=width) * width / 10_000
        assert abs(shares - 1).max() < 0.05
    pairs = np.bincount(codes[:, 1] * 100 + codes[:, 2], minlength=700) * 700 / 10_000
    assert abs(pairs - 1).max() < 0.5


def planted(**changes: Any) -> GeneralizedRelease:
    """Three records of 0 to 20, three of 20 to 40, under the guarantee to be checked."""
    rows = [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1), (2, 1)]
    release = made(SCHEMA, rows, k=3)
    guarantee = changes.pop("guarantee", GUARANTEE)
    return replace(release, plan=replace(release.plan, guarantee=guarantee), **changes)


def test_a_sound_release_has_no_fault() -> None:
    sound = planted()
    assert sound.group_sizes.tolist() == [3, 3]
    assert sensitive_counts(sound, "ill").tolist() == [[1, 2, 0], [1, 2, 0]]
    diverse = LDiversity(k=3, quasi=("age",), l=Fraction(2), sensitive="ill")
    for guarantee in (GUARANTEE, diverse, TCloseness(k=3, quasi=("age",), t=Fraction(1, 100), sensitive="ill")):
        assert not list(GENERALIZED.faults(planted(guarantee=guarantee)))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"guarantee": KAnonymity(k=4, quasi=("age",))}, "fewer than 4"),
        ({"guarantee": KAnonymity(k=3, quasi=("ill",))}, "quasi-identifier"),
        ({"guarantee": LDiversity(k=3, quasi=("age",), l=Fraction(3), sensitive="ill")}, "less diversity"),
        (
            {"guarantee": LDiversity(k=3, quasi=("age",), l=Fraction(2), sensitive="ill", entropy=True)},
            "less diversity",
        ),
        (
            {
                "count": np.array([[3, 0, 0], [1, 2, 0]]),
                "guarantee": TCloseness(k=3, quasi=("age",), t=Fraction(1, 10), sensitive="ill"),
            },
            "less diversity",
        ),
    ],
)
def test_verify_finds_groups_that_break_the_guarantee(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    release = planted(**changes)
    assert any(fault in each for each in GENERALIZED.faults(release))
    write_release(release, tmp_path, {})
    with pytest.raises(CheckError, match=fault):
        verify_folder(tmp_path)


def test_the_pages_say_what_is_not_guaranteed(tmp_path: Path) -> None:
    write_release(planted(), tmp_path, {})
    report, readme = (tmp_path / "report.html").read_text(), (tmp_path / "README.md").read_text()
    assert "What a group has in common" in report
    assert "without noise" in report
    assert readme.startswith("**NOT differentially private.")
    assert json.loads((tmp_path / "release.json").read_text())["guarantee"]["quasi"] == ["age"]


def test_loading_by_kind(tmp_path: Path) -> None:
    write_release(planted(), tmp_path, {})
    assert load_generalized(tmp_path).records == 6
    with pytest.raises(InputError, match="load_generalized"):
        load_cells(tmp_path)
