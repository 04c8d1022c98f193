"""Worker processes that draw runs of a mechanism, and how fast they are.

Workers end with the process that started them, however it ends: each watches a pipe whose other end only that process
holds. The pipe closes if the process is killed, too.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread

from scumble.auditing.mechanisms import Mechanism
from scumble.auditing.neighbours import CodedRows, Pair
from scumble.auditing.outcomes import Draws, together

DrawRuns = Callable[[Pair, CodedRows, int], Draws]
"""Draws a number of runs on one table of a pair."""
ORPHANED = 1
"""The exit code of a worker whose parent has ended."""


def all_cores() -> int:
    return os.cpu_count() or 1


@contextmanager
def worker_pool(mechanism: Mechanism, workers: int) -> Iterator[DrawRuns]:
    """A function that draws runs, in this process or in a pool of worker processes.

    If the block is left by an exception, such as that of Ctrl-C or SIGTERM, the workers end at once, in the middle of
    what they do.
    """
    if workers < 2:
        yield mechanism.draw
        return
    context = get_context("spawn")
    watched, held = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent, initargs=(watched,))

    def draw(pair: Pair, rows: CodedRows, runs: int) -> Draws:
        shares = [runs // workers + (worker < runs % workers) for worker in range(workers)]
        busy = [share for share in shares if share]
        return together(pool.map(_draw, repeat(mechanism), repeat(pair), repeat(rows), busy))

    try:
        yield draw
        pool.shutdown()
    finally:
        held.close()
        pool.shutdown(cancel_futures=True)
        watched.close()


def _end_with_parent(watched: Connection) -> None:
    """Let a thread wait for the end of the pipe, to which nobody writes."""

    def wait() -> None:
        watched.poll(None)
        os._exit(ORPHANED)

    Thread(target=wait, daemon=True).start()


def _draw(mechanism: Mechanism, pair: Pair, rows: CodedRows, runs: int) -> Draws:
    return mechanism.draw(pair, rows, runs)


class Pace:
    """Draws runs and notes how long they take."""

    def __init__(self, draw: DrawRuns, clock: Callable[[], float] = time.monotonic) -> None:
        self._draw, self._clock = draw, clock
        self._runs, self._seconds = 0, 0.0

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        began = self._clock()
        draws = self._draw(pair, rows, runs)
        self._runs, self._seconds = self._runs + runs, self._seconds + self._clock() - began
        return draws

    def restart(self) -> None:
        """Forget the runs so far: those of another pair may take longer."""
        self._runs, self._seconds = 0, 0.0

    def runs_within(self, seconds: float) -> int:
        """How many runs take so long, at the speed since the last restart."""
        return int(seconds * self._runs / max(self._seconds, 1e-9))
