"""Interruptions: one that was lost is sent again, but never after the program has stopped to handle them."""

import subprocess
import sys
from pathlib import Path

SENT_AGAIN = """
import os, signal, threading, time
from scumble import interrupts

def send_again():
    while True:
        interrupts.resend()

threading.Thread(target=send_again, daemon=True).start()
for _ in range(300):
    try:
        with interrupts.handled():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.001)
            except KeyboardInterrupt:
                pass  # lost
            for _ in range(50):
                pass
    except KeyboardInterrupt:
        pass
    time.sleep(0)  # here it would end the program
"""


LOST_ONCE = """
import os, signal
from scumble import interrupts

def wait(caught):
    try:
        for _ in range(10**6):  # a signal arrives between two instructions
            pass
    except KeyboardInterrupt:
        caught += 1
    return caught

with interrupts.handled():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        caught = wait(0)
    except KeyboardInterrupt:
        caught = 1  # and lost: nobody reports it
    assert caught == 1
    try:
        interrupts.resend()
        again = wait(0)
    except KeyboardInterrupt:
        again = 1
    assert again == 1, "a lost interruption was not sent again"
    interrupts.report()
    interrupts.resend()
    assert wait(0) == 0, "a reported interruption was sent again"
interrupts.resend()
assert wait(0) == 0
"""


def test_an_interruption_is_sent_again_until_it_is_reported() -> None:
    ended = subprocess.run([sys.executable, "-c", LOST_ONCE], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0 and not ended.stderr, ended


def test_a_lost_interruption_is_sent_again_only_while_signals_are_handled() -> None:
    ended = subprocess.run([sys.executable, "-c", SENT_AGAIN], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0 and not ended.stderr, ended


def test_an_interruption_of_generated_code_does_not_change_the_exit_code(tmp_path: Path) -> None:
    """`python -m` ends with -2 or 130 otherwise."""
    lines = [
        "import sys",
        "from scumble import interrupts",
        "try:",
        "    exec('raise KeyboardInterrupt')",
        "except KeyboardInterrupt:",
        "    pass",
        "interrupts.keep_exit_code()",
        "sys.exit(5)",
    ]
    (tmp_path / "interrupted.py").write_text("\n".join(lines))
    ended = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, timeout=60, check=False)
    assert ended.returncode == 5
