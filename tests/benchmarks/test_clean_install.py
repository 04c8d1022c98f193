"""What `make test-install` installs, and how its failures are told apart."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
WHEEL, SOURCE = Path("scumble.whl"), Path("scumble.tar.gz")


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import clean_install

    return clean_install


def options(**given: object) -> Namespace:
    return Namespace(**{"versions": None, "python": None, "sizes": False, **given})


def test_pinned_oldest_and_newest_versions_are_all_installed_by_default(install: ModuleType) -> None:
    found = install.chosen(options(), WHEEL, SOURCE)
    assert {versions for _, versions, _ in found} == {"locked", "oldest", "newest"}
    assert {package for package, _, _ in found} == {WHEEL, SOURCE}


def test_newer_pythons_that_are_missing_are_named(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "python3.13"
    broken.write_text("#!/bin/sh\nexit 127\n")  # what a version manager leaves for a version that is switched off
    broken.chmod(0o755)
    (tmp_path / "python3.12").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = install.chosen(options(python=["newer"]), WHEEL, SOURCE)
    assert found == [(WHEEL, "newest", str(tmp_path / "python3.12"))]
    assert capsys.readouterr().out.splitlines() == [f"python3.{minor}: not found, not run" for minor in (13, 14)]
    assert install.found_programs([sys.executable]) == [sys.executable]


def test_a_failure_of_the_newest_versions_alone_has_an_exit_code_of_its_own(
    install: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.exit_code([]) == 0
    assert install.exit_code(["locked", "newest"]) == install.exit_code(["oldest"]) == 1
    assert capsys.readouterr().err == ""
    assert install.exit_code(["newest"]) == install.NEWEST_FAILS
    assert "a new version of one of the packages" in capsys.readouterr().err


def test_versions_that_differ_from_the_lock_are_named(install: ModuleType) -> None:
    assert install.newer_text({name: (version, 0.0) for name, version in install.pinned().items()}) == "none"
    assert install.newer_text({"numpy": ("99.0", 0.0)}).endswith(" -> 99.0")
    assert install.canonical("Ruamel_Yaml") in install.pinned()
    assert install.constraints("newest") == []
    assert "opendp==0.16.*" in install.constraints("oldest")


def test_a_failing_program_is_shown(install: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(install.FailedError, match="ended with 3:\nwhy"):
        install.output(sys.executable, "-c", "print('why'); raise SystemExit(3)", cwd=tmp_path)


def test_the_classifiers_are_the_versions_that_were_run(install: ModuleType) -> None:
    """docs/install.md says which versions of Python were run; pyproject.toml must not promise others."""
    page = (install.ROOT / "docs" / "install.md").read_text("utf-8")
    project = (install.ROOT / "pyproject.toml").read_text("utf-8")
    assert "MacOS" not in project and "macOS with Python" not in (install.ROOT / "SECURITY.md").read_text("utf-8")
    for minor in (11, 12, 13, 14):
        promised = f'"Programming Language :: Python :: 3.{minor}"' in project
        assert promised == (f"| 3.{minor}" in page), minor


def test_help_names_all_runs(install: ModuleType) -> None:
    program = [sys.executable, str(BENCHMARKS / "clean_install.py"), "--help"]
    assert "--python newer" in subprocess.run(program, capture_output=True, text=True, check=True).stdout
