"""Fine rows: stored exactly, checked by `verify` and the laws, and used for training.

Most folders here are as earlier versions wrote them, with rows in the proportions of counts.csv.
"""

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fine_releases import (
    PATIENTS,
    fine_release,
    learned,
    made,
    raw_rows,
    same_columns,
    with_target,
    written,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cuts, schemas

import scumble
from scumble.comparison.trials import CodedTable, trial
from scumble.engines.coding import code_blocks
from scumble.errors import CheckError, InputError
from scumble.files.release_folder import file_hash, manifest_hash, manifest_text, read_manifest, read_release
from scumble.files.schema_file import read_schema
from scumble.files.verify import verify_folder
from scumble.flows.evaluate import evaluate, training_sample
from scumble.model.fine_rows import ROWS_FROM_TABLES, refines, rows_by_cell, strays
from scumble.model.grid import Grid
from scumble.model.release import CellRelease, FineRows
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import NOWHERE, codes_within
from scumble.sources import open_source


@st.composite
def releases(draw: st.DrawFn) -> CellRelease:
    cut = draw(cuts(draw(schemas().filter(with_target)), most_steps=3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    measured = generator.integers(-4, 7, (cut.cells, len(cut.schema.classes)))
    return fine_release(cut, measured, seed=draw(st.integers(0, 2**32)), tables=list(cut.nodes))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fine")


@given(release=releases())
@settings(max_examples=40)
def test_fine_rows_come_back_from_their_folder_and_verify(scratch: Path, release: CellRelease) -> None:
    folder = written(release, scratch / "random")
    again = read_release(folder)
    assert isinstance(again, CellRelease) and again.fine is not None and release.fine is not None
    assert again.fine.schema == release.fine.schema == read_schema(folder / "fine.schema.yaml")
    assert same_columns(again.fine, release.fine)
    assert again.documents == release.documents
    assert read_manifest(folder)["recommended"] == "fine.csv"
    assert list(again.tables) == ["fine", "table"] and again.recommended == "fine"
    passed = verify_folder(folder)
    rows = (
        f"fine.csv has {4 * int(release.count.sum()):,} rows within fine.schema.yaml, in the proportions of counts.csv"
    )
    assert rows in passed
    assert "detail.json fits the published schema" in passed


def test_without_rows_counts_and_documents_stay(scratch: Path) -> None:
    folder = written(made(), scratch / "counts", table=False)
    present = {path.name for path in folder.iterdir()}
    assert {"counts.csv", "detail.json", "fine.schema.yaml"} <= present
    assert not {"table.csv", "fine.csv"} & present
    again = read_release(folder)
    assert isinstance(again, CellRelease) and again.fine is None and again.documents == made().documents
    assert read_manifest(folder)["recommended"] == "counts.csv"
    assert verify_folder(folder)


@given(release=releases())
@settings(max_examples=40)
def test_cells_of_fine_rows_against_a_readable_twin(release: CellRelease) -> None:
    """A miner who codes the rows of a frame by the published schema finds them in the same cells."""
    fine, published = release.fine, release.schema
    assert fine is not None and strays(fine) == [] and refines(fine.schema, published)
    found = rows_by_cell(fine, published)
    assert found.tolist() == (4 * release.count).sum(axis=1).tolist()
    twin = np.zeros_like(found)
    for row in range(fine.rows):
        cell = 0
        for attribute in published.predictors:
            value, cut = fine.columns[attribute.name][row], attribute.domain
            labels = [
                code
                for code, low_high in enumerate(_boxes(attribute.name, fine.schema, published))
                if _code(fine.schema, attribute.name, value) in range(*low_high)
            ]
            assert len(labels) == 1
            cell = cell * cut.size + labels[0]
        twin[cell] += 1
    assert twin.tolist() == found.tolist()


def _boxes(name: str, fine: Schema, published: Schema) -> list[tuple[int, int]]:
    """The fine codes that each published value covers, by name for trees, by counting edges for grids."""
    domain, finest = published[name].domain, fine[name].domain
    if isinstance(domain, Grid) and isinstance(finest, Grid):
        lower = [finest.edge(place) for place in range(finest.cells + 1)]
        places = [lower.index(domain.edge(place)) for place in range(domain.cells + 1)]
        if domain.missing is not None and domain.joined:
            places[-1] += 1
        boxes = list(pairwise(places))
        return boxes if domain.size == domain.cells else [*boxes, (places[-1], places[-1] + 1)]
    assert isinstance(finest, Tree)
    return [(node.low, node.high) for node in map(finest.node, domain.labels)]


def _code(schema: Schema, name: str, value: Any) -> int:
    domain = schema[name].domain
    if isinstance(domain, Tree):
        return domain.labels.index(value)
    if np.isnan(value):
        return domain.cells
    return next(code for code in range(domain.cells) if float(domain.edge(code + 1)) > value)


def test_values_off_the_domain_have_no_code() -> None:
    age, ward = PATIENTS["age"].domain, PATIENTS["ward"].domain
    assert codes_within(age, np.array([-1.0, 0.0, 89.9, 90.0, np.inf, np.nan])).tolist() == [NOWHERE, 0, 8, -1, -1, 9]
    assert codes_within(PATIENTS["weight"].domain, np.array([np.nan, 30.0])).tolist() == [NOWHERE, 0]
    assert codes_within(ward, np.array(["a", "North", "", None], dtype=object)).tolist() == [0, -1, -1, -1]


@pytest.fixture
def copy(scratch: Path, tmp_path: Path) -> Path:
    if not (scratch / "original").exists():
        written(made(), scratch / "original")
    return Path(shutil.copytree(scratch / "original", tmp_path / "copy"))


def resealed(folder: Path, **changes: Any) -> None:
    """As a forger would: recompute the hashes after a change."""
    manifest = json.loads((folder / "release.json").read_bytes())
    hashes = {path.name: file_hash(path) for path in folder.iterdir() if path.name != "release.json"}
    manifest |= {"files": hashes, "sizes": {name: (folder / name).stat().st_size for name in hashes}, **changes}
    manifest["seal"] = manifest_hash(manifest)
    (folder / "release.json").write_bytes(manifest_text(manifest).encode("utf-8"))


def found_out(folder: Path) -> str:
    with pytest.raises(CheckError) as caught:
        verify_folder(folder)
    return str(caught.value)


Lines = list[dict[str, str]]
FORGED_ROWS: dict[str, Callable[[Lines], object]] = {
    "a row less": lambda rows: rows.pop(),
    "a row more": lambda rows: rows.append(rows[0]),
    "a row moved to another cell": lambda rows: rows[0].update(ward={"a": "c", "b": "c"}[rows[0]["ward"]]),
    "a number moved over the edge of its cell": lambda rows: rows[0].update(age="40"),
    "a number off the grid": lambda rows: rows[0].update(weight="150"),
    "a missing number where none can be": lambda rows: rows[0].update(weight=""),
    "a missing number in a cell without": lambda rows: rows[0].update(age=""),
    "no number": lambda rows: rows[0].update(weight="heavy"),
    "an endless number": lambda rows: rows[0].update(age="inf"),
    "a generalized value": lambda rows: rows[0].update(ward="North"),
    "a value that nobody knows": lambda rows: rows[0].update(ward="Moon"),
    "an unknown class": lambda rows: rows[0].update(ill="maybe"),
    "no rows": lambda rows: rows.clear(),
}


def rewrite(path: Path, change: Callable[[Lines], object]) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(rows[0])
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("case", FORGED_ROWS)
def test_forged_fine_rows_are_found(copy: Path, case: str) -> None:
    rewrite(copy / "fine.csv", FORGED_ROWS[case])
    assert "fine.csv" in found_out(copy), "its hash"
    resealed(copy)
    assert "fine.csv" in found_out(copy)


@pytest.mark.parametrize(
    "change",
    [lambda rows: rows.reverse(), lambda rows: rows[0].update(ill="yes"), lambda rows: rows[0].update(ward="b")],
    ids=["another order", "another class", "another place in the same cell"],
)
def test_what_leaves_every_cell_as_full_is_within_the_law(copy: Path, change: Callable[[Lines], object]) -> None:
    rewrite(copy / "fine.csv", change)
    resealed(copy)
    assert verify_folder(copy)


IN_ANOTHER_CELL = {
    "a row less",
    "a row more",
    "a row moved to another cell",
    "a number moved over the edge of its cell",
    "a missing number in a cell without",
    "no rows",
}


@pytest.mark.parametrize("case", FORGED_ROWS)
def test_rows_that_follow_the_class_tables_need_only_lie_in_their_schema(copy: Path, case: str) -> None:
    document = json.loads((copy / "detail.json").read_bytes()) | {"rows": ROWS_FROM_TABLES}
    (copy / "detail.json").write_text(json.dumps(document), encoding="utf-8")
    resealed(copy)
    assert not any("proportions" in sentence for sentence in verify_folder(copy))
    rewrite(copy / "fine.csv", FORGED_ROWS[case])
    assert "fine.csv" in found_out(copy), "its hash"
    resealed(copy)
    if case in IN_ANOTHER_CELL:
        assert any("fine.csv has" in sentence for sentence in verify_folder(copy))
    else:
        assert "fine.csv" in found_out(copy)


@pytest.mark.parametrize(
    ("old", "new"), [("low: 30", "low: 20"), ("step: 10", "step: 5"), ("a:", "e:"), ("no", "No"), ("age:", "years:")]
)
def test_a_fine_schema_that_does_not_refine_the_published_one_is_found(copy: Path, old: str, new: str) -> None:
    path = copy / "fine.schema.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    resealed(copy)
    if new == "step: 5":
        assert verify_folder(copy), "a finer grid holds the same rows"
    else:
        found_out(copy)


@pytest.mark.parametrize("content", ["", "[]", "{", "null", '"x"', '{"a": NaN}', '{"a": Infinity}'])
def test_a_document_that_is_no_json_object_is_found(copy: Path, content: str) -> None:
    (copy / "detail.json").write_text(content, encoding="utf-8")
    resealed(copy)
    found_out(copy)


def test_what_is_there_is_what_release_json_says(copy: Path) -> None:
    resealed(copy, documents=[])
    found_out(copy)
    resealed(copy, documents=["detail", "more"])
    found_out(copy)
    for other in ("table.csv", "counts.csv", "schema.yaml"):
        resealed(copy, documents=["detail"], recommended=other)
        assert "recommends" in found_out(copy)
    (copy / "fine.schema.yaml").unlink()
    resealed(copy, recommended="fine.csv")
    found_out(copy)


def test_a_miner_trains_on_the_recommended_table_by_default(scratch: Path) -> None:
    folder, test = written(learned(), scratch / "learned"), raw_rows(1)
    recommended = evaluate(folder, test=test, train=raw_rows(2))
    assert recommended["table"] == "fine"
    assert recommended["tree"]["accuracy"] > 0.99 and recommended["raw"]["tree"]["accuracy"] > 0.99
    assert evaluate(folder, test=test, table="fine")["tree"] == recommended["tree"]
    coarse = evaluate(folder, test=test, table="table")
    assert coarse["table"] == "table" and coarse["tree"]["accuracy"] < 0.7
    bare = written(learned(), scratch / "bare", table=False)
    assert evaluate(bare, test=test)["tree"] == coarse["tree"]
    for name in ("fine", "counts", ""):
        with pytest.raises(InputError, match=r"has no .*csv"):
            evaluate(bare, test=test, table=name)


@given(release=releases())
@settings(max_examples=30)
def test_a_sample_of_fine_rows_has_their_codes(release: CellRelease) -> None:
    """A miner who reads the table gets the values that the method drew."""
    fine = release.fine
    assert fine is not None
    names = [attribute.name for attribute in fine.schema.predictors]
    if any("" in fine.columns[name].tolist() for name in [*names, str(fine.schema.target)]):
        return  # an empty name is read as a missing value if the schema has those
    sample = training_sample(release)
    expected = [codes_within(fine.schema[name].domain, fine.columns[name]) for name in names]
    assert sample.codes.tolist() == np.stack(expected, axis=1).tolist()
    assert [fine.schema.classes[label] for label in sample.labels] == fine.columns[str(fine.schema.target)].tolist()


def test_test_rows_are_coded_as_the_table_is() -> None:
    release = learned()
    source = open_source(raw_rows(3))
    table = CodedTable.read(source, PATIENTS)
    for name, size in (("fine", 12), ("table", 1)):
        assert release.tables[name]["weight"].domain.size == size
        coded = table.sample(release.tables[name])
        blocks = list(code_blocks(source.batches(release.tables[name].columns), release.tables[name]))
        assert coded.codes.tolist() == np.concatenate([np.stack(block[:3], axis=1) for block in blocks]).tolist()


def test_a_trial_tests_the_recommended_table_by_default() -> None:
    train, test = (CodedTable.read(open_source(raw_rows(seed, 3000)), PATIENTS) for seed in (6, 7))
    settings = {"method": "diffgen", "parameters": {"epsilon": "20", "rounds": 1, "detail": "yes"}}
    for table in (None, "fine", "table"):
        assert trial(train, test, table=table, **settings)["tree"]["accuracy"] > 0.9
    with pytest.raises(InputError, match=r"has no fine\.csv"):
        trial(train, test, table="fine", method="diffgen", parameters={"epsilon": "1", "leaves": True})


def test_frames_contain_the_recommended_table_by_default() -> None:
    release = made()
    assert release.fine is not None
    fine = scumble.to_frame(release)
    assert fine.column_names == ["age", "weight", "ward", "ill"] and fine.num_rows == 4 * release.count.sum()
    assert fine.column("age").null_count == np.isnan(release.fine.columns["age"].astype(float)).sum() > 0
    assert fine.column("weight").to_pylist() == release.fine.columns["weight"].tolist()
    assert set(scumble.to_frame(release, table="table").column("ward").to_pylist()) == {"North", "South"}
    assert scumble.to_frame(release, counts=True).num_rows == release.count.size
    with pytest.raises(InputError, match=r"has no fine\.csv"):
        scumble.to_frame(replace(release, fine=None), table="fine")


def test_every_field_of_a_release_with_cells_is_kept_in_its_folder(scratch: Path) -> None:
    """A field of `CellRelease` that is not stored would be read back as its default."""
    again, first = scumble.load_release(written(made(), scratch / "fields")), made()
    for each in fields(CellRelease):
        one, other = getattr(first, each.name), getattr(again, each.name)
        if isinstance(one, FineRows):
            assert same_columns(one, other)
        else:
            assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other, each.name
