"""Python in README.md and docs/ passes mypy --strict, and a misspelt parameter does not."""

import re
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITHOUT_STUBS = ("pandas",)
"""Packages of others in snippets that have no types of their own. Nothing of scumble may stand here."""
UNTYPED = "ignore_missing_imports = True"
MISSPELT = """\
import scumble

scumble.plan(schema="schema.yaml", method=scumble.DiffGen(epsilon="1", roundz=3))
scumble.DiffGen(epsilon="1", score="accurate")
scumble.load_release("release").count
scumble.nonsense
import scumble.missing_module
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one run of mypy says of all snippets, each a module."""
    folder = tmp_path_factory.mktemp("snippets")
    for page in PAGES:
        snippets = re.findall(r"^```python[^\n]*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
        for number, snippet in enumerate(snippets):
            (folder / f"{page.stem.lower().replace('-', '_')}_{number}.py").write_text(snippet)
    (folder / "misspelt.py").write_text(MISSPELT)
    # As users run it: without the settings of this repository, whose plugin for pydantic they do not have.
    (folder / "mypy.ini").write_text("[mypy]\n" + "".join(f"[mypy-{each}.*]\n{UNTYPED}\n" for each in WITHOUT_STUBS))
    settings = [
        "--config-file",
        str(folder / "mypy.ini"),
        "--follow-imports",
        "silent",
        "--cache-dir",
        str(ROOT / ".mypy_cache" / "snippets"),
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MYPYPATH", str(ROOT / "src"))
        out, err, _ = api.run([*settings, "--strict", "--no-error-summary", *map(str, sorted(folder.glob("*.py")))])
    assert err == ""
    return out


def test_snippets_pass(checked: str) -> None:
    assert [line for line in checked.splitlines() if "misspelt.py" not in line] == []


@pytest.mark.parametrize("name", ["roundz", "score", "count", "nonsense", "scumble.missing_module"])
def test_a_misspelt_name_is_found(checked: str, name: str) -> None:
    assert [line for line in checked.splitlines() if "misspelt.py" in line and f'"{name}"' in line], checked
