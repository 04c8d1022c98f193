"""Compiles functions with numba. The only module that imports numba."""

from functools import update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numba as _numba
import numpy as np
from llvmlite import binding as llvm
from numba import types as _types
from numba.np.numpy_support import from_dtype

from scumble.compiled.machine_code import ObjectCode

if TYPE_CHECKING:
    from scumble.compiled import Compiled

numba: Any = _numba  # most of it has no types
types: Any = _types
PROVIDED = frozenset(
    {"malloc", "free", "memset", "memcpy", "memmove", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow"}
    | {"sqrt", "floor", "ceil", "trunc", "rint", "round", "fabs", "fmod", "sin", "cos", "tan", "tanh", "lgamma", "erf"}
)
"""Functions of the C library that machine code may call. With any other symbol, only numba can load it."""
RESULTS = {
    types.none: "none",
    types.boolean: "bool",
    types.float32: "f",
    types.float64: "d",
    **{
        from_dtype(np.dtype(f"{sign}int{bits}")): np.dtype(f"{sign}int{bits}").char
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}
ALLOCATION = """
target triple = "{triple}"
target datalayout = "{layout}"
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {{
  %step = zext i32 %align to i64
  %room = add i64 %step, 48
  %total = add i64 %size, %room
  %base = call ptr @malloc(i64 %total)
  %failed = icmp eq ptr %base, null
  br i1 %failed, label %end, label %fill
fill:
  %number = ptrtoint ptr %base to i64
  %after = add i64 %number, 47
  %above = add i64 %after, %step
  %mask = sub i64 0, %step
  %begin = and i64 %above, %mask
  %data = inttoptr i64 %begin to ptr
  store i64 1, ptr %base
  %dtor = getelementptr i64, ptr %base, i64 1
  store ptr null, ptr %dtor
  %info = getelementptr i64, ptr %base, i64 2
  store ptr null, ptr %info
  %place = getelementptr i64, ptr %base, i64 3
  store ptr %data, ptr %place
  %length = getelementptr i64, ptr %base, i64 4
  store i64 %size, ptr %length
  %allocator = getelementptr i64, ptr %base, i64 5
  store ptr null, ptr %allocator
  br label %end
end:
  ret ptr %base
}}
define void @NRT_MemInfo_call_dtor(ptr %base) {{
  call void @free(ptr %base)
  ret void
}}
"""
"""The two functions of numba's run time that arrays made inside a loop need, over malloc and free. The memory begins
with numba's `MemInfo`: reference count, destructor, its argument, address of the data, size, allocator."""


def dispatcher(function: "Compiled[Any, Any]") -> Any:
    """The function as numba compiles and calls it, with numba's cache if that can be written."""
    plain = _with_inlined(function)
    try:
        return numba.njit(nogil=True, cache=True)(plain)
    except RuntimeError:
        # No cache can be written, neither beside the package nor in the user's home: each process compiles again.
        return numba.njit(nogil=True)(plain)


def object_code(function: "Compiled[Any, Any]", arguments: tuple[Any, ...]) -> ObjectCode:
    """The machine code of a function for arguments like these."""
    compiling = inlined(function)
    compiling.compile(tuple(_type_of(value) for value in arguments))
    result = compiling.overloads[tuple(_type_of(value) for value in arguments)]
    kind = RESULTS.get(types.unliteral(result.signature.return_type))
    module = llvm.parse_bitcode(result.library._final_module.as_bitcode())
    allocation = llvm.parse_assembly(ALLOCATION.format(triple=module.triple, layout=module.data_layout))
    declared = {each.name for each in module.functions if each.is_declaration}
    if "NRT_MemInfo_alloc_aligned" in declared or "NRT_MemInfo_call_dtor" in declared:
        module.link_in(allocation)
    symbols = [*module.functions, *module.global_variables]
    needed = {each.name for each in symbols if each.is_declaration and not each.name.startswith("llvm.")}
    if kind is None or not needed <= PROVIDED:
        return ObjectCode(name="", result="none", needed=(), content=b"")
    content = result.library._codegen._tm.emit_object(module)
    return ObjectCode(name=result.fndesc.llvm_func_name, result=kind, needed=tuple(sorted(needed)), content=content)


def inlined(function: "Compiled[Any, Any]") -> Any:
    """numba's version without a way to be called from Python."""
    if function.inlined is None:
        options = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        function.inlined = numba.njit(**options)(_with_inlined(function))
    return function.inlined


def _with_inlined(function: "Compiled[Any, Any]") -> Any:
    """The function with every compiled function that it calls replaced by numba's version, which numba can inline."""
    from scumble.compiled import Compiled

    plain: Any = function.function
    named = {name: plain.__globals__.get(name) for name in plain.__code__.co_names}
    inner = {name: inlined(value) for name, value in named.items() if isinstance(value, Compiled)}
    if not inner:
        return plain
    names = {**plain.__globals__, **inner}
    copy = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, plain.__closure__)
    return update_wrapper(copy, plain)


def _type_of(value: Any) -> Any:
    """numba's type of an argument. Read-only arrays have the type of others: one version serves both."""
    if isinstance(value, np.ndarray):
        return types.Array(from_dtype(value.dtype), value.ndim, "C" if value.flags.c_contiguous else "A")
    if isinstance(value, tuple):
        return types.BaseTuple.from_types([_type_of(each) for each in value], type(value))
    return numba.typeof(value)
