"""Object files: a name for everything the machine code depends on, and damaged files are not loaded."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scumble.compiled import Compiled, compiled
from scumble.compiled.arguments import flatten
from scumble.compiled.by_numba import object_code
from scumble.compiled.store import SUFFIX, file_name, folders, read_object, write_object

LINES = """
STEP = {step}

@compiled
def inner(number):
    return number + {inner}

@compiled
def outer(numbers, total):
    for number in numbers:
        total[0] += STEP * inner(number)
"""


def made(*, step: object = 2, inner: int = 1, text: str = LINES) -> Compiled[Any, Any]:
    names: dict[str, Any] = {"compiled": compiled, "__name__": "made"}
    exec(compile(text.format(step=step, inner=inner), "made.py", "exec"), names)
    found = names["outer"]
    assert isinstance(found, Compiled)
    return found


ARGUMENTS = (np.arange(3), np.zeros(1, dtype=np.int64))


def named(function: Compiled[Any, Any], arguments: tuple[Any, ...] = ARGUMENTS) -> str:
    return file_name(function, flatten(arguments, []))


def test_the_name_depends_on_all_that_the_code_depends_on() -> None:
    names = {
        named(made()),
        named(made(step=3)),
        named(made(step=2.0)),
        named(made(inner=4)),
        named(made(text=LINES.replace("total[0] +=", "total[0] -="))),
        named(made(), (np.arange(3.0), ARGUMENTS[1])),
        named(made(), (np.arange(6)[::2], ARGUMENTS[1])),
    }
    assert len(names) == 7


def test_the_name_does_not_depend_on_where_the_function_stands() -> None:
    assert named(made()) == named(made(text="\n\n# elsewhere\n" + LINES))


def test_a_damaged_file_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    function, total = made(), np.zeros(1, dtype=np.int64)
    function(np.arange(3), total)
    (path,) = tmp_path.glob(f"*{SUFFIX}")
    whole = path.read_bytes()
    for damaged in (b"", b"{}\n", whole[:-1], whole.replace(b"sha256", b"sha255"), b"\x00" + whole):
        path.write_bytes(damaged)
        assert read_object(made(), flatten(ARGUMENTS, [])) is None
    made()(np.arange(3), total)
    assert read_object(made(), flatten(ARGUMENTS, [])) is not None
    assert total == 2 * 2 * (1 + 2 + 3)


def test_what_is_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "a" / "b"))
    code, kinds = object_code(made(), ARGUMENTS), flatten(ARGUMENTS, [])
    write_object(made(), kinds, code)
    assert read_object(made(), kinds) == code
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert [folder.name for folder in folders(made())] == ["__pycache__", "machine-code"]
