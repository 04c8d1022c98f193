"""The release folder: read back exactly, verified without private data, and every change is detected."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cuts, labels, schemas

from scumble.errors import CheckError, InputError
from scumble.files import counts_file, csv_tables
from scumble.files.release_folder import file_hash, manifest_hash, manifest_text, read_release, write_release
from scumble.files.schema_file import parse_schema
from scumble.files.verify import verify_folder
from scumble.model.cut import Cut
from scumble.model.guarantee import PureDP
from scumble.model.plan import Plan, Spend
from scumble.model.release import CellRelease
from scumble.model.rounding import Rounding
from scumble.model.schema import Schema

RECEIPT = {"entry": "ab" * 32, "charged": "1", "unit": "add-remove"}


def plan_of(schema: Schema, cells: int, *, epsilon: Fraction = Fraction(1, 3)) -> Plan:
    spends = (
        Spend(label="choose", epsilon=epsilon / 7, times=4, purpose="what to split"),
        Spend(label="count", epsilon=epsilon, shared=True),
    )
    total = sum((spend.total(schema.unit) for spend in spends), Fraction(0))
    return Plan(
        guarantee=PureDP(epsilon=total, unit=schema.unit), spends=spends, cells_at_most=cells, notes=("a note",)
    )


@st.composite
def releases(draw: st.DrawFn) -> CellRelease:
    """Small releases of cells, whatever their schema."""
    published = draw(cuts(draw(schemas()), most_steps=3)).published_schema()
    shape = Cut.leaves(published).cells, len(published.classes)
    resolution = draw(st.sampled_from([1, 1023, 1024]))
    seed = draw(st.integers(0, 2**32))
    measured = np.random.default_rng(seed).integers(-5 * resolution, 9 * resolution, shape)
    rounding = draw(st.sampled_from(Rounding))
    return CellRelease(
        method="made up",
        parameters={"rounds": 3, "epsilon": "1/3", "name": draw(labels()), "none": None},
        plan=plan_of(published, shape[0] + draw(st.integers(0, 5))),
        schema=published,
        measured=measured,
        resolution=resolution,
        variance=draw(st.floats(0, 1e12)),
        rounding=rounding,
        count=rounding.apply(measured, resolution),
        story=tuple(draw(st.lists(labels(), max_size=2))),
    )


def same(one: CellRelease, other: CellRelease) -> bool:
    """Equal in all parts, arrays by their values."""
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("count", "measured"))
    nothing = np.zeros(0, dtype=np.int64)
    return arrays and replace(one, count=nothing, measured=nothing) == replace(other, count=nothing, measured=nothing)


def rows_of(path: Path) -> list[dict[str, str]]:
    """A table as Python's own csv module reads it."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


@given(release=releases(), table=st.booleans())
@settings(max_examples=40)
def test_a_release_comes_back_from_its_folder_and_verifies(scratch: Path, release: CellRelease, table: bool) -> None:
    folder = scratch / "random"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    digest = write_release(release, folder, RECEIPT, table=table).sha256
    assert digest == file_hash(folder / "release.json")
    again = read_release(folder)
    assert isinstance(again, CellRelease)
    assert same(again, release)
    assert len(verify_folder(folder)) >= 5
    assert (folder / "table.csv").exists() == table

    names = [attribute.name for attribute in release.schema.predictors]
    values = [attribute.domain.labels for attribute in release.schema.predictors]
    if release.schema.target is not None:
        names.append(release.schema.target)
        values.append(release.schema.classes)
    entries = list(product(*values))
    counts = rows_of(folder / "counts.csv")
    assert [tuple(row[name] for name in names) for row in counts] == entries
    assert [int(row["count"]) for row in counts] == release.count.ravel().tolist()
    assert [float(row["measured"]) for row in counts] == (release.measured.ravel() / release.resolution).tolist()
    assert {float(row["variance"]) for row in counts} == {release.variance}
    if table:
        found = Counter(tuple(row[name] for name in names) for row in rows_of(folder / "table.csv"))
        assert found == +Counter(dict(zip(entries, release.count.ravel().tolist(), strict=True)))


PATIENTS = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 90, step: 30}, missing: "?"}
  ward: {taxonomy: {Any: {North: {a: , b: }, South: }}, missing: "?"}
  ill: {classes: ["no", "yes"]}
"""
)


def made(resolution: int = 1024, rounding: Rounding = Rounding.PROJECT, rows: int = 40) -> CellRelease:
    """A release of 16 cells by two classes, the same every time."""
    published = Cut.leaves(PATIENTS).published_schema()
    entries = np.arange(Cut.leaves(published).cells * 2, dtype=np.int64)
    measured = (entries * 37 % rows * resolution + entries * 11 % resolution - 3 * resolution).reshape(-1, 2)
    return CellRelease(
        method="made up",
        parameters={"rounds": 3},
        plan=plan_of(published, len(measured)),
        schema=published,
        measured=measured,
        resolution=resolution,
        variance=2.5,
        rounding=rounding,
        count=rounding.apply(measured, resolution),
        story=("once upon a time",),
    )


@pytest.fixture(scope="module")
def original(scratch: Path) -> Path:
    folder = scratch / "original"
    folder.mkdir()
    write_release(made(), folder, RECEIPT, table=True)
    assert len(verify_folder(folder)) >= 6
    return folder


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "copy"))


def found_out(folder: Path) -> str:
    with pytest.raises(CheckError) as caught:
        verify_folder(folder)
    assert caught.value.exit_code == 4
    return str(caught.value)


def resealed(folder: Path, change: Callable[[dict[str, Any]], None] = lambda manifest: None) -> None:
    """As a forger would: change release.json, then recompute the hashes."""
    manifest = json.loads((folder / "release.json").read_bytes())
    manifest["files"] = {path.name: file_hash(path) for path in folder.iterdir() if path.name != "release.json"}
    manifest["sizes"] = {name: (folder / name).stat().st_size for name in manifest["files"]}
    change(manifest)
    if "seal" in manifest:
        manifest["seal"] = manifest_hash(manifest)
    (folder / "release.json").write_bytes(manifest_text(manifest).encode("utf-8"))


def test_resealing_without_a_change_is_no_tampering(copy: Path) -> None:
    resealed(copy)
    assert verify_folder(copy)


FILES = ("counts.csv", "table.csv", "schema.yaml", "README.md", "report.html", "release.json", "croissant.json")
FILES += ("datapackage.json", "values.csv", "read.R", "deployment.yaml")


def test_these_are_all_files(original: Path) -> None:
    assert {path.name for path in original.iterdir()} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_one_changed_byte_is_found(copy: Path, name: str) -> None:
    raw = (copy / name).read_bytes()
    step = max(1, len(raw) // (60 if name == "release.json" else 8))
    for place in sorted({0, 1, len(raw) - 1, *range(0, len(raw), step)}):
        for changed in (raw[place] ^ 1, raw[place] ^ 0x80):
            (copy / name).write_bytes(raw[:place] + bytes([changed]) + raw[place + 1 :])
            found_out(copy)
    for shorter in (raw[:-1], raw[1:], b""):
        (copy / name).write_bytes(shorter)
        found_out(copy)
    (copy / name).write_bytes(raw + b"\n")
    found_out(copy)


@pytest.mark.parametrize("name", FILES)
def test_a_removed_file_is_found(copy: Path, name: str) -> None:
    (copy / name).unlink()
    if name == "release.json":
        with pytest.raises(InputError, match="has no release"):
            verify_folder(copy)
    else:
        assert name in found_out(copy)


def test_an_added_file_is_found(copy: Path) -> None:
    (copy / "fine.csv").write_text("more\n", encoding="utf-8")
    assert "fine.csv" in found_out(copy)
    (copy / "fine.csv").unlink()
    (copy / "folder").mkdir()
    assert "folder" in found_out(copy)


def edit(path: Path, change: Callable[[list[dict[str, str]]], object]) -> None:
    rows = rows_of(path)
    names = list(rows[0])
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


FORGED_COUNTS: dict[str, Callable[[list[dict[str, str]]], object]] = {
    "one more": lambda rows: rows[3].update(count=str(int(rows[3]["count"]) + 1)),
    "one from here to there": lambda rows: (
        rows[2].update(count=str(int(rows[2]["count"]) - 1)),
        rows[4].update(count=str(int(rows[4]["count"]) + 1)),
    ),
    "no count": lambda rows: rows[3].update(count=""),
    "negative": lambda rows: rows[0].update(count="-1"),
    "no number": lambda rows: rows[0].update(count="many"),
    "measured by one": lambda rows: rows[3].update(measured=str(float(rows[3]["measured"]) + 1)),
    "measured by less than a unit": lambda rows: rows[3].update(measured=str(float(rows[3]["measured"]) + 1e-5)),
    "measured by a lot": lambda rows: rows[3].update(measured="1e300"),
    "measured not": lambda rows: rows[3].update(measured="nan"),
    "measured without end": lambda rows: rows[3].update(measured="inf"),
    "no measured": lambda rows: rows[3].update(measured=""),
    "variance": lambda rows: rows[3].update(variance="2.4"),
    "no variance": lambda rows: rows[3].update(variance=""),
    "another value": lambda rows: rows[3].update(ward="a"),
    "another class": lambda rows: rows[3].update(ill="no"),
    "rows in another order": lambda rows: rows.reverse(),
    "two rows exchanged": lambda rows: rows.insert(0, rows.pop(1)),
    "a row less": lambda rows: rows.pop(),
    "a row more": lambda rows: rows.append(rows[-1]),
}


@pytest.mark.parametrize("case", FORGED_COUNTS)
def test_forged_counts_are_found(copy: Path, case: str) -> None:
    edit(copy / "counts.csv", FORGED_COUNTS[case])
    resealed(copy)
    found_out(copy)


FORGED_TABLES: dict[str, Callable[[list[dict[str, str]]], object]] = {
    "a row less": lambda rows: rows.pop(),
    "a row more": lambda rows: rows.append(rows[0]),
    "a row moved to another cell": lambda rows: rows[0].update(ill={"no": "yes", "yes": "no"}[rows[0]["ill"]]),
    "a value that the schema does not have": lambda rows: rows[0].update(ward="Moon"),
    "an empty value": lambda rows: rows[0].update(ward=""),
    "no rows": lambda rows: rows.clear(),
}


@pytest.mark.parametrize("case", FORGED_TABLES)
def test_forged_tables_are_found(copy: Path, case: str) -> None:
    edit(copy / "table.csv", FORGED_TABLES[case])
    resealed(copy)
    found_out(copy)


def test_rows_in_another_order_are_the_same_table(copy: Path) -> None:
    edit(copy / "table.csv", lambda rows: rows.reverse())
    resealed(copy)
    assert verify_folder(copy)


def test_a_column_more_or_less_in_the_table_is_found(copy: Path) -> None:
    text = (copy / "table.csv").read_text(encoding="utf-8")
    lines = text.splitlines()
    (copy / "table.csv").write_text("".join(f"{line},x\n" for line in lines), encoding="utf-8")
    resealed(copy)
    assert "columns" in found_out(copy)
    (copy / "table.csv").write_text("".join(f"{line.rpartition(',')[0]}\n" for line in lines), encoding="utf-8")
    resealed(copy)
    found_out(copy)


def set_spend(place: int, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["spends"][place].update(fields)


def set_guarantee(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["guarantee"].update(fields)


FORGED_MANIFESTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "a smaller spend": set_spend(0, epsilon="1/1000"),
    "a larger spend": set_spend(1, epsilon="0.4"),
    "a spend of nothing": set_spend(0, epsilon="0"),
    "a negative spend": set_spend(0, epsilon="-1"),
    "a spend that is not a number": set_spend(0, epsilon="much"),
    "a spend divided by zero": set_spend(0, epsilon="1/0"),
    "a spend fewer times": set_spend(0, times=3),
    "a spend for every cell": set_spend(1, times=2),
    "a spend with an unknown field": set_spend(0, refund="1"),
    "a spend left out": lambda manifest: manifest["spends"].pop(),
    "no spends": lambda manifest: manifest["spends"].clear(),
    "the same spend twice": lambda manifest: manifest["spends"].append(manifest["spends"][0]),
    "a smaller epsilon": set_guarantee(epsilon="0.1"),
    "another sentence": set_guarantee(sentence="Perfectly private."),
    "another unit": lambda manifest: manifest.update(
        unit="replace",
        guarantee={
            **manifest["guarantee"],
            "unit": "replace",
            "sentence": manifest["guarantee"]["sentence"].replace(
                "one record is added or removed", "one record is changed, the number of records being public"
            ),
        },
        spends=[{**spend, "shared": False} for spend in manifest["spends"]],
    ),
    "another kind of guarantee": set_guarantee(kind="KAnonymity", k=5),
    "an unknown guarantee": set_guarantee(kind="PerfectSecrecy"),
    "fewer cells": lambda manifest: manifest.update(cells=15),
    "fewer cells planned": lambda manifest: manifest.update(cells_at_most=15),
    "another resolution": lambda manifest: manifest.update(resolution=512),
    "a resolution of zero": lambda manifest: manifest.update(resolution=0),
    "another rounding": lambda manifest: manifest.update(rounding="nearest"),
    "an unknown rounding": lambda manifest: manifest.update(rounding="up"),
    "another variance": lambda manifest: manifest.update(variance=2.0),
    "other classes": lambda manifest: manifest.update(classes=["yes", "no"]),
    "a table that is not there": lambda manifest: manifest.update(recommended="fine.csv"),
    "another format": lambda manifest: manifest.update(scumble="release/2"),
    "a file outside the folder": lambda manifest: manifest["files"].update({"../x": "0"}),
}


@pytest.mark.parametrize("case", FORGED_MANIFESTS)
def test_forged_manifests_are_found(copy: Path, case: str) -> None:
    resealed(copy, FORGED_MANIFESTS[case])
    found_out(copy)


def test_a_manifest_with_missing_entries_or_wrong_types_raises_only_check_errors(copy: Path) -> None:
    """The manifest is sealed again, so that it is read: whatever it contains, only `CheckError` is raised."""
    whole = json.loads((copy / "release.json").read_bytes())
    text = {"method", "parameters", "notes", "story", "receipt", "kind", "guarantee", "pages"}
    for name in whole:
        resealed(copy, lambda manifest, name=name: manifest.pop(name))  # type: ignore[misc]
        if name not in ("receipt", "pages", "sizes"):  # folders of earlier versions have neither pages nor sizes
            found_out(copy)
        for value in (None, "x", -1, 1.5, [], {}, [1], {"a": 1}, True):
            (copy / "release.json").write_bytes(manifest_text(whole).encode("utf-8"))
            resealed(copy, lambda manifest, name=name, value=value: manifest.update({name: value}))  # type: ignore[misc]
            try:
                verify_folder(copy)
            except CheckError:
                continue
            assert name in text or value == whole[name] or name == "seal", (name, value)
        (copy / "release.json").write_bytes(manifest_text(whole).encode("utf-8"))


def test_another_domain_in_the_published_schema_is_found(copy: Path) -> None:
    schema = (copy / "schema.yaml").read_text(encoding="utf-8")
    for old, new in (("South", "East"), ("unit: add-remove", "unit: replace\nrows: 5"), ("30", "31"), ("yes", "maybe")):
        assert old in schema
        (copy / "schema.yaml").write_text(schema.replace(old, new), encoding="utf-8")
        resealed(copy)
        found_out(copy)
    for broken in ("", "a: [", "scumble: schema/1\nattributes: {}\n"):
        (copy / "schema.yaml").write_text(broken, encoding="utf-8")
        resealed(copy)
        found_out(copy)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b"null", b'{"scumble": "release/1"}'])
def test_what_is_no_manifest(copy: Path, content: bytes) -> None:
    (copy / "release.json").write_bytes(content)
    found_out(copy)
    with pytest.raises(InputError):
        read_release(copy)


def test_what_is_no_release_folder(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        for read in (verify_folder, read_release):
            with pytest.raises(InputError, match="has no release"):
                read(folder)


@pytest.mark.parametrize("resolution", [1, 1024])
@pytest.mark.parametrize("rounding", Rounding)
def test_tables_are_streamed_in_pieces_that_do_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resolution: int, rounding: Rounding
) -> None:
    release = made(resolution, rounding)
    rows = int(release.count.sum())
    progress: list[tuple[int, int | None]] = []

    def written(name: str) -> Iterator[bytes]:
        folder = tmp_path / name
        folder.mkdir()
        write_release(release, folder, RECEIPT, table=True, progress=lambda done, total: progress.append((done, total)))
        verify_folder(folder)
        return ((folder / table).read_bytes() for table in ("counts.csv", "table.csv"))

    whole = list(written("whole"))
    assert progress == [(rows, rows)]
    progress.clear()
    for module in (counts_file, csv_tables):
        monkeypatch.setattr(module, "CHUNK", 7)
    assert list(written("pieces")) == whole
    assert progress == [(min(done, rows), rows) for done in range(7, rows + 7, 7)]


def test_a_table_without_rows(tmp_path: Path) -> None:
    release = made(rows=1)
    empty = np.minimum(release.measured, 0)
    release = replace(release, measured=empty, count=release.rounding.apply(empty, release.resolution))
    write_release(release, tmp_path, RECEIPT, table=True)
    assert rows_of(tmp_path / "table.csv") == []
    assert (tmp_path / "table.csv").read_text(encoding="utf-8").replace('"', "").strip() == "age,ward,ill"
    assert any("the 0 rows" in check for check in verify_folder(tmp_path))


def test_nothing_of_the_owner_is_in_the_folder(original: Path) -> None:
    """No path, time or number of rows is stored: the same release always gives the same bytes."""
    again = original.parent / "elsewhere"
    again.mkdir()
    write_release(made(), again, RECEIPT, table=True)
    for name in FILES:
        assert (again / name).read_bytes() == (original / name).read_bytes(), name
        assert str(original.parent).encode() not in (again / name).read_bytes()
