"""The picture of the rooms: it agrees with the imports, and the page explains every room in it."""

import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def architecture(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import architecture

    return architecture


def planted(folder: Path, modules: dict[str, str]) -> Path:
    for name, text in modules.items():
        path = folder / "scumble" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "scumble"


def test_the_committed_picture_shows_the_imports(architecture: ModuleType) -> None:
    drawn = architecture.picture(architecture.room_imports(architecture.PACKAGE))
    assert drawn == architecture.PICTURE.read_text("utf-8"), "run `python benchmarks/architecture.py`"


def test_imports_of_rooms_are_found_wherever_they_stand(architecture: ModuleType, tmp_path: Path) -> None:
    modules = {
        "__init__.py": "from scumble.flows.release import release",
        "__main__.py": "from scumble.cli import main",
        "errors.py": "",
        "model/cut.py": "import numpy\nfrom scumble.model.counts import Counts\nimport scumble.errors",
        "model/counts.py": "",
        "flows/release.py": "def f():\n    from scumble import model",
    }
    found = architecture.room_imports(planted(tmp_path, modules))
    assert found == {"__init__": {"flows"}, "errors": set(), "flows": {"model"}, "model": {"errors"}}


def test_a_name_that_is_not_a_room_comes_from_the_package_itself(architecture: ModuleType, tmp_path: Path) -> None:
    modules = {"__init__.py": "", "cli/run.py": "import scumble", "demo/run.py": "from scumble import release"}
    found = architecture.room_imports(planted(tmp_path, modules))
    assert found == {"__init__": set(), "cli": {"__init__"}, "demo": {"__init__"}}


IMPORTS = {
    "cli": frozenset({"flows", "model", "errors"}),
    "errors": frozenset(),
    "flows": frozenset({"model"}),
    "mining": frozenset({"errors"}),
    "model": frozenset({"errors"}),
}


def test_a_room_stands_below_all_that_import_it(architecture: ModuleType) -> None:
    assert architecture.levels(IMPORTS) == {"cli": 0, "mining": 0, "flows": 1, "model": 2, "errors": 3}


def test_a_circle_of_rooms_is_refused(architecture: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"circle.*'flows', 'model'"):
        architecture.levels({"cli": {"flows"}, "flows": {"model"}, "model": {"flows"}})


def test_an_arrow_is_left_out_where_a_chain_says_the_same(architecture: ModuleType) -> None:
    found = architecture.arrows(IMPORTS)
    assert found == [("cli", "flows"), ("flows", "model"), ("mining", "errors"), ("model", "errors")]


def test_the_picture_has_every_room_every_import_and_every_arrow(architecture: ModuleType) -> None:
    drawn = architecture.picture(IMPORTS)
    for room in IMPORTS:
        assert f">{architecture.ENTRIES.get(room, room)}</text>" in drawn
    assert ">imports errors, flows, model</text>" in drawn
    assert ">imports no other room</text>" in drawn
    assert drawn.count("marker-end") == 4


def test_the_page_explains_every_room(architecture: ModuleType) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = page[page.index("| room |") :].split("\n\n")[0]
    explained = set(re.findall(r"`([a-z_]+)`", "".join(line.split("|")[1] for line in table.splitlines())))
    rooms = {"scumble" if room == "__init__" else room for room in architecture.room_imports(architecture.PACKAGE)}
    assert explained == rooms
