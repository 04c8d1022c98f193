"""Run as a program: a real release in which a library swallows the first Ctrl-C.

The arguments: the name of a function of `scumble.flows.release`, before which the process sends itself a signal inside
a destructor, inside a callback that drops every exception, or inside an import that turns it into another; the signal;
and the words of the command line.
"""

import os
import sys
from typing import Any

import scumble.flows.release as flow
from scumble import interrupts
from scumble.cli import main


class Freed:
    """An object whose destructor is interrupted."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self._number)
        sum(range(1000))


def swallow(place: str, number: int, way: str) -> None:
    """Let the interruption come, and be lost, before a function."""
    original = getattr(flow, place)

    def interrupted(*arguments: Any, **named: Any) -> Any:
        setattr(flow, place, original)
        if way == "destructor":
            Freed(number)
        else:
            try:
                os.kill(os.getpid(), number)
                sum(range(1000))
            except KeyboardInterrupt:
                pass
            if way == "conversion":
                raise AttributeError("partially initialized module")
        return original(*arguments, **named)

    setattr(flow, place, interrupted)


if __name__ == "__main__":
    interrupts.resend = lambda: None
    swallow(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    sys.argv = ["scumble", *sys.argv[4:]]
    main()
