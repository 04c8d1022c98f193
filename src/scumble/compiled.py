"""Functions over arrays that numba compiles at their first call. The machine code is cached on disk."""

from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Compiled(Generic[Arguments, Result]):
    """A function over arrays that numba compiles when it is first called. It may call other compiled functions."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        self._function = function
        self._lock = Lock()
        self._machine_code: Callable[Arguments, Result] | None = None
        update_wrapper(self, function)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return (self._machine_code or self.machine_code())(*arguments, **named)

    def machine_code(self) -> Callable[Arguments, Result]:
        """The function that numba made. It is compiled once, even if several threads call it first."""
        with self._lock:
            if self._machine_code is None:
                self._machine_code = _njit(_with_machine_code_inside(self._function))
            return self._machine_code


def compiled(function: Callable[Arguments, Result]) -> Compiled[Arguments, Result]:
    """Decorator: let numba compile a loop over arrays. It then runs without the interpreter's lock.

    numba is imported at the first call, so that a command that reads no rows does not wait for it. Indices are not
    checked. Unsigned indices are faster, because numba does not test whether they are negative.
    """
    return Compiled(function)


def _with_machine_code_inside(function: Any) -> Any:
    """The function with every compiled function that it calls replaced by numba's version, which numba can inline."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    inner = {name: value.machine_code() for name, value in named.items() if isinstance(value, Compiled)}
    if not inner:
        return function
    copy = FunctionType(function.__code__, {**function.__globals__, **inner}, function.__name__, function.__defaults__)
    return update_wrapper(copy, function)


def _njit(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    import numba

    try:
        machine_code: Callable[Arguments, Result] = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # No cache can be written, neither beside the package nor in the user's home: each process compiles again.
        machine_code = numba.njit(nogil=True)(function)
    return machine_code
