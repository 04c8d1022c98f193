"""Temporary folders: a signal at any line of their creation or removal leaves none behind."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from scumble import interrupts
from scumble.locked_folders import locked_folder

TRACED = ("locked_folders.py", "tempfile.py", "contextlib.py", "interrupts.py")


@contextmanager
def signal_at(line: int) -> Iterator[None]:
    """Send SIGINT before the n-th line of the traced modules."""
    passed = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal passed
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        if event == "line":
            passed += 1
            if passed == line:
                signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def interrupted(parent: Path, line: int) -> bool:
    """Whether a signal before this line interrupts the use of a folder."""
    with interrupts.handled():
        try:
            with signal_at(line), locked_folder(parent, "unfinished-") as folder:
                (folder / "rows").write_text("private")
        except KeyboardInterrupt:
            return True
    return False


def test_a_signal_at_any_line_leaves_no_folder(tmp_path: Path) -> None:
    ended = []
    for line in range(1, 400):
        ended.append(interrupted(tmp_path, line))
        assert list(tmp_path.iterdir()) == [], f"a signal before line {line}"
    assert sum(ended) > 50 and not ended[-1]
