"""Temporary folders that do not outlive their run: locked while it runs, and removed at its end.

A run that is killed cannot remove its folder, but it loses its lock. The next run in the same place removes it.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scumble import interrupts, portable

GRACE_SECONDS = 60
"""A folder younger than this may belong to a run that has not locked it yet."""


@contextmanager
def locked_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """An empty folder with mode 0700, removed at the end. Folders that killed runs left behind are removed first."""
    _remove_abandoned(parent, prefix)
    with _cleaned_up() as clean_up:
        with interrupts.delayed():
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            clean_up.callback(_remove_empty, folder)
            descriptor = portable.open_folder(folder)
            if descriptor is not None:
                clean_up.callback(os.close, descriptor)
            clean_up.callback(_remove, folder, descriptor)
            portable.lock_folder(descriptor)
        yield folder


@contextmanager
def _cleaned_up() -> Iterator[ExitStack]:
    """Callbacks that are called at the end, at whatever moment a signal arrives."""
    clean_up = ExitStack()
    try:
        try:
            yield clean_up
        finally:
            with interrupts.delayed():
                clean_up.close()
    finally:  # a signal may arrive just before the line that delays it
        with interrupts.delayed():
            clean_up.close()


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # it was removed, or renamed to its final name
        folder.rmdir()


def _remove(folder: Path, descriptor: int | None) -> None:
    """Remove a folder by its open descriptor: if files can no longer be opened, it can still be emptied."""
    if descriptor is None:
        shutil.rmtree(folder, ignore_errors=True)
    elif _is_still(folder, descriptor):
        for name in os.listdir(descriptor):  # noqa: PTH208 - by its descriptor
            with suppress(OSError):  # a folder, which is removed below
                os.unlink(name, dir_fd=descriptor)
        _remove_empty(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _is_still(folder: Path, descriptor: int) -> bool:
    """Whether the name still means the open folder, which may have been renamed."""
    try:
        return os.path.samestat(folder.lstat(), os.fstat(descriptor))
    except OSError:
        return False


def _remove_abandoned(parent: Path, prefix: str) -> None:
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # the folder of a run that just finished, or of another user
            if time.time() - folder.lstat().st_mtime >= GRACE_SECONDS:
                _remove_unlocked(folder)


def _remove_unlocked(folder: Path) -> None:
    with portable.abandoned(folder) as free:
        if free:
            shutil.rmtree(folder, ignore_errors=True)
