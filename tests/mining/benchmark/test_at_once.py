"""Jobs that train at once: each model in one thread, wherever it is trained."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from scumble.mining.benchmark.at_once import LEAST_ROWS, at_once, one_thread, side_by_side


def openmp_threads() -> list[int]:
    """The threads that OpenMP would use for parallel work that begins in this thread."""
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "openmp"]


@pytest.mark.parametrize("rows", [10, LEAST_ROWS])
def test_every_thread_that_trains_uses_one_thread_of_openmp(rows: int) -> None:
    """OpenMP's limit belongs to a thread. One that is set in the main thread does not hold in the threads of a pool."""
    with one_thread():
        pass  # the library is loaded now
    with threadpool_limits(limits=3, user_api="openmp"), one_thread(), at_once(rows, lambda: None, cores=2) as run:
        found = run([openmp_threads] * 4)
        found += side_by_side({"one": openmp_threads, "another": openmp_threads}).values()
    assert found
    assert {threads for each in found for threads in each} == {1}
