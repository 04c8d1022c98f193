"""The hashes of the lock: those of the files that a supported system may install, and no others."""

from pathlib import Path
from types import ModuleType

import pytest
from packaging.version import Version

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def lock_hashes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import lock_hashes

    return lock_hashes


def page(*names: str) -> str:
    links = (f'<a href="files/{name}#sha256={number:064x}">{name}</a>' for number, name in enumerate(names))
    return "<html>" + "<br>".join(links) + "</html>"


def found(lock_hashes: ModuleType, *names: str) -> list[int]:
    return [int(digest, 16) for digest in lock_hashes.hashes(page(*names), Version("1.2"))]


def test_wheels_of_supported_systems_and_pythons(lock_hashes: ModuleType) -> None:
    names = (
        "a-1.2-py3-none-any.whl",
        "a-1.2-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "a-1.2-cp310-cp310-manylinux_2_17_x86_64.whl",
        "a-1.2-cp38-abi3-macosx_11_0_arm64.whl",
        "a-1.2-cp311-cp311-win_amd64.whl",
        "a-1.2-cp313-cp313t-manylinux_2_17_x86_64.whl",
        "a-1.3-py3-none-any.whl",
        "a-1.2.tar.gz",
        "nonsense",
    )
    assert found(lock_hashes, *names) == [0, 1, 3]


def test_the_source_archive_if_there_is_no_wheel(lock_hashes: ModuleType) -> None:
    assert found(lock_hashes, "a-1.1.tar.gz", "a-1.2.tar.gz", "a-1.2-cp311-cp311-win_amd64.whl") == [1]
    assert found(lock_hashes, "a-1.1.tar.gz") == []


def test_lines_without_a_pin_stay(lock_hashes: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(lock_hashes.with_hashes(["# a heading"], "nowhere")) == ["# a heading"]
