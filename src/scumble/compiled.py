"""Tight loops as machine code: compiled at their first call, kept on disk for the next run."""

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compiled(loop: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let numba compile a function of arrays, which then runs without the interpreter's lock.

    numba itself is imported at the first call of any such function: half of what a command that reads no rows would
    take. Indices are not checked, and unsigned ones are quicker, for numba need not ask whether they are negative.
    """
    lock = Lock()
    ready: list[Callable[Arguments, Result]] = []

    @wraps(loop)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        if not ready:
            with lock:
                if not ready:
                    ready.append(_compile(loop))
        return ready[0](*arguments, **named)

    return call


def _compile(loop: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    import numba

    try:
        quick: Callable[Arguments, Result] = numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:
        # Neither beside the package nor in the user's home can a cache be written: compiled anew in each process.
        quick = numba.njit(nogil=True)(loop)
    return quick
