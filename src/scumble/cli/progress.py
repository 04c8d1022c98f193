"""The line of progress: the phase, how much of it is done, the time since the start, and an estimate of the rest."""

import json
import math
import time
from collections.abc import Callable
from functools import partial
from threading import Lock, Timer
from types import TracebackType
from typing import Self

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

STARTING = "starting"
BAR_WIDTH = 24
LEAST_SHARE = 0.02
"""No estimate is given before this share of a phase is done."""


LINE_SECONDS = 0.2
"""Shortest time between two lines of progress with the same label."""


def progress_lines(write: Callable[[str], object] | None = None) -> Callable[[str, int, int | None], None]:
    """Progress as lines of JSON on standard error, at most a few a second, and one at the end of every step."""
    shown: dict[str, float] = {}
    echo = write or partial(typer.echo, err=True)

    def report(label: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - shown.get(label, -math.inf) >= LINE_SECONDS or done == total:
            shown[label] = now
            echo(json.dumps({"progress": label, "done": done, "total": total}))

    return report


class ProgressLine:
    """One line that is rewritten in place. It appears when the work has lasted for some time, reported or not.

    A phase is a run of reports with one total: the answers of a release have different labels and one total, so they
    are one phase, named after the last answer. The estimate is for this phase, whose speed is known, not for
    what follows.
    """

    def __init__(self, console: Console, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = self._phase_began = clock()
        self._label, self._done, self._total = STARTING, 0, None
        self._first = 0
        self._spinner = Spinner("line")
        self._live = Live(console=console, transient=True, refresh_per_second=4, get_renderable=self.render)
        self._starting = Lock()
        self._ended = False
        self._timer = Timer(patience, self._start)
        self._timer.daemon = True

    _total: int | None

    def report(self, label: str, done: int, total: int | None) -> None:
        """Note how far the work is: `done` of `total` steps of what `label` names."""
        if (total, total is None and label) != (self._total, self._total is None and self._label) or done < self._done:
            self._phase_began, self._first = self._clock(), done
        self._label, self._done, self._total = label, done, total

    @property
    def text(self) -> str:
        """The phase with its share, the time so far, and the estimate."""
        now = self._clock()
        parts = [self._label]
        if self._total:
            parts.append(f"{100 * self._done / self._total:.0f} %")
        parts.append(f"{duration(now - self._began)} so far")
        rest = self._rest(now)
        if rest is not None:
            parts.append(f"about {duration(rest)} left")
        return ", ".join(parts)

    def _rest(self, now: float) -> float | None:
        """Seconds until the phase ends, if its steps go on taking as long as they did."""
        if not self._total or self._done - self._first < LEAST_SHARE * self._total or self._done >= self._total:
            return None
        speed = (self._done - self._first) / max(now - self._phase_began, 1e-9)
        return (self._total - self._done) / speed

    def render(self) -> RenderableType:
        """The line as rich prints it."""
        line = Table.grid(padding=(0, 1))
        line.add_column()
        line.add_column()
        line.add_column(no_wrap=True, overflow="ellipsis")
        bar = ProgressBar(total=self._total, completed=self._done, width=BAR_WIDTH) if self._total else Text("")
        line.add_row(self._spinner, bar, Text(self.text))
        return line

    def _start(self) -> None:
        with self._starting:
            if not self._ended:
                self._live.start(refresh=True)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._starting:
            self._ended = True
            if self._live.is_started:
                self._live.stop()


def duration(seconds: float) -> str:
    """A duration in words.

    >>> duration(7.2), duration(200), duration(7300)
    ('7 s', '3 min 20 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
