"""The process that runs one job: `python -m scumble.studio.worker FOLDER WORD ...` runs `scumble WORD ...`.

It locks the folder of the job, runs the command with its output in files there, and writes the exit code at the end. It
is in a session of its own: neither the end of the server nor Ctrl-C in its terminal reaches it.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scumble.files.replaced_file import replace_file
from scumble.portable import exclusive

FOUND_NO_WORK = 2
PATIENCE = 5
"""How many seconds a worker tries to lock its folder: whoever asks whether a job runs locks it for a moment."""


def work(folder: Path, words: Sequence[str]) -> int:
    """Run the command of a job, unless another process does or did."""
    try:
        with exclusive(folder, PATIENCE) as descriptor:
            if (folder / "pid").exists():  # it was run before: a second run would spend again
                return FOUND_NO_WORK
            return _run(folder, words, descriptor)
    except BlockingIOError:
        return FOUND_NO_WORK


def _run(folder: Path, words: Sequence[str], descriptor: int) -> int:
    environment = {**os.environ, "SCUMBLE_PROGRESS": "lines", "COLUMNS": "200"}
    # The command inherits the locked folder: it stays locked as long as the command lives.
    os.set_inheritable(descriptor, True)
    with (folder / "output.json").open("wb") as output, (folder / "errors.txt").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "scumble", *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=environment,
            close_fds=False,
        )
        replace_file(folder / "pid", str(process.pid))
        code = process.wait()
    replace_file(folder / "exit", str(code))
    return code


if __name__ == "__main__":
    sys.exit(work(Path(sys.argv[1]), sys.argv[2:]))
