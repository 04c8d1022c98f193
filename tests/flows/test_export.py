"""`export` reads a published folder, writes one new file, and changes nothing else."""

import sys
from pathlib import Path

import pyarrow.parquet as pq
import pyreadstat
import pytest
from command_line import scumble as command
from exported_folders import write_folder

import scumble
from scumble.cli.export import TABLES
from scumble.errors import InputError
from scumble.flows.export import Exported


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder("cells", tmp_path_factory.mktemp("cells"))


def test_an_export_is_read_by_other_programs_and_leaves_the_folder_alone(folder: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    made = scumble.export(folder, tmp_path / "fine.parquet", bounds=True)
    assert isinstance(made, Exported)
    assert (made.table, made.format, made.renamed) == ("fine.csv", "parquet", {})
    read = pq.read_table(made.path)
    assert read.column_names == list(made.columns)
    assert read.schema.metadata[b"scumble.guarantee"] == scumble.load_release(folder).plan.guarantee.sentence.encode()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["fine.parquet"]
    scumble.verify(folder)


def test_counts_can_be_summed_in_stata(folder: Path, tmp_path: Path) -> None:
    made = scumble.export(folder, tmp_path / "counts.dta", table="counts", bounds=True)
    assert made.renamed["weight (kg)"] == "weight__kg_"
    rows, _ = pyreadstat.read_dta(str(made.path), output_format="dict")
    cells = scumble.load_cells(folder)
    assert sum(rows["measured"]) == pytest.approx(cells.counted_records[0])
    assert rows["count"] == cells.count.ravel().tolist()


def test_the_command_prints_what_was_renamed(folder: Path, tmp_path: Path) -> None:
    ended = command("export", folder, "--out", tmp_path / "fine.sav")
    assert (ended.code, ended.err) == (0, "")
    assert "weight (kg) is named weight__kg_ there." in ended.out
    found = command("export", folder, "--format", "csv", "--table", "table", "--out", tmp_path / "t.csv", "--json").json
    assert (found["table"], found["format"], found["renamed"]) == ("table.csv", "csv", {})
    assert (tmp_path / "t.csv").read_bytes() == (folder / "table.csv").read_bytes()


def test_the_shell_completes_every_table_that_some_release_has(folder: Path) -> None:
    assert {path.stem for path in folder.glob("*.csv")} - {"values"} <= set(TABLES)


def test_nothing_is_overwritten_and_no_release_folder_is_changed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        scumble.export(folder, tmp_path / "there.csv")
    assert (tmp_path / "there.csv").read_text() == "mine"
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="exists already"):
        scumble.export(folder, tmp_path / "link.csv")
    for inside in (folder / "new.csv", folder / "below" / "new.csv"):
        with pytest.raises(InputError, match="lies in the release folder"):
            scumble.export(folder, inside)
    (tmp_path / "door").symlink_to(folder)
    with pytest.raises(InputError, match="lies in the release folder"):
        scumble.export(folder, tmp_path / "door" / "new.csv")


def test_a_place_that_cannot_be_written_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(scumble.ScumbleError, match="Cannot write"):
        scumble.export(folder, tmp_path / "absent" / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_said_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    ended = command("export", tmp_path / "absent", "--out", tmp_path / "t.dta")
    assert ended.code == 2
    assert "pip install 'scumble[statistics]'" in ended.error
