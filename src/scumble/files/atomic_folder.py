"""Atomic creation of folders: files are written into a temporary folder beside the target, which is then renamed."""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scumble import interrupts
from scumble.errors import Abort, InputError, ScumbleError
from scumble.locked_folders import locked_folder
from scumble.portable import flush

PREFIX = ".scumble-unfinished-"


class Staging:
    """An unfinished folder. `publish` makes it durable under its final name."""

    def __init__(self, target: Path, folder: Path) -> None:
        self.target = target
        self.folder = folder
        self.published = False
        """Whether the folder has its final name."""

    def publish(self) -> None:
        """Flush all files to the disk and rename the folder to its target."""
        for path in [*self.folder.iterdir(), self.folder]:
            interrupts.check()
            flush(path)
        try:
            if _exists(self.target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            self.folder.rename(self.target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            raise InputError(
                f"{self.target} was created during the run, and is never overwritten. Give another --out."
            ) from error
        self.published = True
        try:
            self.target.chmod(0o755)  # not before: if the renaming fails, nobody else may read the folder
            flush(self.target.parent)
        except OSError as error:
            raise ScumbleError(
                f"The folder {self.target} is complete, but the disk did not confirm its name and mode: "
                f"{error.strerror}. Check the disk, then run `scumble verify`.",
                abort=Abort.MACHINE,
            ) from error


@contextmanager
def staging(target: Path) -> Iterator[Staging]:
    """An empty folder beside `target`. It is removed at the end unless it was published.

    A folder that a killed run left behind is not locked. The next run in the same place removes it.
    """
    target = target.absolute()
    with ExitStack() as stack:
        try:
            if _exists(target):
                raise InputError(f"{target} exists already, and is never overwritten. Give another --out.")
            stack.enter_context(_parents_created(target.parent))
            _exists(target)  # a name that is too long is only found once the parent exists
            folder = stack.enter_context(locked_folder(target.parent, PREFIX))
        except OSError as error:
            raise ScumbleError(
                f"Cannot create the folder {target}: {error.strerror}. Nothing was charged. Choose another --out."
            ) from error
        yield Staging(target, folder)


@contextmanager
def _parents_created(folder: Path) -> Iterator[None]:
    """Create a folder and its parents. Those that were created here and are empty at the end are removed again."""
    created = [each for each in (folder, *folder.parents) if not _exists(each)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        with suppress(OSError):
            for each in created:
                each.rmdir()


def _exists(path: Path) -> bool:
    """Whether a name is taken, even by a broken link."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True
