"""Tight loops as machine code: compiled at their first call, kept on disk for the next run."""

from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Compiled(Generic[Arguments, Result]):
    """A function of arrays that numba compiles when it is first called. It may call others of its kind."""

    def __init__(self, loop: Callable[Arguments, Result]) -> None:
        self._loop = loop
        self._lock = Lock()
        self._machine_code: Callable[Arguments, Result] | None = None
        update_wrapper(self, loop)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return (self._machine_code or self.machine_code())(*arguments, **named)

    def machine_code(self) -> Callable[Arguments, Result]:
        """numba's own function, made once however many threads ask."""
        with self._lock:
            if self._machine_code is None:
                self._machine_code = _njit(_with_machine_code_inside(self._loop))
            return self._machine_code


def compiled(loop: Callable[Arguments, Result]) -> Compiled[Arguments, Result]:
    """Let numba compile a loop over arrays, which then runs without the interpreter's lock.

    numba itself is imported at the first call, so that a command that reads no rows does without it. Indices are not
    checked, and unsigned ones are quicker, for nobody asks whether they are negative.
    """
    return Compiled(loop)


def _with_machine_code_inside(loop: Any) -> Any:
    """The loop with every compiled function that it names replaced by numba's own, which numba can see through."""
    named = {name: loop.__globals__.get(name) for name in loop.__code__.co_names}
    inner = {name: value.machine_code() for name, value in named.items() if isinstance(value, Compiled)}
    if not inner:
        return loop
    copy = FunctionType(loop.__code__, {**loop.__globals__, **inner}, loop.__name__, loop.__defaults__)
    return update_wrapper(copy, loop)


def _njit(loop: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    import numba

    try:
        quick: Callable[Arguments, Result] = numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:
        # Neither beside the package nor in the user's home can a cache be written: compiled anew in each process.
        quick = numba.njit(nogil=True)(loop)
    return quick
