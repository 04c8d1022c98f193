"""Loads object files into this process with llvmlite, and calls the functions inside."""

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from scumble.compiled.arguments import NUMBERS, Kinds, c_types

TESTED = ("0.68",)
"""The versions of numba whose calling convention was tested. It is not part of numba's public interface, so with any
other version numba itself calls the functions: slower to start, and the same results."""
AVAILABLE = (
    sys.platform in ("linux", "darwin")
    and ctypes.sizeof(ctypes.c_long) == 8
    and version("numba").rpartition(".")[0] in TESTED
)
"""Whether machine code is loaded without numba: on the systems and with the versions where this is tested."""
RESULTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    **{name: (kind, bool if name in ("bool", "?") else lambda number: number) for name, kind in NUMBERS.items()},
    "none": (ctypes.c_void_p, lambda pointer: None),
}
"""For each kind of result: its type, and how it is shown to Python."""
DONE = (0, -2)
"""The statuses with which a function ends if it raised no exception, by numba's convention: with a result, and with
None."""


class NoMachineCode(RuntimeError):
    """A function that only numba can call."""


@dataclass(frozen=True, kw_only=True)
class ObjectCode:
    """A compiled function as an object file."""

    name: str
    """The function's symbol; empty if only numba can call it."""
    result: str
    """The kind of its result, or "none"."""
    needed: tuple[str, ...]
    """Symbols that the process must provide: functions of the C library."""
    content: bytes


@dataclass(frozen=True, eq=False, kw_only=True)
class NativeFunction:
    """A function in memory."""

    pointer: Any
    kind: Any
    """The type of its result."""
    convert: Callable[[Any], Any]
    engine: Any
    """The owner of the code in memory."""

    def __call__(self, numbers: list[Any]) -> tuple[bool, Any]:
        """Whether it ended without an exception, and its result."""
        result, exception = self.kind(), ctypes.c_void_p()
        status = self.pointer(ctypes.addressof(result), ctypes.addressof(exception), *numbers)
        return status in DONE, self.convert(result.value)


def load(code: ObjectCode, kinds: Kinds) -> NativeFunction:
    """The function of an object file, ready to be called with arguments of these kinds."""
    if not code.name:
        raise NoMachineCode
    llvm = _llvm()
    for symbol in code.needed:
        _provide(symbol)
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.content))
    engine.finalize_object()
    numbers = [each for kind in kinds for each in c_types(kind)]
    signature = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *numbers)
    pointer = signature(engine.get_function_address(code.name))
    kind, convert = RESULTS[code.result]
    return NativeFunction(pointer=pointer, kind=kind, convert=convert, engine=engine)


@cache
def _provide(symbol: str) -> None:
    """Let machine code find a function of the C library."""
    found = getattr(ctypes.CDLL(None), symbol, None)
    address = None if found is None else ctypes.cast(found, ctypes.c_void_p).value
    if address is None:
        raise NoMachineCode
    _llvm().add_symbol(symbol, address)


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # recent versions initialize themselves, and refuse
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def processor() -> str:
    """The processor's name and features: machine code for another one may fail."""
    llvm = _llvm()
    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
