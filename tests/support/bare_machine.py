"""Runs commands of scumble as on a machine that lacks things: `python bare_machine.py extras,posix < COMMANDS`.

The commands are a JSON list of lists of words; the results are printed as JSON.

`extras`: only the packages of the core can be imported. `posix`: what Windows lacks is missing (fcntl, SIGHUP, flags of
`open`, folders that can be opened as files, flushing of what was opened for reading). This is no Windows: paths, locks
and the rest are still those of this machine.
"""

import io
import json
import os
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from scumble.installation import EXTRAS

EXTRA_MODULES = {module for extra in EXTRAS.values() for module in extra.packages.values()}
EXTRA_MODULES |= {"joblib", "polars", "openpyxl", "adbc_driver_manager", "platformdirs"}
MISSING_FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_DIRECTORY")


class Without:
    """A finder of modules that does not find some of those that another finder finds."""

    def __init__(self, finder: Any, modules: set[str]) -> None:
        self.finder = finder
        self.modules = modules

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return None if name.partition(".")[0] in self.modules else self.finder.find_spec(name, path, target)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.finder, name)


def hide(modules: set[str]) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in modules]:
        del sys.modules[name]
    sys.meta_path[:] = [Without(finder, modules) for finder in sys.meta_path]


def remove_posix() -> None:
    import tempfile  # noqa: F401 - what the standard library has looked up already
    import threading  # noqa: F401

    hide({"fcntl"})
    for name in MISSING_FLAGS:
        delattr(os, name)
    del os.geteuid, os.fchmod, signal.SIGHUP
    opened, synced, listed = os.open, os.fsync, os.listdir
    flags_of: dict[int, int] = {}

    def open_file(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if named.get("dir_fd") is not None or Path(path).is_dir():
            raise PermissionError(13, "Permission denied", path)
        descriptor = opened(path, flags, *rest, **named)
        flags_of[descriptor] = flags
        return descriptor

    def fsync(descriptor: int) -> None:
        if flags_of.get(descriptor, os.O_RDWR) & (os.O_RDWR | os.O_WRONLY) == 0:
            raise OSError(9, "Bad file descriptor")
        synced(descriptor)

    def listdir(path: Any = ".") -> list[str]:
        if isinstance(path, int):
            raise TypeError("listdir: path should be string, not int")
        return listed(path)

    os.open, os.fsync, os.listdir = open_file, fsync, listdir


def run(words: list[str]) -> dict[str, Any]:
    from scumble.cli import main

    sys.argv = ["scumble", *words]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            return {"code": end.code or 0, "out": out.getvalue(), "err": err.getvalue()}
    raise AssertionError("the command line always exits")


if __name__ == "__main__":
    del sys.path[0]  # this folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "scumble"]:
        del sys.modules[name]  # so that it is imported anew, without what is missing
    if "extras" in sys.argv[1]:
        hide(EXTRA_MODULES)
    if "posix" in sys.argv[1]:
        remove_posix()
    sys.stdout.write(json.dumps([run(words) for words in json.load(sys.stdin)]))
