"""What pages compute from files that do not change: once for each key, in a thread, so that no page waits for it.

A page asks, waits for a moment, and shows what is ready. What is not ready it names, and asks again.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

Computed = TypeVar("Computed")
Key = tuple[Path, str]
"""A file or folder, and what identifies its content and what is wanted of it."""
PATIENCE_SECONDS = 0.05
"""How long a page waits for what it asks for at once."""
MOST_KEPT = 100
"""Results that are kept; the one that was not asked for the longest is dropped first."""

_kept: OrderedDict[Key, Future[Any]] = OrderedDict()
_changing = Lock()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="computed")


def all_when_ready(wanted: Mapping[Key, Callable[[], Computed]]) -> dict[Key, Computed | None]:
    """The result of each function, computed once for its key; None where it is not ready. Raises what one raised."""
    futures = {key: _future(key, compute) for key, compute in wanted.items()}
    wait(futures.values(), timeout=PATIENCE_SECONDS)
    return {key: future.result() if future.done() else None for key, future in futures.items()}


def when_ready(key: Key, compute: Callable[[], Computed]) -> Computed | None:
    """The same for one function."""
    return all_when_ready({key: compute})[key]


def _future(key: Key, compute: Callable[[], Computed]) -> Future[Any]:
    with _changing:
        if key not in _kept:
            _kept[key] = _pool().submit(compute)
        _kept.move_to_end(key)
        finished = [each for each, future in _kept.items() if future.done() and each != key]
        for each in finished[: max(0, len(_kept) - MOST_KEPT)]:
            del _kept[each]
        return _kept[key]
