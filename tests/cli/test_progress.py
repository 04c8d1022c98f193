"""The line of progress: one line, the phase by name, and an estimate that follows from the speed so far."""

import io
import time

import pytest
from rich.console import Console

from scumble.cli.progress import ProgressLine, duration


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def line_with_clock() -> tuple[ProgressLine, Clock]:
    clock = Clock()
    return ProgressLine(Console(file=io.StringIO()), 60, clock), clock


def test_it_names_the_phase_and_estimates_its_rest() -> None:
    line, clock = line_with_clock()
    clock.now = 3
    assert line.text == "starting, 3 s so far"
    line.report("reading rows", 0, 100)
    clock.now = 13
    line.report("reading rows", 25, 100)
    assert line.text == "reading rows, 25 %, 13 s so far, about 30 s left"


def test_answers_with_different_labels_are_one_phase() -> None:
    line, clock = line_with_clock()
    line.report("count the records", 1, 21)
    for done in range(2, 12):
        clock.now += 4
        line.report(f"split {done}", done, 21)
    assert line.text == "split 11, 52 %, 40 s so far, about 40 s left"
    line.report("writing table.csv", 0, 7)
    assert line.text == "writing table.csv, 0 %, 40 s so far"


def test_an_unknown_total_gives_no_share() -> None:
    line, clock = line_with_clock()
    clock.now = 5
    line.report("reading rows", 10, None)
    assert line.text == "reading rows, 5 s so far"


@pytest.mark.parametrize("reported", [False, True])
def test_it_appears_without_any_report_and_occupies_one_line(reported: bool) -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100, legacy_windows=False)
    with ProgressLine(console, 0.01) as line:
        deadline = time.monotonic() + 20
        while "so far" not in text.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        if reported:
            for done in range(19):
                line.report(f"answer {done}", done, 19)
    shown = text.getvalue()
    assert "starting" in shown
    assert shown.count("\n") <= 1  # nineteen answers are not nineteen lines


def test_short_work_shows_nothing() -> None:
    text = io.StringIO()
    with ProgressLine(Console(file=text, force_terminal=True), 60) as line:
        line.report("reading rows", 1, 2)
    assert text.getvalue() == ""


def test_durations() -> None:
    assert [duration(each) for each in (0.2, 59.4, 60, 3600)] == ["0 s", "59 s", "1 min 0 s", "1 h 0 min"]
