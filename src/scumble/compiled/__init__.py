"""Functions over arrays as machine code: compiled by numba at their first call, kept on disk, loaded without numba.

Loading numba takes about a second, which is more than most commands need for all else. So the machine code of a loop is
kept as an object file, and the next process loads it with llvmlite alone.
"""

from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any, Generic, ParamSpec, TypeVar

from scumble.compiled.arguments import Kinds, UnknownKind, flatten
from scumble.compiled.machine_code import AVAILABLE, NativeFunction, NoMachineCode, load
from scumble.compiled.store import read_object, write_object

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_LOCK = RLock()
"""Compiling and loading are done by one thread at a time."""


class Compiled(Generic[Arguments, Returned]):
    """A function over arrays that is compiled when it is first called. It may call other compiled functions."""

    def __init__(self, function: Callable[Arguments, Returned]) -> None:
        self.function = function
        self._loaded: dict[Kinds, NativeFunction | None] = {}
        self._by_numba: Callable[Arguments, Returned] | None = None
        self.inlined: Any = None
        """numba's version of this function for others that call it, once there is one."""
        update_wrapper(self, function)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Returned:
        numbers: list[Any] = []
        try:
            if named or not AVAILABLE:
                raise UnknownKind
            kinds = flatten(arguments, numbers)
        except UnknownKind:
            return self.by_numba()(*arguments, **named)
        try:
            native = self._loaded[kinds]
        except KeyError:
            native = self._load(kinds, arguments)
        if native is not None:
            status, result = native(numbers)
            if status:
                return result
        # No machine code can be kept, or it failed: numba raises the exception of the Python function.
        return self.by_numba()(*arguments, **named)

    def by_numba(self) -> Callable[Arguments, Returned]:
        """The function as numba itself calls it."""
        with _LOCK:
            if self._by_numba is None:
                from scumble.compiled.by_numba import dispatcher

                self._by_numba = dispatcher(self)
            return self._by_numba

    def _load(self, kinds: Kinds, arguments: tuple[Any, ...]) -> NativeFunction | None:
        """The machine code for arguments of these kinds: from disk, or compiled now."""
        with _LOCK:
            if kinds not in self._loaded:
                found = read_object(self, kinds)
                if found is None:
                    from scumble.compiled.by_numba import object_code

                    found = object_code(self, arguments)
                    write_object(self, kinds, found)
                try:
                    self._loaded[kinds] = load(found, kinds)
                except NoMachineCode:
                    self._loaded[kinds] = None
            return self._loaded[kinds]


def compiled(function: Callable[Arguments, Returned]) -> Compiled[Arguments, Returned]:
    """Decorator: compile a loop over arrays. It then runs without the interpreter's lock.

    numba is imported when a loop must be compiled, so that other processes do not wait for it. Indices are not checked.
    Unsigned indices are faster, because numba does not test whether they are negative. An array that a loop does not
    write to may be read-only; that a loop writes only to the arrays it was given for this is not checked.
    """
    return Compiled(function)
