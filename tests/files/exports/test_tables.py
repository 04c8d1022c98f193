"""The blocks that exports write: the rows of the folder's own CSV files, and the ends of intervals as numbers."""

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from exported_folders import KINDS, write_folder

from scumble.errors import InputError
from scumble.files.exports.tables import ExportTable, export_table, plain_text
from scumble.files.release_folder import read_manifest, read_release

TABLES = {"cells": ("fine", "table", "counts"), "records": ("table",), "generalized": ("table", "groups")}
TABLES |= {"blurred": ("table",)}
EVERY = [(kind, name) for kind, names in TABLES.items() for name in names]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: write_folder(kind, tmp_path_factory.mktemp(kind)) for kind in KINDS}


def table_of(folder: Path, name: str | None = None, *, bounds: bool = False) -> ExportTable:
    manifest = read_manifest(folder)
    return export_table(
        read_release(folder),
        folder,
        files=set(manifest["files"]),
        recommended=manifest["recommended"],
        wanted=name,
        bounds=bounds,
    )


def lines(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def same(value: object, text: str) -> bool:
    """Whether a value is what the CSV file says. A number is compared as a number; null is an empty field or a mark."""
    if value is None:
        return text in ("", "?")
    return value == text if isinstance(value, str) else float(text) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_an_export_has_the_rows_of_the_csv_file(folders: dict[str, Path], kind: str, name: str) -> None:
    table = table_of(folders[kind], name)
    rows = plain_text(pa.concat_tables(table.blocks))
    wanted = lines(folders[kind], name)
    assert rows.column_names == list(table.meanings) == list(wanted[0])
    assert rows.num_rows == len(wanted) > 0
    for column in rows.column_names:
        assert all(map(same, rows[column].to_pylist(), [line[column] for line in wanted])), column


@pytest.mark.parametrize(("kind", "name"), [each for each in EVERY if each[0] != "records"])
def test_ends_of_intervals_are_those_that_the_labels_say(folders: dict[str, Path], kind: str, name: str) -> None:
    rows = plain_text(pa.concat_tables(table_of(folders[kind], name, bounds=True).blocks))
    for attribute in ("age", "weight (kg)", "stay"):
        labels = rows[attribute].to_pylist()
        lows, highs = (rows[f"{attribute}_{end}"].to_pylist() for end in ("low", "high"))
        for label, low, high in zip(labels, lows, highs, strict=True):
            if label in (None, "?"):
                assert low is None and high is None
            elif isinstance(label, str):
                ends = label.removesuffix("|?").strip("[)").split(",")
                assert (low, high) == (float(ends[0]), float(ends[1]))
            else:
                assert low == label and high > low  # a number is the start of its cell
    assert pa.types.is_int64(rows.schema.field("age_low").type)


def test_numbers_of_fine_rows_have_the_cells_of_the_fine_schema(folders: dict[str, Path]) -> None:
    rows = pa.concat_tables(table_of(folders["cells"], "fine", bounds=True).blocks)
    assert set(zip(rows["age"].to_pylist(), rows["age_high"].to_pylist(), strict=True)) <= {
        (low, low + 5) for low in range(0, 100, 5)
    }
    assert pa.types.is_float64(rows.schema.field("weight (kg)_high").type)
    known = {None: (None, None), 0.0: (0, 2.5), 2.5: (2.5, 40), 40.0: (40, 70.5), 70.5: (70.5, 200)}
    for value, low, high in zip(*(rows[f"weight (kg){end}"].to_pylist() for end in ("", "_low", "_high")), strict=True):
        assert (low, high) == known[value]


def test_the_default_is_the_recommended_table(folders: dict[str, Path]) -> None:
    assert [table_of(folders[kind]).name for kind in TABLES] == ["fine", "table", "table", "table"]


def test_numbers_of_records_are_not_intervals(folders: dict[str, Path]) -> None:
    table = table_of(folders["records"], bounds=True)
    assert [name for name in table.meanings if name.endswith(("_low", "_high"))] == ["stay_low", "stay_high"]


def test_a_table_that_is_not_there_is_refused_with_those_that_are(folders: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=r"no groups\.csv\. Available: counts, fine, table"):
        table_of(folders["cells"], "groups")
    with pytest.raises(InputError, match="one classifier"):
        table_of(folders["classifier"])
    with pytest.raises(InputError, match="one classifier"):
        table_of(folders["classifier"], "table")
