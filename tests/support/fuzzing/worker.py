"""One target in a process of its own: changed inputs, one after the other, until a limit is reached.

An input that reaches new lines of the package, or is refused at a new place, joins the corpus, which a long run keeps
from slice to slice.
"""

import mmap
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import scumble
from fuzzing.mutation import spliced
from fuzzing.target import Run, Target

PACKAGE = str(Path(scumble.__file__).parent)
HANG_SECONDS = 20
"""Processor time of one input."""
TRACED_FIRST, TRACED = 300, 50
"""The lines of the first inputs are traced, then those of one in so many: tracing is slow."""
MOST_KEPT = 400
HEADER = struct.Struct("<QQQ")
"""In shared memory: inputs done, a counter of life signs, length of the input at work, which follows."""
SHARED = 1 << 20


class Hang(BaseException):
    """An input took too long."""


class Coverage:
    """Lines of the package that were executed, and places where inputs were refused."""

    def __init__(self) -> None:
        self.lines: set[tuple[CodeType, int]] = set()
        self.refusals: set[tuple[str, int, str]] = set()

    def refused(self, error: BaseException) -> bool:
        """Whether an input was refused at a place where none was refused before."""
        place = ("", 0)
        for frame, line in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename.startswith(PACKAGE):
                place = frame.f_code.co_filename, line
        found = (*place, type(error).__name__)
        new = found not in self.refusals
        self.refusals.add(found)
        return new

    @contextmanager
    def traced(self) -> Iterator[None]:
        lines = self.lines

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            lines.add((frame.f_code, frame.f_lineno))
            return local

        def entered(frame: FrameType, event: str, argument: Any) -> Any:
            return local if frame.f_code.co_filename.startswith(PACKAGE) else None

        sys.settrace(entered)
        try:
            yield
        finally:
            sys.settrace(None)


def peak_bytes() -> int:
    """The largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(
    target: Target, *, seed: str, seconds: float, inputs: int, shared: mmap.mmap, kept: Sequence[bytes] = ()
) -> dict[str, Any]:
    """Run a target for so many seconds or inputs, whichever ends first. Returns the tally of this run.

    `kept` are inputs that joined the corpus in earlier runs; the tally has those that did in this one, too.
    """
    signal.signal(signal.SIGPROF, _hang)
    random = Random(seed)
    run = target.prepare()
    corpus = [*target.seeds, *kept]
    coverage = Coverage()
    before = peak_bytes()
    tally: dict[str, Any] = {"inputs": 0, "accepted": 0, "slowest": 0.0, "slowest_bytes": 0, "faults": []}
    began = time.monotonic()
    while tally["inputs"] < inputs and time.monotonic() - began < seconds:
        number = tally["inputs"]
        if number < len(corpus) and number < len(target.seeds) + len(kept):
            data = corpus[number]  # all of them once, so that what they reach is not new again
            before = peak_bytes()  # with the libraries that are loaded at the first use
        elif target.spliced and random.random() < 0.05:
            data = target.mutate(random, spliced(random, random.choice(corpus), random.choice(corpus)))
        else:
            data = target.mutate(random, random.choice(corpus))
        HEADER.pack_into(shared, 0, number, number, len(data))
        shared[HEADER.size : HEADER.size + len(data)] = data
        spent = time.process_time()
        traced = number < TRACED_FIRST or number % TRACED == 0
        accepted, new, fault = _one(run, target, data, coverage, traced=traced)
        if traced and (fault is not None or time.process_time() - spent > tally["slowest"]):
            spent = time.process_time()  # tracing makes an input many times slower
            accepted, _, fault = _one(run, target, data, coverage, traced=False)
        spent = time.process_time() - spent
        if spent > tally["slowest"]:
            tally["slowest"], tally["slowest_bytes"] = spent, len(data)
        if fault is None and peak_bytes() - before > target.memory_bytes:
            fault = ("memory", f"{(peak_bytes() - before) >> 20} MiB")
            before = peak_bytes()
        if fault is not None:
            tally["faults"].append({"kind": fault[0], "what": fault[1], "input": data.hex()})
            if len(tally["faults"]) >= 20:
                break
        tally["accepted"] += accepted
        if new:
            corpus.append(data)
            if len(corpus) > MOST_KEPT:
                del corpus[random.randrange(len(target.seeds), len(corpus))]
        tally["inputs"] += 1
    tally |= {
        "seconds": round(time.monotonic() - began, 1),
        "memory": max(0, peak_bytes() - before),
        "lines": len(coverage.lines),
        "places": len(coverage.refusals),
        "corpus": [data.hex() for data in corpus[len(target.seeds) :]],
    }
    return tally


def _one(
    run: Run, target: Target, data: bytes, coverage: Coverage, *, traced: bool
) -> tuple[bool, bool, tuple[str, str] | None]:
    """Try one input: whether it was accepted, whether it reached something new, and the fault, if it caused one."""
    known = len(coverage.lines)
    signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
    try:
        if traced:
            with coverage.traced():
                run(data)
        else:
            run(data)
    except target.refusals as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        new = coverage.refused(error)
        return False, new or len(coverage.lines) > known, None
    except BaseException as error:  # noqa: BLE001 - whatever an input causes is what this program looks for
        signal.setitimer(signal.ITIMER_PROF, 0)
        kind = "hang" if isinstance(error, Hang) else "memory" if isinstance(error, MemoryError) else "crash"
        return False, False, (kind, "".join(traceback.format_exception(error))[-1500:])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True, len(coverage.lines) > known, None


def _hang(number: int, frame: Any) -> None:
    raise Hang
