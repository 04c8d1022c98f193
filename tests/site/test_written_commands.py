"""Every command that a page names, also in the middle of a sentence, exists with the options that it is given there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from assemble import ROOT, Site

from scumble.cli.verbs import VERBS

INLINE = re.compile(r"(?<!`)`(?P<code>[^`]+)`(?!`)")
FENCED = re.compile(r"^```\w*[^\n]*\n(.*?)^```$", re.M | re.S)
PROGRAM = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )?(?P<command>(?:scumble|make|python benchmarks/)\b.*)")
HISTORY = {"CHANGELOG.md"}
"""Pages that may name what existed once."""
EVERYWHERE = {"--help", "--version"}


def written(text: str) -> Iterator[str]:
    """The commands of a page, each on one line."""
    blocks = FENCED.findall(text)
    for block in blocks:
        lines = re.sub(r"(^|\s)#.*", "", block.replace("\\\n", " "), flags=re.M).splitlines()
        yield from (found["command"] for line in lines if (found := PROGRAM.match(line)))
    for inline in INLINE.finditer(FENCED.sub("", text)):
        if found := PROGRAM.match(" ".join(inline["code"].split())):
            yield found["command"]


def problem(command: str, root: Path = ROOT) -> str | None:
    """What does not exist of a command."""
    program, *words = command.split()
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (root / "Makefile").read_text("utf-8"), re.M)
        return next((f"no target {word}" for word in words[:1] if word.islower() and word not in targets), None)
    options = [word.partition("=")[0].rstrip(",.:;)") for word in words if re.match(r"--[a-z]", word)]
    if program == "python":
        script = root / words[0]
        if not script.exists():
            return f"no file {words[0]}"
        known = "".join(path.read_text("utf-8") for path in script.parent.glob("*.py"))
        return next((f"no option {option}" for option in options if f'"{option}"' not in known), None)
    return problem_of_scumble(words, options)


def problem_of_scumble(words: list[str], options: list[str]) -> str | None:
    if not words or not re.fullmatch(r"[a-z]+", words[0]):
        return None
    if words[0] not in VERBS:
        return f"no verb {words[0]}"
    found: Any = VERBS[words[0]].load(words[0])
    for word in words[1:]:
        if not hasattr(found, "commands") or not re.fullmatch(r"[a-z]+", word):
            break
        if word not in found.commands:
            return f"no verb {words[0]} {word}"
        found = found.commands[word]
    every = [found, *getattr(found, "commands", {}).values()]
    known = {name for each in every for option in each.params for name in (*option.opts, *option.secondary_opts)}
    return next((f"no option {option}" for option in options if option not in known | EVERYWHERE), None)


@pytest.mark.parametrize("page", sorted(set(Site.of(ROOT).pages) - HISTORY))
def test_the_commands_of_a_page_exist(page: str) -> None:
    wrong = {command: why for command in written((ROOT / page).read_text("utf-8")) if (why := problem(command))}
    assert wrong == {}


def test_commands_are_found_in_sentences_and_in_blocks() -> None:
    page = "Run `scumble plan\n--epsilon 1`.\n\n```sh\nscumble verify \\\n  release   # --no\nA=1 scumble demo\n```\n"
    found = [" ".join(command.split()) for command in written(page)]
    assert found == ["scumble verify release", "scumble demo", "scumble plan --epsilon 1"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("scumble publish x.csv", "no verb publish"),
        ("scumble ledger spend", "no verb ledger spend"),
        ("scumble plan --nonsense 3", "no option --nonsense"),
        ("scumble ledger grant people 2 --because x", "no option --because"),
        ("python benchmarks/missing.py", "no file benchmarks/missing.py"),
        ("python benchmarks/zoo.py --nonsense", "no option --nonsense"),
        ("make nonsense", "no target nonsense"),
    ],
)
def test_a_planted_mistake_is_found(command: str, why: str) -> None:
    assert problem(command) == why


@pytest.mark.parametrize(
    "command", ["scumble release DATA --method diffgen --epsilon 1", "make test-docs", "scumble --help"]
)
def test_a_right_command_passes(command: str) -> None:
    assert problem(command) is None
