"""The plan of a published folder, made again: the same for what every method publishes, and for joint releases."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import SCHEMA, people

import scumble
from scumble.errors import CheckError
from scumble.files.release_folder import read_manifest
from scumble.flows.stated_plan import check_plan
from scumble.model.guarantee import JointDP, PureDP

FOLLOWS = "the spends and the guarantee are planned from the method, the parameters and the schema"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    (place / "people.csv").write_text(people(200), encoding="utf-8")
    (place / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return scumble.release(
        place / "people.csv", schema=place / "schema.yaml", out=place / "out", ledger=place / "ledger.db", epsilon=1
    ).folder


def test_the_plan_follows(folder: Path) -> None:
    assert list(check_plan(folder, read_manifest(folder), scumble.load_release(folder))) == [FOLLOWS]


def test_several_owners_plan_as_one_does(folder: Path) -> None:
    release = scumble.load_release(folder)
    own = release.plan.guarantee
    assert isinstance(own, PureDP)
    joint = JointDP(epsilon=own.epsilon, delta=Fraction(1, 2**50), coalition=1, unit=own.unit)
    together = replace(release, plan=replace(release.plan, guarantee=joint))
    assert list(check_plan(folder, read_manifest(folder), together)) == [FOLLOWS]


@pytest.mark.parametrize("changes", [{"epsilon": "2"}, {"records": 5000}, {"max_cells": 9, "rounds": 1}])
def test_other_parameters_make_another_plan(folder: Path, changes: dict[str, object]) -> None:
    release = scumble.load_release(folder)
    other = replace(release, parameters={**release.parameters, **changes})
    with pytest.raises(CheckError, match="not those which follow"):
        list(check_plan(folder, read_manifest(folder), other))
