"""Calls of the operating system that differ between systems: flags of open files, locks of folders, flushing.

On Linux and macOS every function does what its name says. Windows has no `fcntl`, opens no folder as a file and follows
links; what is done there instead stands with each function. docs/known-limits.md says on which systems scumble was run.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


def _module(name: str) -> Any:
    """A module of the standard library; None on a system that has none."""
    try:
        return import_module(name)
    except ImportError:
        return None


fcntl = _module("fcntl")

NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
"""Refuse a symbolic link as the last part of a path; 0 where the system cannot."""
BINARY: int = getattr(os, "O_BINARY", 0)
"""Read and write bytes as they are; 0 where that is always so."""
READING: int = os.O_RDONLY | BINARY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY"))
"""Open for reading without waiting for a device and without becoming its terminal."""
STOP_SIGNALS: tuple[signal.Signals, ...] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""The signals by which a user or the system ends a program."""
LOCK_FILE = ".lock"


def open_folder(folder: Path, *, follow_links: bool = True) -> int | None:
    """A descriptor of a folder; None where folders cannot be opened."""
    if fcntl is None:
        return None
    flags = os.O_RDONLY | os.O_DIRECTORY
    return os.open(folder, flags if follow_links else flags | NO_FOLLOW)


def lock_folder(descriptor: int | None) -> None:
    """Lock an open folder of our own; nothing where folders cannot be opened."""
    if descriptor is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def abandoned(folder: Path) -> Iterator[bool]:
    """Whether a folder belongs to this user and no running process has locked it; if so, it is locked in this block.

    Where folders cannot be locked, none is known to be abandoned, so that none in use is removed.
    """
    descriptor = open_folder(folder, follow_links=False)
    if descriptor is None:
        yield False
        return
    try:
        free = os.fstat(descriptor).st_uid == os.geteuid()
        if free:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield free
    finally:
        os.close(descriptor)


@contextmanager
def exclusive(folder: Path, patience: float = 0) -> Iterator[int]:
    """Keep a folder for this process and those that inherit the descriptor, which the block gets.

    Raises `BlockingIOError` if another process has it, and still has it after `patience` seconds.

    Where folders cannot be opened, a byte of the file `.lock` in the folder is locked instead.
    """
    descriptor = open_folder(folder)
    if descriptor is None:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | BINARY, 0o600)
    try:
        _lock(descriptor, until=time.monotonic() + patience)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, until: float) -> None:
    while True:
        try:
            return _lock_now(descriptor)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        time.sleep(0.01)


def _lock_now(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    windows = _module("msvcrt")
    try:
        windows.locking(descriptor, windows.LK_NBLCK, 1)
    except OSError as error:
        raise BlockingIOError(*error.args) from error


def flush(path: Path) -> None:
    """Make a file or the entries of a folder durable. Where folders cannot be opened, theirs are left to the system."""
    if fcntl is None and path.is_dir():
        return
    # Windows flushes only what was opened for writing.
    descriptor = os.open(path, os.O_RDONLY if fcntl is not None else os.O_RDWR | BINARY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def restrict(descriptor: int) -> None:
    """Let nobody but the owner read or write an open file. On Windows, the folder's access rules apply."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, 0o600)
