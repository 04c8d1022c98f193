"""Opens regular files only: no device, no pipe, no socket, and no link unless the user named the path.

The file is opened without blocking and then examined by its descriptor, so that nothing can be exchanged in between.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path, PurePosixPath

from scumble.errors import InputError
from scumble.portable import NO_FOLLOW, READING

LARGEST_DOCUMENT = 1 << 27
"""Bytes of a file that is read as a whole: 128 MiB."""
LARGEST_LOG = 1 << 32
"""Bytes of a log that a long run writes: 4 GiB."""
LARGEST_TEXT = 1 << 24
"""Bytes of a text that people write: 16 MiB."""


class UnreadableFile(OSError):
    """A file that is refused: not a regular file, a link, or too large."""

    def __init__(self, problem: str, path: Path) -> None:
        super().__init__(errno.EINVAL, problem, str(path))

    def __str__(self) -> str:
        return str(self.strerror)


def open_file(path: Path, *, follow_links: bool = False) -> BufferedReader:
    """Open a regular file for reading. Follow links only to a path that the user named, never inside a folder.

    Raises `OSError` if the file cannot be opened, and its subclass `UnreadableFile` if it is refused.
    """
    if not follow_links and not NO_FOLLOW and path.is_symlink():  # without the flag it could still be exchanged
        raise UnreadableFile("it is a symbolic link, which is not followed", path)
    try:
        descriptor = os.open(path, READING if follow_links else READING | NO_FOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise UnreadableFile("it is a symbolic link, which is not followed", path) from None
        if error.errno == errno.ENXIO:
            raise UnreadableFile("it is not a regular file", path) from None
        raise
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise UnreadableFile("it is not a regular file", path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: Path, *, most: int = LARGEST_DOCUMENT, follow_links: bool = False) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises `OSError`, as `open_file` does."""
    with open_file(path, follow_links=follow_links) as file:
        if os.fstat(file.fileno()).st_size <= most:
            content = file.read(most + 1)
            if len(content) <= most:
                return content
    raise UnreadableFile(f"it is larger than {most >> 20} MiB", path)


def read_text(path: Path, *, most: int = LARGEST_TEXT, follow_links: bool = False, encoding: str = "utf-8") -> str:
    """The text of a regular file, with its line ends. Raises `OSError` or `UnicodeDecodeError`."""
    return read_bytes(path, most=most, follow_links=follow_links).decode(encoding)


def inside(folder: Path, name: str) -> Path:
    """The path of a file directly inside a folder. Raises `InputError` for a name that leads elsewhere.

    >>> inside(Path("release"), "counts.csv").name
    'counts.csv'
    """
    if not name or name in (".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise InputError(f"{name!r} is not the name of a file in {folder}. Name a file inside the folder.")
    return folder / name


def below(folder: Path, name: str) -> Path:
    """The path of a file in a folder or its subfolders, by its relative path.

    Raises `InputError` for a path that leads elsewhere, also by way of a linked folder.
    """
    relative = PurePosixPath(name)
    path = folder / relative
    if "\0" not in name and not relative.is_absolute() and ".." not in relative.parts:
        home = folder.resolve()
        if path.parent.resolve().is_relative_to(home):
            return path
    raise InputError(f"The path {name!r} leads out of the folder {folder}. Put the file into this folder.")
