"""Folders that appear whole or not at all: written under another name beside the target, then renamed."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
        if self.target.exists():
            raise InputError(f"{self.target} appeared while the release was made. Nothing of it was touched.")
        self.folder.chmod(0o755)
        self.folder.rename(self.target)
        _flush(self.target.parent)


@contextmanager
def staging(target: Path) -> Iterator[Staging]:
    """An empty folder beside `target`, gone afterwards unless it was published.

    What a killed run left behind is recognized by its lock being free, and removed by the next run beside it.
    """
    if target.exists():
        raise InputError(f"{target} exists already, and releases are never overwritten. Give another --out.")
    parent = target.absolute().parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except OSError as error:
        raise ScumbleError(
            f"No folder can be made in {parent}: {error.strerror}. Nothing was charged. Choose another --out."
        ) from error
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield Staging(target.absolute(), folder)
    finally:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            if time.time() - folder.stat().st_mtime < YOUNG_SECONDS:
                continue
            descriptor = os.open(folder, os.O_RDONLY)
        except OSError:
            continue  # published or swept by somebody else meanwhile, or another user's
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
