"""Every kind of release: its folder is written, read back, verified, and refused after a change."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fine_releases import PATIENTS, made, raw_rows

from scumble.errors import CheckError, InputError
from scumble.files.kinds import KINDS, kind_named, kind_of
from scumble.files.kinds.blurred import BLURRED
from scumble.files.kinds.cells import CELLS
from scumble.files.kinds.kind import ReleaseKind
from scumble.files.kinds.records import RECORDS
from scumble.files.release_folder import read_manifest, write_release
from scumble.flows.load import load_release
from scumble.flows.perturb import perturb
from scumble.flows.release import release
from scumble.model.release import RecordRelease, Release


def records() -> RecordRelease:
    columns = {
        "age": np.array([15.0, np.nan, 85.0]),
        "weight": np.array([31.5, 40.0, 149.0]),
        "ward": np.array(["a", "d", "b"], dtype=np.object_),
        "ill": np.array(["no", "yes", "no"], dtype=np.object_),
    }
    documents = {"groups": {"groups": [{"size": 3}]}}
    plan = made().plan
    return RecordRelease(
        method="x", parameters={"k": 2}, plan=plan, schema=PATIENTS, columns=columns, documents=documents
    )


OTHERS: dict[str, dict[str, Any]] = {
    "generalized": {"method": "mondrian", "k": 2, "accept": ["k-anonymity"], "dataset": "a"},
    "classifier": {"method": "diffp-c45", "epsilon": "1", "dataset": "b"},
}
"""How a release of each further kind is made."""


def written(release: Release, folder: Path) -> Path:
    folder.mkdir()
    write_release(release, folder, {}, table=True)
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """A folder of each kind."""
    blurred = perturb(raw_rows(1), schema=PATIENTS, epsilon=Fraction(4), out=tmp_path / "blurred").folder
    return {
        "cells": written(made(), tmp_path / "cells"),
        "records": written(records(), tmp_path / "records"),
        "blurred": blurred,
        **{
            name: release(
                raw_rows(2), schema=PATIENTS, out=tmp_path / name, ledger=tmp_path / f"{name}.db", **options
            ).folder
            for name, options in OTHERS.items()
        },
    }


def test_kinds_have_names_classes_and_loaders_of_their_own() -> None:
    assert {CELLS, RECORDS, BLURRED} < set(KINDS)
    for kind in KINDS:
        assert isinstance(kind, ReleaseKind)
        assert kind_named(kind.name) is kind
    for what in ("name", "release_class", "loader"):
        assert len({getattr(kind, what) for kind in KINDS}) == len(KINDS)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="sheets"):
        kind_named("sheets")
    bare = Release(method="x", parameters={}, plan=made().plan, schema=PATIENTS)
    with pytest.raises(TypeError, match="Release"):
        kind_of(bare)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_folder_is_read_back_verified_and_described(kind: ReleaseKind[Any], folders: dict[str, Path]) -> None:
    folder = folders[kind.name]
    loaded, manifest = load_release(folder), read_manifest(folder)
    assert manifest["kind"] == kind.name
    assert kind_of(loaded) is kind
    assert all(kind.verify(folder, manifest, loaded))
    assert list(kind.faults(loaded)) == []
    assert all(number > 0 for number in kind.size(loaded).values())
    for number in kind.size(loaded).values():
        assert f"{number:,}" in loaded.size_text
    assert kind.recommended_file(loaded, manifest["files"]) in manifest["files"]


def test_cells_and_records_come_back_as_they_were(folders: dict[str, Path]) -> None:
    cells, drawn = load_release(folders["cells"]), load_release(folders["records"])
    assert np.array_equal(cells.cells.measured, made().measured)
    assert np.array_equal(cells.cells.count, made().count)
    columns = drawn.rows_of("table")
    assert columns is not None
    for name, column in records().columns.items():
        assert np.array_equal(columns[name], column, equal_nan=column.dtype.kind == "f")
    assert kind_of(drawn).table(drawn, "table", counts=False).num_rows == 3


def test_a_record_outside_the_schema_is_found() -> None:
    broken = {**records().columns, "ward": np.array(["a", "d", "nowhere"], dtype=np.object_)}
    release = replace(records(), columns=broken)
    with pytest.raises(CheckError, match="'ward'"):
        list(RECORDS.verify(Path(), {"records": 3}, release))
    with pytest.raises(CheckError, match="records"):
        list(RECORDS.verify(Path(), {"records": 4}, records()))


def test_counts_that_do_not_follow_from_the_measured_ones_are_found() -> None:
    release = replace(made(), count=made().count + 1)
    assert any("counts.csv" in fault for fault in CELLS.faults(release))
    with pytest.raises(CheckError, match=r"counts\.csv"):
        list(CELLS.verify(Path(), {}, release))


@pytest.mark.parametrize("kind", [RECORDS, BLURRED], ids=lambda kind: kind.name)
def test_only_cells_have_counts(kind: ReleaseKind[Any], folders: dict[str, Path]) -> None:
    release = load_release(folders[kind.name])
    with pytest.raises(InputError, match="no such table"):
        kind.table(release, "table", counts=True)
