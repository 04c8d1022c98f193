"""The commands of README.md and of pages in docs run as documented, on the tables that `scumble demo` leaves behind."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from command_line import scumble

ROOT = Path(__file__).resolve().parents[2]


def commands(page: str, *, containing: str) -> list[list[str]]:
    """The words of each command in the first code block of a page that contains a text."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    block = next(block for block in blocks if containing in block)
    return [shlex.split(line)[1:] for line in block.replace("\\\n", " ").splitlines() if line.startswith("scumble")]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    assert scumble("demo", "--out", folder).code == 0
    return folder


@pytest.fixture
def folder(tmp_path: Path, demo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a reader has after the demo, and the same tables under the names of a reader's own files."""
    shutil.copytree(demo, tmp_path / "demo")
    for name, own in (("patients.csv", "people.csv"), ("test.csv", "others.csv"), ("schema.yaml", "schema.yaml")):
        shutil.copy(demo / name, tmp_path / own)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    return tmp_path


@pytest.mark.parametrize(
    ("page", "containing", "verbs"),
    [
        (
            "README.md",
            "scumble release people.csv",
            ["plan", "schema", "release", "query", "evaluate", "verify", "ledger"],
        ),
        ("README.md", "scumble perturb", ["perturb", "reconstruct", "mine", "mine"]),
        ("docs/perturb.md", "scumble perturb", ["perturb", "reconstruct", "mine", "mine"]),
    ],
)
def test_documented_commands_run(folder: Path, page: str, containing: str, verbs: list[str]) -> None:
    documented = commands(page, containing=containing)
    assert [words[0] for words in documented] == verbs
    for words in documented:
        ended = scumble(*words)
        assert ended.code == 0, (words, ended.err)


def test_the_questions_of_the_session_are_answered(folder: Path) -> None:
    """The only error is the one that the page shows."""
    page = (ROOT / "docs" / "query.md").read_text("utf-8")
    for words in commands("docs/query.md", containing="scumble demo")[1:]:
        assert scumble(*words).code == 0, words
    asked = [shlex.split(line)[2:] for line in re.findall(r"^\$ scumble query .*$", page, re.MULTILINE)]
    asked += commands("docs/query.md", containing="--out wards.svg")
    assert len(asked) >= 8
    for words in asked:
        ended = scumble(*words)
        assert ended.code == (2 if "Surgerie" in words[2] else 0), (words, ended.err)
