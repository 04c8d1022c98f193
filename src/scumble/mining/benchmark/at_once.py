"""Trains on all cores: jobs that do not depend on each other run at once, in threads.

scikit-learn grows its trees without the interpreter's lock. Every job is the same whether it runs alone or beside
others, and results are returned in the order of the jobs, so that no figure depends on the number of cores.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from scumble.installation import is_installed
from scumble.mining.benchmark.pruning import Jobs, RunJobs

LEAST_ROWS = 20_000
"""With fewer distinct rows, one thread is as fast: the jobs take milliseconds."""

Result = TypeVar("Result")
Done = Callable[[], None]
"""Called when a job has ended."""


def all_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def at_once(rows: int, done: Done, *, cores: int | None = None) -> Iterator[RunJobs]:
    """Runs jobs on as many threads as there are cores, if there are many rows. `done` is called after every job."""
    threads = 1 if rows < LEAST_ROWS else cores or all_cores()

    def noted(job: Callable[[], Any]) -> Any:
        result = job()
        done()
        return result

    if threads == 1:
        yield lambda jobs: [noted(job) for job in jobs]
        return
    with ThreadPoolExecutor(threads, initializer=one_thread) as pool:

        def run(jobs: Jobs) -> list[Any]:
            return list(pool.map(noted, jobs))

        yield run


def side_by_side(work: Mapping[str, Callable[[], Result]]) -> dict[str, Result]:
    """Begins several pieces of work that mostly wait for jobs in the same pool, and returns their results by name."""
    if len(work) < 2:
        return {name: begin() for name, begin in work.items()}
    with ThreadPoolExecutor(len(work), initializer=one_thread) as pool:
        begun = {name: pool.submit(begin) for name, begin in work.items()}
        return {name: each.result() for name, each in begun.items()}


def one_thread() -> AbstractContextManager[object]:
    """One thread for each model of scikit-learn, whose sums depend on their number; nothing if it is not installed.

    OpenMP keeps this limit for each thread that begins parallel work, so every thread that trains has to set it.
    """
    if not is_installed("evaluate"):
        return nullcontext()
    import sklearn.ensemble  # noqa: F401 - the limit applies to libraries that are loaded
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="openmp")
