"""Object files on disk: beside the package's byte code if that folder can be written, else in the user's cache.

A file's name contains a hash of everything the machine code depends on: the function's byte code, the constants and
functions that it uses, the kinds of its arguments, the processor, and the versions of Python, numba and llvmlite.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from scumble.compiled.arguments import Kinds
from scumble.compiled.machine_code import ObjectCode, processor
from scumble.foreign.documents import parse_json
from scumble.foreign.files import read_bytes
from scumble.settings import user_folder

if TYPE_CHECKING:
    from scumble.compiled import Compiled

SUFFIX = ".scumble-object"
FORMAT = "1"
"""Increase it when the files change."""


def read_object(function: "Compiled[Any, Any]", kinds: Kinds) -> ObjectCode | None:
    """The stored machine code; None if there is none."""
    name = file_name(function, kinds)
    for folder in folders(function):
        try:
            head, _, content = read_bytes(folder / name).partition(b"\n")
            stated = parse_json(head)
            if stated["sha256"] == hashlib.sha256(content).hexdigest():
                needed = tuple(stated["needed"])
                return ObjectCode(name=stated["name"], result=stated["result"], needed=needed, content=content)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # missing, or not what was written: compile again
    return None


def write_object(function: "Compiled[Any, Any]", kinds: Kinds, code: ObjectCode) -> None:
    """Store machine code in the first folder that can be written; nowhere if none can."""
    digest = hashlib.sha256(code.content).hexdigest()
    head = {"name": code.name, "result": code.result, "needed": code.needed, "sha256": digest}
    for folder in folders(function):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(dir=folder, suffix=SUFFIX)
        except OSError:
            continue
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps(head).encode() + b"\n" + code.content)
            Path(unfinished).replace(folder / file_name(function, kinds))
        except OSError:
            Path(unfinished).unlink(missing_ok=True)
            continue
        return


def folders(function: "Compiled[Any, Any]") -> tuple[Path, ...]:
    """Where object files lie, in the order of preference."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return (Path(named),)
    own = Path(function.function.__code__.co_filename).parent / "__pycache__"
    return (own, users_own())


def users_own() -> Path:
    """The folder of this user, for an installation that cannot be written."""
    return user_folder("cache") / "scumble" / "machine-code"


def file_name(function: "Compiled[Any, Any]", kinds: Kinds) -> str:
    parts = (FORMAT, _system(), repr(kinds), *_parts_of(function))
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"{function.function.__module__.rpartition('.')[2]}.{function.function.__name__}.{digest[:32]}{SUFFIX}"


@cache
def _system() -> str:
    return f"{sys.version} {version('numba')} {version('llvmlite')} {processor()}"


def _parts_of(function: "Compiled[Any, Any]") -> Iterator[str]:
    """Everything that the machine code of a function depends on, besides the kinds of its arguments."""
    from scumble.compiled import Compiled

    plain: Any = function.function
    yield from _parts_of_code(plain.__code__)
    yield from (repr(cell.cell_contents) for cell in plain.__closure__ or ())
    for name in sorted(set(plain.__code__.co_names)):
        value = plain.__globals__.get(name)
        if isinstance(value, Compiled):
            yield from _parts_of(value)
        elif isinstance(value, FunctionType):
            yield from _parts_of_code(value.__code__)
        elif not isinstance(value, ModuleType):
            yield f"{name}={value!r}"


def _parts_of_code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts_of_code(constant)
        else:
            yield repr(constant)
