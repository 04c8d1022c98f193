"""The descriptions of a release: they name every column, follow from what is published, and map every raw value."""

import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, people
from hostile_folders import reseal
from ruamel.yaml import YAML

import scumble
from scumble.files.descriptions import descriptions
from scumble.files.descriptions.croissant import croissant
from scumble.files.descriptions.datapackage import datapackage
from scumble.files.descriptions.deployment import deployment
from scumble.files.descriptions.r_script import r_script
from scumble.files.descriptions.tables import described_tables
from scumble.files.descriptions.values import HEADER, values_csv
from scumble.files.release_folder import read_manifest, read_release, table_hashes
from scumble.files.schema_file import parse_schema, schema_text

AWKWARD = SCHEMA.replace("  age: {", "  'age, \"in\" years': {column: age, ")
"""An attribute whose name needs quotes in CSV, JSON, YAML and R."""


@pytest.fixture(scope="module", params=["diffgen", "microaggregate", "perturbed"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp(request.param)
    (place / "people.csv").write_text(people(200))
    (place / "schema.yaml").write_text(AWKWARD)
    out = place / "out"
    if request.param == "perturbed":
        scumble.perturb(place / "people.csv", schema=place / "schema.yaml", out=out, epsilon="2")
    else:
        scumble.release(
            place / "people.csv",
            schema=place / "schema.yaml",
            out=out,
            method=request.param,
            epsilon="1",
            ledger=place / "ledger.db",
        )
    return out


def header(path: Path) -> list[str]:
    return next(csv.reader(io.StringIO(path.read_text("utf-8"))))


def test_every_table_is_described_with_its_columns_and_hash(folder: Path) -> None:
    tables = {path.name for path in folder.glob("*.csv")} - {"values.csv"}
    catalogue = json.loads((folder / "croissant.json").read_text("utf-8"))
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    files = {each["@id"]: each for each in catalogue["distribution"]}
    resources = {each["path"]: each for each in package["resources"]}
    assert set(files) == set(resources) == tables
    for name in tables:
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert files[name]["sha256"] == digest
        assert resources[name]["hash"] == f"sha256:{digest}"
        (records,) = [each for each in catalogue["recordSet"] if f"{each['@id']}.csv" == name]
        columns = header(folder / name)
        assert [field["source"]["extract"]["column"] for field in records["field"]] == columns
        assert [field["name"] for field in resources[name]["schema"]["fields"]] == columns
        assert len({field["@id"] for field in records["field"]}) == len(columns)


def test_stated_types_and_values_are_those_of_the_tables(folder: Path) -> None:
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    kinds = {"integer": int, "number": float, "string": str}
    for resource in package["resources"]:
        rows = list(csv.DictReader(io.StringIO((folder / resource["path"]).read_text("utf-8"))))
        for field in resource["schema"]["fields"]:
            values = {row[field["name"]] for row in rows}
            for value in values:
                assert not value or isinstance(kinds[field["type"]](value), kinds[field["type"]])
            allowed = field.get("constraints", {}).get("enum")
            assert allowed is None or values <= set(allowed)


def test_the_descriptions_follow_from_what_is_published(folder: Path) -> None:
    manifest, release = read_manifest(folder), read_release(folder)
    hashes = table_hashes(manifest["files"])
    again = descriptions(release, manifest["recommended"], hashes)
    for name, text in again.items():
        assert (folder / name).read_bytes() == text.encode()
    tables = described_tables(release, hashes)
    assert again["croissant.json"] == croissant(release, tables)
    assert again["datapackage.json"] == datapackage(release, tables)
    assert again["read.R"] == r_script(tables, manifest["recommended"])
    assert again["deployment.yaml"] == deployment(release)
    assert scumble.verify(folder)


def test_the_entry_for_the_registry_states_the_guarantee(folder: Path) -> None:
    entry: Any = YAML(typ="safe", pure=True).load((folder / "deployment.yaml").read_text("utf-8"))
    stated = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert stated == {"epsilon": 2 if "perturbed" in str(folder) else 1}
    assert entry["deployment"]["deployment_model"]["model_name"] == (
        "Local" if "perturbed" in str(folder) else "Central"
    )


def test_the_readme_of_a_folder_names_every_file_of_it_and_no_other(folder: Path) -> None:
    readme = (folder / "README.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `([^`]+)` \|", readme, re.M))
    assert listed == {path.name for path in folder.iterdir()} - {"README.md", "report.html"}
    assert "`report.html`" in readme


@pytest.mark.parametrize("name", ["croissant.json", "datapackage.json", "read.R", "deployment.yaml"])
def test_a_forged_description_is_found_though_all_hashes_fit(folder: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    text = (copy / name).read_text("utf-8")
    (copy / name).write_text(text.replace("e", "E", 1), encoding="utf-8", newline="")
    reseal(copy)
    with pytest.raises(scumble.CheckError, match=f"{name} does not say what the data of the folder say"):
        scumble.verify(copy)


def test_every_raw_value_has_its_published_value() -> None:
    schema = parse_schema(
        "scumble: schema/1\n"
        "attributes:\n"
        '  age: {numeric: {edges: [0, 18, 65.5, 100]}, missing: "?"}\n'
        "  job: {taxonomy: {Any: {White: {Engineer: , Lawyer: }, Blue: {Dancer: }}}}\n"
    )
    job = schema["job"].domain
    cut = scumble.Attribute(name="job", domain=job.truncate([job.node("White"), job.node("Blue")]), outside="drop")
    published = scumble.Schema(attributes=(schema["age"], cut))
    lines = list(csv.reader(io.StringIO(values_csv(published))))
    assert tuple(lines[0]) == HEADER
    assert lines[1:] == [
        ["age", "", "0", "18", "[0,18)"],
        ["age", "", "18", "65.5", "[18,65.5)"],
        ["age", "", "65.5", "100", "[65.5,100)"],
        ["age", "?", "", "", "?"],
        ["job", "Engineer", "", "", "White"],
        ["job", "Lawyer", "", "", "White"],
        ["job", "Dancer", "", "", "Blue"],
    ]


@pytest.mark.parametrize("step", ["0.02", "0.020", "2E-2", "2.5", "10", "1E+1"])
def test_a_cut_grid_has_the_same_values_when_it_is_read_back(step: str) -> None:
    """The edges of a cut are multiples of the step, such as 10 * 0.02 = 0.20, which schema.yaml states as 0.2."""
    schema = parse_schema(
        f"scumble: schema/1\nattributes:\n  age: {{numeric: {{low: 0, high: 100, step: {step}}}, missing: '?'}}\n"
    )
    grid = schema["age"].domain
    bounds = [0, 1, grid.size // 2, grid.size - 2, grid.size]
    nodes = [grid.interval(low, high) for low, high in pairwise(bounds)]
    cut = replace(schema["age"], domain=grid.truncate(nodes))
    for published in (schema, scumble.Schema(attributes=(cut,))):
        assert values_csv(published) == values_csv(parse_schema(schema_text(published)))
        for _, value, low, high, released in csv.reader(io.StringIO(values_csv(published)).readlines()[1:]):
            assert value == "?" or released.removesuffix("|?") == f"[{low},{high})"


@pytest.mark.travel
def test_other_programs_read_the_folder(folder: Path) -> None:
    """mlcroissant reads the rows, frictionless finds no error, and base R reads the tables."""
    root = Path(__file__).resolve().parents[3]
    checker = root / "tests" / "support" / "travelling.py"
    done = subprocess.run(
        [root / ".venv-travel" / "bin" / "python", checker, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["datapackage"] == {"valid": True, "errors": []}
    for name, table in found["croissant"].items():
        rows = list(csv.reader(io.StringIO((folder / f"{name}.csv").read_text("utf-8"))))
        assert table["records"] == len(rows) - 1
    read = subprocess.run(["Rscript", "read.R"], cwd=folder, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
    for name in found["croissant"]:
        rows = list(csv.reader(io.StringIO((folder / f"{name}.csv").read_text("utf-8"))))
        assert f"{name}.csv: {len(rows) - 1} lines, {len(rows[0])} columns" in read.stdout
