"""Interruptions by Ctrl-C, SIGTERM and SIGHUP, which no library can swallow.

Python raises KeyboardInterrupt wherever the program happens to be. If that is a destructor, a callback of a C library
or the import of a module, the exception may be dropped, and the run would go on and publish. So the handler also sets a
flag, and `check` raises KeyboardInterrupt again: before every answer, for every batch of rows, and before a folder is
published. Without `handled` (in a program that uses the Python API) nothing is installed, and `check` does nothing.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from scumble.errors import ChargeOutcome
from scumble.portable import STOP_SIGNALS

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
SIGNALS = STOP_SIGNALS


class _State:
    """What the handler has seen, in this process."""

    arrivals = 0
    """How many signals have arrived."""
    answered = 0
    """How many had arrived when an interruption was last reported."""
    delays = 0
    """How many blocks of `delayed` are being executed."""
    charge: Callable[[], ChargeOutcome] | None = None
    """Returns what the last run was charged, as far as that is known now."""


_state = _State()
_resending = threading.Lock()


def _receive(number: int, frame: Any) -> None:
    _state.arrivals += 1
    if not _state.delays:
        raise KeyboardInterrupt


@contextmanager
def handled() -> Iterator[None]:
    """Treat Ctrl-C, SIGTERM and SIGHUP alike. A signal that the parent process ignores (nohup) stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _state.answered = _state.arrivals
    _state.charge = None
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number in SIGNALS:
            if before[number] is not signal.SIG_IGN:
                signal.signal(number, _receive)
        yield
    finally:
        _state.delays += 1  # nothing interrupts what follows
        report()
        with _resending:  # whoever is about to resend does so now, or not at all
            for number, handler in before.items():
                if handler is not None:
                    signal.signal(number, handler)
        _state.delays -= 1


def check() -> None:
    """Raise KeyboardInterrupt if a signal has arrived that was not reported, even if the exception was lost."""
    if _state.arrivals != _state.answered:
        raise KeyboardInterrupt


@contextmanager
def converted() -> Iterator[None]:
    """Raise KeyboardInterrupt in place of any error of this block that follows a signal not yet reported.

    A library may turn KeyboardInterrupt into an error of its own: an extension module that is interrupted while it is
    imported ends with an AttributeError that mentions no interruption.
    """
    try:
        yield
    except Exception as error:
        if _state.arrivals != _state.answered:
            raise KeyboardInterrupt from error
        raise


def report() -> None:
    """Note that all interruptions so far are reported to the user: `check` does not raise for them again."""
    _state.answered = _state.arrivals


def keep_exit_code() -> None:
    """Let the process end with the exit code that it states.

    If KeyboardInterrupt passes through code that was compiled from a string, as the methods of data classes are, Python
    notes it as unhandled, even if it is caught later. `python -m` then ends as if killed by SIGINT. Running any such
    code again clears the note.
    """
    exec("")


def resend() -> None:
    """Interrupt again, if an interruption was lost and is still not reported.

    The lock keeps this signal from arriving after `handled`, when it would kill a process that has already said how it
    ended.
    """
    with _resending:
        if _state.arrivals != _state.answered:
            os.kill(os.getpid(), signal.SIGINT)


@contextmanager
def delayed() -> Iterator[None]:
    """Let a signal that arrives inside this block interrupt the program at its end."""
    before = _state.arrivals
    _state.delays += 1
    try:
        yield
    finally:
        _state.delays -= 1
    if _state.arrivals != before and not _state.delays:
        raise KeyboardInterrupt


def completed(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Let a short function run to its end. A signal that arrives meanwhile is ignored, unless the function fails.

    For a change that is recorded in one step: "Interrupted." would not say whether it was recorded.
    """

    @wraps(function)
    def undisturbed(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        _state.delays += 1
        try:
            result = function(*arguments, **named)
            report()
        finally:
            _state.delays -= 1
        return result

    return undisturbed


def follow_charge(outcome: Callable[[], ChargeOutcome]) -> None:
    """State how to find out what the run that begins now was charged, for an interruption after its end."""
    _state.charge = outcome


def last_charge() -> ChargeOutcome | None:
    """What the last run since `handled` began was charged; None if no run began."""
    return None if _state.charge is None else _state.charge()
