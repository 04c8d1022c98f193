"""`verify` renders report.html and README.md again from the data of the folder, and compares."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, people, scumble
from hostile_folders import edited, reseal, stated

import scumble as api
from scumble.errors import CheckError
from scumble.files.page_check import NOT_CHECKED, check_pages
from scumble.files.report.version import pages_version

SAME = "report.html and README.md say what the data of the folder say"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(people(300))
    (folder / "schema.yaml").write_text(SCHEMA)
    return folder


def published(made: Path, name: str, **how: Any) -> Path:
    given = {"schema": made / "schema.yaml", "out": made / name, "ledger": made / f"{name}.db", "epsilon": "1", **how}
    return api.release(made / "people.csv", **given).folder


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("default", {}),
        ("cells", {"detail": "no"}),
        ("explore", {"method": "explore"}),
        ("histograms", {"method": "histograms"}),
        ("microaggregate", {"method": "microaggregate"}),
        ("delta", {"method": "histograms", "delta": "1e-9"}),
    ],
)
def test_the_pages_of_every_kind_are_rendered_again_from_the_folder(made: Path, name: str, how: dict[str, Any]) -> None:
    assert SAME in api.verify(published(made, name, **how))


def test_the_pages_of_perturbed_records_are_rendered_again(made: Path) -> None:
    api.perturb(made / "people.csv", schema=made / "schema.yaml", out=made / "perturbed", epsilon="2")
    assert SAME in api.verify(made / "perturbed")


def test_pages_that_describe_rows_which_were_not_written_are_said_to_be_unchecked(made: Path) -> None:
    checks = api.verify(published(made, "no table", table=False))
    assert [check for check in checks if check.startswith(NOT_CHECKED)] == [
        "not checked: report.html and README.md, which describe rows that the folder does not contain"
    ]


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    folder = made / "copied" if (made / "copied").exists() else published(made, "copied", detail="no")
    return Path(shutil.copytree(folder, tmp_path / "copy"))


@pytest.mark.parametrize("name", ["report.html", "README.md"])
def test_a_forged_page_is_found_though_all_hashes_fit(copy: Path, name: str) -> None:
    edited(name, "differentially private", "perfectly anonymous")(copy)
    reseal(copy)
    with pytest.raises(CheckError, match=f"{name} does not say what the data of the folder say"):
        api.verify(copy)
    assert scumble("verify", copy).code == 4


def test_a_forged_receipt_shows_in_the_report(copy: Path) -> None:
    stated("receipt", "entry", value="ab" * 32)(copy)
    reseal(copy)
    with pytest.raises(CheckError, match=r"report\.html does not say"):
        api.verify(copy)


@pytest.mark.parametrize("version", [None, "another", 3, ["x"]])
def test_a_folder_of_another_version_verifies_and_says_what_was_not_checked(copy: Path, version: object) -> None:
    manifest = json.loads((copy / "release.json").read_text())
    assert manifest["pages"] == pages_version()
    edited("report.html", "<h1>", "<h1 >")(copy)
    stated("pages", value=version)(copy)
    if version is None:  # as folders of earlier versions
        del manifest["pages"]
        (copy / "release.json").write_text(json.dumps(manifest))
    reseal(copy)
    assert check_pages(copy) == ["not checked: report.html and README.md, which another version of scumble wrote"]
    ended = scumble("verify", copy)
    assert ended.code == 0
    assert "ok  not checked" not in ended.out
    assert "      not checked: report.html and README.md" in ended.out
