"""Reading releases: each kind by its function, any kind by `load_release`."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from scumble.demo.patients import patients, patients_schema
from scumble.errors import InputError
from scumble.files.kinds import KINDS, kind_named, kind_of
from scumble.files.release_folder import write_release
from scumble.files.verify import verify_folder
from scumble.flows.load import (
    load_blurred,
    load_cells,
    load_classifier,
    load_generalized,
    load_records,
    load_release,
)
from scumble.flows.perturb import perturb
from scumble.flows.release import release
from scumble.model.grid import Grid
from scumble.model.release import (
    BlurredRelease,
    CellRelease,
    ClassifierRelease,
    GeneralizedRelease,
    RecordRelease,
    Release,
)
from scumble.model.schema import Attribute, Outside, Schema

SCHEMA = patients_schema()
LOADERS: dict[str, Callable[[Path], Release]] = {
    "cells": load_cells,
    "records": load_records,
    "generalized": load_generalized,
    "blurred": load_blurred,
    "classifier": load_classifier,
}
CLASSES = {
    "cells": CellRelease,
    "records": RecordRelease,
    "generalized": GeneralizedRelease,
    "blurred": BlurredRelease,
    "classifier": ClassifierRelease,
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each kind."""
    made = tmp_path_factory.mktemp("kinds")
    rows = patients(300, 1)
    release(rows, schema=SCHEMA, out=made / "cells", ledger=made / "1.db", epsilon="1", rounds=1)
    release(rows, schema=SCHEMA, out=made / "records", ledger=made / "2.db", epsilon="1", method="histograms")
    perturb(rows, schema=SCHEMA, out=made / "blurred", epsilon="3")
    release(
        rows,
        schema=SCHEMA,
        out=made / "generalized",
        ledger=made / "3.db",
        method="mondrian",
        k=5,
        accept=["k-anonymity"],
    )
    release(rows, schema=SCHEMA, out=made / "classifier", ledger=made / "4.db", epsilon="1", method="diffp-c45")
    return {name: made / name for name in LOADERS}


def test_every_kind_has_a_loader() -> None:
    assert {kind.name: (kind.release_class, kind.loader) for kind in KINDS} == {
        name: (CLASSES[name], f"load_{name}") for name in LOADERS
    }


@pytest.mark.parametrize("name", LOADERS)
def test_a_folder_loads_as_its_own_kind_and_as_no_other(folders: dict[str, Path], name: str) -> None:
    folder = folders[name]
    loaded = LOADERS[name](folder)
    assert type(loaded) is type(load_release(folder)) is CLASSES[name]
    assert kind_of(loaded) is kind_named(name)
    for other in set(LOADERS) - {name}:
        with pytest.raises(InputError, match=f"kind '{name}', not '{other}'. Read it with `load_{name}`"):
            LOADERS[other](folder)


def test_every_release_has_the_property_cells(folders: dict[str, Path]) -> None:
    cells = load_release(folders["cells"])
    assert cells.cells is cells and cells.rows_of("table") is None
    records = load_records(folders["records"])
    assert records.rows_of("table") is records.columns
    for name in ("records", "blurred"):
        with pytest.raises(InputError, match="has no cells"):
            _ = load_release(folders[name]).cells
    with pytest.raises(InputError, match=r"no other\.csv. Available: table"):
        records.table_named("other")


def test_missing_and_negative_numbers_are_published_and_verified(folders: dict[str, Path], tmp_path: Path) -> None:
    """The mean of a column leaves missing numbers out."""
    records = load_records(folders["records"])
    domain = Grid.regular(low=Decimal(-10), high=Decimal(10), step=Decimal(1), missing="?")
    schema = Schema(
        attributes=(Attribute(name="balance", domain=domain, outside=Outside.CLAMP, missing="?"),),
        unit=records.schema.unit,
    )
    columns = {"balance": np.array([-4.0, np.nan, -2.0])}
    write_release(replace(records, schema=schema, columns=columns, documents={}), tmp_path, {})
    assert "\N{MINUS SIGN}3.00</td>" in (tmp_path / "report.html").read_text("utf-8")
    assert "3 records, all within schema.yaml" in verify_folder(tmp_path)[-1]
    again = load_records(tmp_path)
    assert np.array_equal(again.columns["balance"], columns["balance"], equal_nan=True)
