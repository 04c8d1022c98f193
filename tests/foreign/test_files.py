"""Regular files only, within a size, and only inside the folder."""

import os
import socket
from pathlib import Path

import pytest

from scumble.errors import InputError
from scumble.foreign.files import UnreadableFile, below, inside, open_file, read_bytes, read_text


def test_a_regular_file_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfx\r\ny")
    assert read_bytes(tmp_path / "a", most=7) == b"\xef\xbb\xbfx\r\ny"
    assert read_text(tmp_path / "a", encoding="utf-8-sig") == "x\r\ny"
    with pytest.raises(UnreadableFile, match="larger than"):
        read_bytes(tmp_path / "a", most=6)


@pytest.mark.parametrize("follow_links", [False, True])
def test_pipes_devices_and_sockets_are_refused_without_waiting(tmp_path: Path, follow_links: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero"), Path("/dev/null")):
            with pytest.raises(UnreadableFile, match="not a regular file"):
                open_file(path, follow_links=follow_links)


def test_links_are_followed_only_if_the_user_named_the_path(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    assert read_text(tmp_path / "link", follow_links=True) == "text"
    for name in ("link", "loop"):
        with pytest.raises(UnreadableFile, match="symbolic link"):
            read_text(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "a/b", "/etc/passwd", "a\0b", "..\\a"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="inside the folder"):
        inside(tmp_path, name)


def test_a_relative_path_stays_in_its_folder(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "deep").mkdir(parents=True)
    (here / "out").symlink_to(tmp_path)
    assert below(here, "deep/a.csv") == here / "deep" / "a.csv"
    for name in ("../a", "deep/../../a", "/etc/passwd", "out/a", "a\0b"):
        with pytest.raises(InputError, match="leads out of the folder"):
            below(here, name)
