"""The project's texts use the field's words: expressions that only its authors would understand stay out."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

INSTEAD = {
    r"\b[Tt]old\b": "published, reported, measured, stated",
    r"\b[Tt]ells?\b(?! apart)": "publishes, reports, states, reveals",
    r"\b[Ll]uck\b": "sampling error",
    r"\b[Mm]end(s|ed)?\b": "fix",
    r"\b[Nn]ought\b": "zero",
    r"\b[Oo]nlookers?\b": "adversary",
    r"\b[Hh]and(s|ed)? in\b": "submit",
    r"\bdraw[ns]? towards\b": "shrink toward",
    r"\bThere is: ": "Available: ",
    r"\b[Ww]ho wants\b": "if you need",
    r"\bbetter off\b": "use ... instead",
}
"""Patterns, and what to write instead. docs/glossary.md has the terms."""

EXCUSED = {
    *(("benchmarks/house.py", word) for word in ("tell", "tells", "told")),  # it counts them
    ("src/scumble/model/guarantee.py", "told"),  # the sentence of releases up to version 0.1, which `verify` accepts
    ("src/scumble/reproductions/perturbation/local_privacy.py", "told"),  # a column of published files
}


def texts() -> list[Path]:
    """Pages, proofs, templates and source files; not the changelog, which quotes what was."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    kept = (name for name in names if name.startswith(("src/", "docs/", "benchmarks/")) or "/" not in name)
    return [ROOT / name for name in kept if name.endswith((".py", ".md", ".html")) and name != "CHANGELOG.md"]


def odd_expressions(text: str, name: str = "page.md") -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, instead in INSTEAD.items():
            for match in re.finditer(pattern, line):
                if (name, match.group()) not in EXCUSED:
                    found.append(f"{name}:{number}: {match.group()!r}; write: {instead}")
    return found


def test_every_text_uses_the_words_of_the_field() -> None:
    paths = texts()
    assert len(paths) > 200, "no text was read"
    found = [
        line
        for path in paths
        if path.is_file()
        for line in odd_expressions(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "Nothing was told.",
        "It tells how many there are.",
        "That may be luck.",
        "Mend the file.",
        "There is: memory, duckdb.",
        "An onlooker sees it.",
        "who wants cells alone is better off with --detail no",
    ],
)
def test_a_planted_expression_is_found(line: str) -> None:
    assert odd_expressions(line)


@pytest.mark.parametrize(
    "line",
    [
        "Two neighbours cannot be distinguished.",
        "Available: memory, duckdb.",
        "The test tells apart two laws.",
        "amended, recommended, intellectual, storytelling",
    ],
)
def test_plain_sentences_pass(line: str) -> None:
    assert odd_expressions(line) == []
