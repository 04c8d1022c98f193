"""Where ledgers, their keys and the witness are kept, and the rules for such files: one name, and no access for others.

SQLite keeps a log (`-wal`) beside the name by which a file was opened. A ledger with two names therefore has two logs,
and charges written to one are lost in the other: links are refused. Files that other users can read or write are
refused too, with the command that restricts them.
"""

import os
import shlex
import stat
from pathlib import Path

from scumble.errors import InputError, ScumbleError
from scumble.settings import setting, user_folder

BESIDE = ("", "-wal", "-shm", "-journal")
"""The files that SQLite keeps for a database, by what follows its name."""


def default_path() -> Path:
    """The setting `ledger`, or else `scumble/ledger.db` in the system's folder for user data."""
    named = setting("ledger")
    return Path(named) if named else user_folder("data") / "scumble" / "ledger.db"


def default_witness() -> Path:
    """The setting `witness`, or else `scumble/witness.db` in the system's folder for user data."""
    named = setting("witness")
    return Path(named) if named else user_folder("data") / "scumble" / "witness.db"


def keys_folder() -> Path | None:
    """The setting `ledger-keys`, the folder for the keys of new ledgers; None to keep each beside its ledger."""
    named = setting("ledger-keys")
    return Path(named) if named else None


def make_file(path: Path, *, what: str, remedy: str) -> None:
    """Create a file if it does not exist, with access for its owner only. `what` and `remedy` are for messages.

    An existing file is never opened here: closing it would drop the locks that SQLite holds on it in this process.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass  # another process created it first; a file in place of the folder is found below
    except OSError as error:
        raise ScumbleError(f"{what} {path} cannot be created: {error.strerror}. {remedy}") from error
    if not path.is_file():
        raise InputError(f"{what} {path} is not a file. {remedy}")


def check_one_name(path: Path, *, what: str) -> None:
    """Refuse a symbolic link and a file that has a second name (hard link)."""
    found = _status(path)
    if found is None:
        return
    if stat.S_ISLNK(found.st_mode):
        raise InputError(
            f"{what} {path} is a symbolic link. Charges could be lost: its log would be kept beside the link or beside "
            f"the file. Name the file itself: {shlex.quote(str(path.resolve()))}"
        )
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise InputError(
            f"{what} {path} has {found.st_nlink} names (hard links). Charges made under one name could be lost under "
            f"the other. Delete the other names; find them with: find / -xdev -samefile {shlex.quote(str(path))}"
        )


def check_private(path: Path, *, what: str) -> None:
    """Refuse a file that other users can read or write."""
    found = _status(path)
    if found is None or os.name == "nt":
        return
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        raise InputError(
            f"{what} {path} can be read or written by other users (mode {mode:04o}). Restrict it: "
            f"chmod 600 {shlex.quote(str(path))}"
        )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None  # no such file; what else is wrong with the path is found when it is opened
