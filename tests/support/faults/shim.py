"""Compiles the shim, and arms it in a process that was started with it."""

import ctypes
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("shim.c")
PATH = "SCUMBLE_FAULT_SHIM"
"""The environment variable with the path of the compiled shim."""

KINDS = {"open": 1, "read": 2, "write": 4, "sync": 8, "name": 16, "lock": 32, "step": 64}
"""What is counted: opening, reading and writing files; fsync; rename, unlink, mkdir, rmdir and chmod; locks; steps of
SQLite statements."""
ACTIONS = {"count": 0, "fail": 1, "kill": 2, "kill after": 3, "tear": 4, "signal": 5, "grant": 6, "clock": 7}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What happens at which call. `at` counts from one; `times` is -1 for all later calls too."""

    kinds: tuple[str, ...]
    action: str = "count"
    at: int = 0
    error: int = 0
    """An errno, or the number of a signal."""
    times: int = 1
    delay: float = 0
    """Seconds that every counted call takes longer."""
    clock: int = 0
    """Seconds by which the clock jumps at the call."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compile_shim(folder: Path) -> Path:
    """The compiled shim, in a folder."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SystemExit("the fault harness needs a C compiler: install gcc or clang")
    made = folder / "shim.so"
    command = [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return made


def environment(made: Path) -> dict[str, str]:
    """The environment of a process that has the shim."""
    return {**os.environ, "LD_PRELOAD": str(made), PATH: str(made)}


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(os.environ[PATH])
    library.fault_count.restype = ctypes.c_long
    long = ctypes.c_long
    library.fault_arm.argtypes = [ctypes.c_char_p, ctypes.c_int, long, ctypes.c_int, ctypes.c_int, long, long, long]
    return library


def arm(root: Path, plan: Plan) -> None:
    """Count calls on files below a folder from now on, and do what the plan says."""
    kinds = sum(KINDS[kind] for kind in plan.kinds)
    _library().fault_arm(
        os.fsencode(root.resolve()),
        kinds,
        plan.at,
        ACTIONS[plan.action],
        plan.error,
        plan.times,
        round(plan.delay * 1e6),
        plan.clock,
    )


def disarm() -> int:
    """Do nothing any more; the number of calls that were counted."""
    number = int(_library().fault_count())
    _library().fault_disarm()
    return number
