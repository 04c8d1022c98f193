"""Optional packages: the table is that of pyproject.toml, and a missing package names the line that installs it."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scumble.errors import InputError
from scumble.installation import EXTRAS, install_line, installed_version, is_installed, missing_sentence, needing

PROJECT = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text("utf-8"))["project"]


def packages(requirements: list[str]) -> set[str]:
    return {Requirement(each).name for each in requirements}


def test_the_table_is_that_of_the_project() -> None:
    declared = {name: packages(each) for name, each in PROJECT["optional-dependencies"].items()}
    del declared["dev"]
    assert declared.pop("all") == {"scumble"}
    assert {name: set(extra.packages) for name, extra in EXTRAS.items()} == declared
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert Requirement(everything).extras == set(EXTRAS)


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_missing_package_names_its_install_line(extra: str) -> None:
    module = next(iter(EXTRAS[extra].packages.values()))
    with pytest.raises(InputError) as refused, needing(extra):
        raise ModuleNotFoundError(f"No module named {module!r}", name=f"{module}.part")
    assert install_line(extra) in str(refused.value)
    assert str(refused.value) == missing_sentence(extra)


def test_another_missing_module_is_no_matter_of_the_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needing("charts"):
        raise ModuleNotFoundError("No module named 'nonsense'", name="nonsense")


def test_what_is_installed_is_found_without_importing_it() -> None:
    assert is_installed("excel")
    assert installed_version("numpy") is not None
    assert installed_version("no-such-package") is None
