"""Slow views are computed once, in a thread: a page never waits for one."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from scumble.errors import InputError
from scumble.studio.computed import MOST_KEPT, PATIENCE_SECONDS, all_when_ready, when_ready


def test_a_page_does_not_wait_for_what_is_slow(tmp_path: Path) -> None:
    finish, calls = Event(), list[int]()

    def slow() -> str:
        calls.append(1)
        finish.wait(60)
        return "ready"

    began = time.monotonic()
    assert all_when_ready({(tmp_path, f"slow {number}"): slow for number in range(4)}) == {
        (tmp_path, f"slow {number}"): None for number in range(4)
    }
    assert time.monotonic() - began < 4 * PATIENCE_SECONDS + 1, "one wait for all of them"
    finish.set()
    until = time.monotonic() + 60
    while (found := when_ready((tmp_path, "slow 0"), slow)) is None:
        assert time.monotonic() < until
    assert found == "ready"
    for number in range(1, 4):
        while when_ready((tmp_path, f"slow {number}"), slow) is None:
            assert time.monotonic() < until
    assert len(calls) == 4, "each was computed once"


def computed(key: tuple[Path, str], compute: Callable[[], int]) -> int:
    until = time.monotonic() + 60
    while (found := when_ready(key, compute)) is None:
        assert time.monotonic() < until
    return found


def test_what_was_wrong_is_raised_each_time(tmp_path: Path) -> None:
    def wrong() -> int:
        raise InputError("There is no such column.")

    for _ in range(2):
        with pytest.raises(InputError, match="no such column"):
            computed((tmp_path, "wrong"), wrong)


def test_not_everything_is_kept(tmp_path: Path) -> None:
    calls = list[int]()

    def compute() -> int:
        calls.append(1)
        return len(calls)

    for number in range(MOST_KEPT + 5):
        assert computed((tmp_path, f"many {number}"), compute) == number + 1
    assert computed((tmp_path, f"many {MOST_KEPT}"), compute) == MOST_KEPT + 1
    assert computed((tmp_path, "many 0"), compute) == MOST_KEPT + 6, "the oldest was dropped, and is computed again"
