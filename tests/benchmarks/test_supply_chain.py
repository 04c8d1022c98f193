"""The wheel is reproducible, its bill of materials is complete, and a lock file that was not checked is reported so."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
MOMENT = 1_700_000_000


@pytest.fixture
def build_wheel(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import build_wheel

    return build_wheel


@pytest.fixture
def audit_dependencies(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import audit_dependencies

    return audit_dependencies


@pytest.fixture
def small_project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src" / "small").mkdir(parents=True)
    (root / "src" / "small" / "__init__.py").write_text("one = 1\n", encoding="utf-8")
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "small"\nversion = "1"\n[tool.hatch.build.targets.wheel]\npackages = ["src/small"]\n',
        encoding="utf-8",
    )
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def test_the_wheel_is_built_twice_alike_with_its_bill_of_materials(build_wheel: ModuleType, tmp_path: Path) -> None:
    build_wheel.main(str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    (bill,) = tmp_path.glob("*.cdx.json")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert modules <= names and "scumble/methods/diffgen/PROOF.md" in names
    check_bill(json.loads(bill.read_text("utf-8")), wheel)


def check_bill(document: dict[str, Any], wheel: Path) -> None:
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert document["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": digest}]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    components = {each["name"]: each for each in document["components"]}
    assert declared <= set(components)
    assert not {"pytest", "mypy", "hypothesis", "cryptography"} & set(components)
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    pins = {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE)}
    assert {name: each["version"] for name, each in components.items()}.items() <= pins.items()
    references = {each["bom-ref"] for each in (*document["components"], document["metadata"]["component"])}
    assert {each["ref"] for each in document["dependencies"]} == references
    assert {below for each in document["dependencies"] for below in each["dependsOn"]} <= references
    assert "http" not in json.dumps({key: value for key, value in document.items() if key != "$schema"})


def test_a_build_that_depends_on_file_times_is_refused(
    build_wheel: ModuleType, small_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(MOMENT))
    assert build_wheel.build_twice(small_project, tmp_path / "dist").name.startswith("small-1-py")
    (small_project / "pyproject.toml").write_text(
        (small_project / "pyproject.toml").read_text("utf-8") + "[tool.hatch.build.hooks.custom]\n", encoding="utf-8"
    )
    (small_project / "hatch_build.py").write_text(
        "from pathlib import Path\nfrom hatchling.builders.hooks.plugin.interface import BuildHookInterface\n"
        "class Hook(BuildHookInterface):\n    def initialize(self, version, build_data):\n"
        "        root = Path(self.root)\n        made = root / 'made.txt'\n"
        "        made.write_text(str((root / 'pyproject.toml').stat().st_mtime))\n"
        "        build_data['force_include'][str(made)] = 'small/made.txt'\n",
        encoding="utf-8",
    )
    with pytest.raises(SystemExit, match="not reproducible"):
        build_wheel.build_twice(small_project, tmp_path / "dist")


def stub(path: Path, output: str, errors: str = "", code: int = 0) -> Path:
    """A program that prints what pip-audit would."""
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"sys.stdout.write({output!r})\nsys.stderr.write({errors!r})\nsys.exit({code})\n",
        encoding="utf-8",
    )
    path.chmod(0o700)
    return path


def package(name: str, *found: str) -> dict[str, Any]:
    return {"name": name, "version": "1", "vulns": [{"id": each, "fix_versions": ["2"]} for each in found]}


SKIPPED = {"name": "b", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("output", "errors", "code", "printed", "exit_code"),
    [
        (
            json.dumps({"dependencies": [package("a"), SKIPPED]}),
            "",
            0,
            "1 packages checked, 0 known.*\n.*unknown.*: b",
            0,
        ),
        (json.dumps({"dependencies": [package("a", "CVE-1")]}), "Found 1", 1, "a 1: CVE-1, fixed in 2", 1),
        (json.dumps({"dependencies": [SKIPPED]}), "No known vulnerabilities found", 0, "NOT CHECKED.*reached", 0),
        ("", "Traceback\nConnectionError: no route", 1, "NOT CHECKED, pip-audit failed: ConnectionError: no route", 0),
        ("[1]", "", 0, "NOT CHECKED, pip-audit failed: no output", 0),
    ],
)
def test_only_what_was_looked_up_counts_as_checked(
    audit_dependencies: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    output: str,
    errors: str,
    code: int,
    printed: str,
    exit_code: int,
) -> None:
    program = stub(tmp_path / "pip-audit", output, errors, code)
    assert audit_dependencies.main(str(program), "requirements.lock") == exit_code
    assert re.search(printed, capsys.readouterr().out)


def test_a_missing_pip_audit_is_reported(
    audit_dependencies: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit_dependencies.main(str(tmp_path / "none"), "requirements.lock") == 0
    assert capsys.readouterr().out == "requirements.lock: NOT CHECKED, pip-audit is not installed.\n"
