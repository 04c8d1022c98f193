"""Loops as machine code: what they give, and that no folder to write into is needed for it."""

from typing import Any

import numba
import numpy as np
import pytest

from scumble.compiled import compiled


def add(codes: Any, total: Any) -> None:
    for code in codes:
        total[0] += code


def test_a_compiled_loop_does_what_the_loop_does() -> None:
    codes = np.arange(100, dtype=np.uint8)
    plain, quick = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    add(codes, plain)
    compiled(add)(codes, quick)
    assert quick == plain == 4950


def test_where_no_cache_can_be_written_the_loop_is_compiled_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    njit = numba.njit

    def nowhere_to_write(*, nogil: bool, cache: bool = False) -> Any:
        tried.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")  # what numba says, at decoration
        return njit(nogil=nogil)

    monkeypatch.setattr(numba, "njit", nowhere_to_write)
    total = np.zeros(1, dtype=np.int64)
    quick = compiled(add)
    quick(np.arange(4, dtype=np.uint8), total)
    quick(np.arange(4, dtype=np.uint8), total)
    assert total == 12
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
