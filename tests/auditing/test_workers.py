"""Worker processes of an audit: they end with the process that started them, however it ends."""

import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from multiprocessing import active_children
from pathlib import Path

import pytest

from scumble.auditing.single_answers import one_count
from scumble.auditing.workers import Pace, worker_pool

PARENT = """
import sys, time
from fractions import Fraction
from dataclasses import replace
from multiprocessing import active_children
from scumble.auditing.single_answers import one_count
from scumble.auditing.workers import worker_pool

if __name__ == "__main__":
    subject = one_count(Fraction(1))
    [pair] = subject.pairs[:1]
    with worker_pool(subject.mechanism, 2) as draw:
        draw(pair, pair.second, 4)
        print(*(child.pid for child in active_children()), flush=True)
        while True:
            draw(pair, pair.second, 2_000_000)
"""


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text("utf-8").rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
@pytest.mark.parametrize("kind", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_workers_end_with_their_parent_in_the_middle_of_a_run(kind: str, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert len(workers) == 2 and all(map(is_running, workers))
        parent.send_signal(getattr(signal, kind))
        parent.wait(60)
    deadline = time.monotonic() + 60
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))


def test_an_exception_ends_the_workers() -> None:
    subject = one_count(Fraction(1))
    [pair] = subject.pairs[:1]
    before = set(active_children())
    pool = worker_pool(subject.mechanism, 2)
    draw = pool.__enter__()
    assert draw(pair, pair.second, 7).runs == 7
    assert len(set(active_children()) - before) == 2
    assert not pool.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None), "the exception goes on"
    assert set(active_children()) == before


def test_the_pace_counts_runs_since_its_restart() -> None:
    subject, clock = one_count(Fraction(1)), iter([0.0, 4.0, 10.0, 11.0, 20.0, 21.0])
    [pair] = subject.pairs[:1]
    pace = Pace(subject.mechanism.draw, clock=lambda: next(clock))
    pace.draw(pair, pair.second, 8)
    assert pace.runs_within(2) == 4
    pace.restart()
    pace.draw(pair, pair.second, 30)
    pace.draw(pair, pair.first, 10)
    assert pace.runs_within(2) == 40
