"""Many real releases from one process: libraries are loaded once, then every job is a fork of its own.

Run as a program in a folder with people.csv and schema.yaml, with a JSON list of jobs on standard input; prints a JSON
list of how they ended. A job is `{"name": ..., "words": [...], ...}` with any of

- `count`: tell how many functions of the package were called, and how long it took;
- `at_call`, `signal`: send itself a signal at its n-th call of a function of the package;
- `after`, `signal`: be sent a signal after so many seconds;
- `pause`, `signal`: be sent a signal when it comes to this function of the ledger or the flow, which never returns;
- `file_limit`: no file may become longer than this, as on a full disk.

`{"together": [job, ...]}` are jobs that start at the same moment.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

import scumble
import scumble.cli.release
import scumble.flows.charge
import scumble.flows.release
import scumble.privacy.measurements
from scumble.cli import main
from scumble.privacy.ledger import Ledger

OUTSIDE = 130
"""The exit code of a process that was interrupted just before it came to `main`, or just after."""
PACKAGE = str(Path(scumble.__file__).parent)


def start(job: dict[str, Any], gate: tuple[int, int]) -> tuple[int, int]:
    """A process that begins when the gate is closed at our end; and where to hear from it."""
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        os.close(gate[1])
        run(job, outgoing, gate[0])
    os.close(outgoing)
    os.read(incoming, 1)  # it is ready
    return child, incoming


def run(job: dict[str, Any], outgoing: int, gate: int) -> NoReturn:
    """The life of one process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, name in ((1, "out"), (2, "err")):
        file = os.open(f"{job['name']}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream)
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls += 1
            if calls == job.get("at_call"):
                os.kill(os.getpid(), job["signal"])

    def pause(*arguments: Any, **named: Any) -> None:
        os.write(outgoing, b"here")
        time.sleep(300)

    if "pause" in job:
        places: tuple[Any, ...] = (Ledger, scumble.flows.charge, scumble.flows.release)
        place = next(each for each in places if hasattr(each, job["pause"]))
        setattr(place, job["pause"], pause)
    if "file_limit" in job:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["file_limit"], job["file_limit"]))
    os.write(outgoing, b"!")
    try:
        os.read(gate, 1)
        sys.argv = ["scumble", *job["words"]]
        if "at_call" in job or "count" in job:
            sys.setprofile(count)
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except KeyboardInterrupt:
        code = OUTSIDE
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.flush()
    sys.stderr.flush()
    if "count" in job:
        os.write(outgoing, str(calls).encode())
    os._exit(code)


def end(job: dict[str, Any], child: int, incoming: int, began: float) -> dict[str, Any]:
    """Do to the process what the job says and wait for its end."""
    if "after" in job:
        time.sleep(max(0.0, began + job["after"] - time.monotonic()))
        os.kill(child, job["signal"])
    received = os.read(incoming, 100).decode()
    if "pause" in job:
        os.kill(child, job["signal"])
    _, status = os.waitpid(child, 0)
    os.close(incoming)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "calls": int(received) if received.isdigit() else 0,
        "seconds": time.monotonic() - began,
        "out": printed(Path(f"{job['name']}.out")),
        "err": printed(Path(f"{job['name']}.err")),
    }


def printed(path: Path) -> str:
    """What a job printed, without the notice that its ledger is new."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return "".join(line for line in lines if not line.startswith("notice: The ledger "))


def launch(job: dict[str, Any]) -> list[dict[str, Any]]:
    jobs = job.get("together", [job])
    gate = os.pipe()
    children = [start(each, gate) for each in jobs]
    os.close(gate[0])
    began = time.monotonic()
    os.close(gate[1])
    return [end(each, *child, began) for each, child in zip(jobs, children, strict=True)]


def warm_up() -> None:
    """A release before all others, for what is loaded and compiled at the first use."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        scumble.release("people.csv", schema="schema.yaml", epsilon=1, out=place / "out", ledger=place / "ledger.db")


if __name__ == "__main__":
    warm_up()
    print(json.dumps([ended for job in json.load(sys.stdin) for ended in launch(job)]))  # noqa: T201
