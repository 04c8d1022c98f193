"""A file is replaced completely or not at all."""

from pathlib import Path

import pytest

from scumble.files.replaced_file import replace_file


def test_a_failure_leaves_the_old_text_and_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    replace_file(path, "old")

    def full(descriptor: int) -> None:
        raise OSError("no space")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        replace_file(path, "new")
    assert path.read_text("utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    replace_file(tmp_path / "a.txt", "old")
    (tmp_path / "b.txt").symlink_to(tmp_path / "a.txt")
    replace_file(tmp_path / "b.txt", "new")
    assert (tmp_path / "a.txt").read_text("utf-8") == "new"
    assert (tmp_path / "b.txt").is_symlink()
