"""Files around the code agree with each other: version, targets of CI, citation, templates."""

import re
import tomllib
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import scumble

ROOT = Path(__file__).resolve().parents[1]


def yaml(name: str) -> Any:
    return YAML(typ="safe", pure=True).load((ROOT / name).read_text("utf-8"))


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    heading = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heading is not None
    assert {scumble.__version__, yaml("CITATION.cff")["version"], heading[1]} == {project["version"]}
    assert yaml("CITATION.cff")["license"] == project["license"]


def test_the_workflow_runs_the_targets_of_ci_and_nothing_with_more_rights() -> None:
    targets = re.findall(r"^make (\S+)", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)
    workflow = yaml(".github/workflows/ci.yml")
    assert workflow["jobs"]["target"]["strategy"]["matrix"]["target"] == targets
    assert workflow["permissions"] == {"contents": "read"}


def test_hooks_and_templates_are_complete() -> None:
    (local,) = yaml(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"  # nothing is fetched
    for hook in local["hooks"]:
        assert hook["entry"].startswith(".venv/bin/")
    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml(str(path.relative_to(ROOT)))
        assert path.name == "config.yml" or {"name", "description", "body"} <= set(form)


def test_help_of_make_is_aligned() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    width = re.search(r"make %-(\d+)s", text)
    assert width is not None
    longest = max(map(len, re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE)))
    assert int(width[1]) > longest
