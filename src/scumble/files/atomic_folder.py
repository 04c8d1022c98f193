"""Folders that appear whole or not at all: written under another name beside the target, then renamed."""

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scumble.errors import InputError, ScumbleError

PREFIX = ".scumble-unfinished-"
YOUNG_SECONDS = 60
"""A folder this young may belong to a run that has not locked it yet."""


class Staging:
    """An unfinished folder. `publish` makes it durable under its real name."""

    def __init__(self, target: Path, folder: Path) -> None:
        self.target = target
        self.folder = folder

    def publish(self) -> None:
        for path in [*self.folder.iterdir(), self.folder]:
            _flush(path)
        self.folder.chmod(0o755)
        try:
            if _stands(self.target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            self.folder.rename(self.target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            raise InputError(
                f"{self.target} appeared meanwhile, and is never overwritten. Give another --out."
            ) from error
        _flush(self.target.parent)


@contextmanager
def staging(target: Path) -> Iterator[Staging]:
    """An empty folder beside `target`, gone afterwards unless it was published.

    What a killed run left behind is recognized by its lock being free, and removed by the next run beside it.
    """
    target = target.absolute()
    with ExitStack() as stack:
        try:
            if _stands(target):
                raise InputError(f"{target} exists already, and is never overwritten. Give another --out.")
            stack.enter_context(_with_all_above(target.parent))
            _stands(target)  # only where the folder above is there does a name too long show
            _sweep(target.parent)
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=target.parent))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            raise ScumbleError(
                f"No folder {target} can be made: {error.strerror}. Nothing was charged. Choose another --out."
            ) from error
        yield Staging(target, folder)


@contextmanager
def _with_all_above(folder: Path) -> Iterator[None]:
    """A folder and all above it, where those made for the occasion go again if they stay empty."""
    made = [each for each in (folder, *folder.parents) if not _stands(each)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        with suppress(OSError):
            for each in made:
                each.rmdir()


def _stands(path: Path) -> bool:
    """Whether there is anything under a name, be it a link that leads nowhere."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another run's folder, just finished, or another user's
            if time.time() - folder.stat().st_mtime >= YOUNG_SECONDS:
                _remove_unlocked(folder)


def _remove_unlocked(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
