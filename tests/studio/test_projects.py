"""Projects stay inside the chosen folder."""

from pathlib import Path

import pytest
from command_line import SCHEMA, people
from studio_client import StudioClient

from scumble.errors import InputError
from scumble.files.run_file import RunFile, write_run
from scumble.studio.projects import Workspace, free_name


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "outside.csv").write_text(people(5), encoding="utf-8")
    (tmp_path / "outside").mkdir()
    write_run(RunFile(data="../outside.csv"), tmp_path / "outside" / "run.yaml")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "people.csv").write_text(people(20), encoding="utf-8")
    return (tmp_path / "home").resolve()


def test_a_project_for_a_table_records_a_relative_path(home: Path) -> None:
    workspace = Workspace(folder=home)
    project = workspace.create("people.csv")
    assert (project.name, project.run.data) == ("people-project", "../people.csv")
    assert project.source().columns() == ("age", "job", "income")
    assert [each.name for each in workspace.projects] == ["people-project"]
    assert workspace.create("people.csv").name == "people-project-2"
    assert workspace.tables == ["people.csv"]


@pytest.mark.parametrize("data", ["../outside.csv", "/etc/passwd", "people-project/../../outside.csv", "", "none.csv"])
def test_a_table_elsewhere_makes_no_project(home: Path, data: str) -> None:
    with pytest.raises(InputError):
        Workspace(folder=home).create(data)
    assert [path.name for path in home.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("name", ["..", ".", "", "../outside", "outside", "a/b", "\0"])
def test_no_name_leads_out_of_the_folder(home: Path, name: str) -> None:
    (home / "outside").symlink_to(home.parent / "outside")
    with pytest.raises(InputError):
        Workspace(folder=home).project(name)


@pytest.mark.parametrize(
    "address",
    [
        "/projects/../outside/table",
        "/projects/..%2Foutside/table",
        "/projects/%2e%2e/table",
        "/projects/people-project/releases/..",
        "/projects/people-project/releases/..%2F..%2Foutside",
        "/projects/people-project/releases/%2e%2e/zip",
        "/projects/people-project/releases/%2e%2e/report",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
    ],
)
def test_traversal_is_refused(home: Path, address: str) -> None:
    Workspace(folder=home).create("people.csv")
    assert StudioClient(folder=home).get(address).status == 404


def test_a_run_file_that_names_a_table_outside_is_not_opened(home: Path) -> None:
    project = Workspace(folder=home).create("people.csv")
    for stated in ("../../outside.csv", "/etc/passwd", "postgresql://host/db::people"):
        project.change(data=stated)
        with pytest.raises(InputError, match="outside the folder"):
            project.source()
        assert StudioClient(folder=home).get("/projects/people-project/table").status == 404
    project.change(data="../people.csv", schema="../../schema.yaml")
    (home.parent / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    assert StudioClient(folder=home).get("/projects/people-project/domains").status == 404


def test_a_release_by_a_link_is_none_of_ours(home: Path) -> None:
    project = Workspace(folder=home).create("people.csv")
    (home.parent / "other").mkdir()
    (home.parent / "other" / "release.json").write_text("{}", encoding="utf-8")
    (project.folder / "linked").symlink_to(home.parent / "other")
    assert project.releases == []
    with pytest.raises(InputError, match="no release"):
        project.release_folder("linked")


def test_names_are_never_used_twice(tmp_path: Path) -> None:
    for expected in ("a", "a-2", "a-3"):
        assert free_name(tmp_path, "a") == expected
        (tmp_path / expected).mkdir()
