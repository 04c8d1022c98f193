"""Loops as machine code: what they give for every kind of argument, and that numba is not needed a second time."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from scumble.compiled import Compiled, compiled
from scumble.compiled.arguments import ITEMS, c_types, flatten
from scumble.compiled.machine_code import processor


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))


def add(codes: Any, total: Any) -> None:
    for code in codes:
        total[0] += code


def test_a_compiled_loop_does_what_the_loop_does() -> None:
    codes = np.arange(100, dtype=np.uint8)
    plain, quick = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    add(codes, plain)
    compiled(add)(codes, quick)
    assert quick == plain == 4950


def test_where_nothing_can_be_written_the_loop_is_compiled_without_keeping_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    total = np.zeros(1, dtype=np.int64)
    quick = compiled(add)
    quick(np.arange(4, dtype=np.uint8), total)
    quick(np.arange(4, dtype=np.uint8), total)
    assert total == 12


def test_where_numba_can_write_no_cache_it_compiles_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    njit = numba.njit

    def nowhere_to_write(*, nogil: bool, cache: bool = False) -> Any:
        tried.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")  # what numba says, at decoration
        return njit(nogil=nogil)

    monkeypatch.setattr(numba, "njit", nowhere_to_write)
    total = np.zeros(1, dtype=np.int64)
    compiled(add).by_numba()(np.arange(4, dtype=np.uint8), total)
    assert total == 6
    assert tried == [True, False]


@compiled
def double(number: Any) -> Any:
    return 2 * number


@compiled
def add_doubled(codes: Any, total: Any) -> None:
    for code in codes:
        total[0] += double(code)


def test_a_compiled_loop_may_call_another() -> None:
    total = np.zeros(1, dtype=np.int64)
    add_doubled(np.arange(5, dtype=np.uint8), total)
    assert total == 20
    assert double(4) == 8


class Pair(NamedTuple):
    numbers: Any
    positive: bool
    factor: int


@compiled
def of_pair(pair: Any, steps: Any, scale: Any) -> Any:
    total = 0.0
    for row in range(pair.numbers.shape[0]):
        for column in range(pair.numbers.shape[1]):
            total += pair.numbers[row, column] * steps[row]
    return scale * pair.factor * total * (1 if pair.positive else -1)


@pytest.mark.parametrize("layout", ["C", "transposed", "sliced", "read-only"])
def test_arrays_of_any_layout_tuples_and_single_numbers(layout: str) -> None:
    numbers = np.arange(12, dtype=np.int32).reshape(3, 4)
    if layout == "transposed":
        numbers = np.ascontiguousarray(numbers.T).T
    elif layout == "sliced":
        numbers = np.repeat(numbers, 2, axis=1)[:, ::2]
    numbers.flags.writeable = layout != "read-only"
    steps = np.array([1.0, 0.5, -2.0])
    for positive in (True, False):
        pair = Pair(numbers, positive, 3)
        assert of_pair(pair, steps, np.float64(0.5)) == of_pair.function(pair, steps, 0.5)


@compiled
def largest(numbers: Any) -> Any:
    found = numbers[0]
    for number in numbers:
        found = max(found, number)
    return found


@pytest.mark.parametrize("kind", [kind for kind in ITEMS if kind != "?"])
def test_items_and_results_of_every_kind(kind: str) -> None:
    numbers = np.array([3, 100, 7], dtype=kind)
    assert largest(numbers) == 100


@compiled
def any_above(numbers: Any, limit: Any) -> Any:
    found = False
    for number in numbers:
        found = found or number > limit
    return found


@compiled
def divided(numbers: Any, by: Any) -> Any:
    return numbers[0] // by


@compiled
def reversed_copy(numbers: Any) -> Any:
    return numbers[::-1].copy()


def test_truth_values_exceptions_and_arrays_as_results() -> None:
    numbers = np.array([8, 2])
    assert any_above(numbers, 5) is True
    assert any_above(numbers, 9) is False
    assert divided(numbers, 4) == 2
    with pytest.raises(ZeroDivisionError):
        divided(numbers, 0)
    assert reversed_copy(numbers).tolist() == [2, 8]  # an array as result is numba's affair
    assert reversed_copy(numbers=numbers).tolist() == [2, 8]  # and so are arguments by name


@compiled
def sum_of_squares(numbers: Any) -> Any:
    squares = np.empty(len(numbers))
    for row in range(len(numbers)):
        squares[row] = numbers[row] ** 2
    total = 0.0
    for row in range(len(numbers)):
        total += squares[row]
    return total


def test_arrays_made_inside_a_loop_are_freed_and_threads_do_not_disturb_each_other() -> None:
    numbers = np.arange(200_000.0)
    expected = float(sum_of_squares.function(numbers[:1000]))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: sum_of_squares(numbers[:1000]), range(40))) == {expected}
    sum_of_squares(numbers)
    before = _resident()
    for _ in range(300):
        sum_of_squares(numbers)
    assert _resident() - before < 100, "megabytes, of 480 that were allocated"


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_the_numbers_of_an_argument_have_the_stated_types() -> None:
    arguments = (Pair(np.zeros((2, 3)), True, 1), 1.5, np.uint16(7), np.zeros(4, dtype=np.int8))
    numbers: list[Any] = []
    kinds = flatten(arguments, numbers)
    assert len(numbers) == sum(len(c_types(kind)) for kind in kinds)


PROGRAM = """
import sys
import numpy as np
from scumble.compiled import compiled

@compiled
def scaled(numbers, total):
    space = np.zeros(len(numbers))
    for row in range(len(numbers)):
        space[row] = np.exp(numbers[row])
    for row in range(len(numbers)):
        total[0] += space[row]

total = np.zeros(1)
scaled(np.arange(10.0), total)
print(repr(total[0].item()), "numba" in sys.modules)
"""


def test_a_second_process_needs_no_numba_and_gets_the_same_number(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    runs = [
        subprocess.run([sys.executable, str(tmp_path / "program.py")], check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    (first, with_numba), (second, without) = (run.stdout.split() for run in runs)
    assert (first, with_numba, without) == (second, "True", "False")


def test_the_processor_has_a_name() -> None:
    assert processor().split()


def test_a_compiled_function_keeps_its_name() -> None:
    assert isinstance(double, Compiled)
    assert double.__name__ == "double"


def test_with_a_version_of_numba_that_was_not_tested_numba_calls_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.compiled.AVAILABLE", False)

    @compiled
    def summed(values: Any) -> Any:
        total = 0.0
        for value in values:
            total += value
        return total

    assert summed(np.arange(5.0)) == 10.0
    assert summed._loaded == {}, "no machine code was loaded past numba"
