"""Runs commands of scumble as processes with the shim: libraries are loaded once, then every command is a fork.

Run as a program with the shim; a JSON list of jobs on each line of standard input gives a JSON list of how they ended.
A job is `{"folder": ..., "words": [...], ...}` with any of

- `plan`: a plan of the shim;
- `below`: a folder inside the working folder: only calls on files in it are counted;
- `after`, `signal`: be sent a signal after so many seconds;
- `file_limit`: no file may become longer than this;
- `planted`: the name of a bug of `faults.planted`, to show that the harness notices it.

The jobs of a list start at the same moment. The folder is the process's working folder, its HOME and, in `scratch`, its
folder for temporary files.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

from command_line import SCHEMA, people

import scumble
import scumble.cli.join
import scumble.cli.ledger
import scumble.cli.perturb
import scumble.cli.release
from faults import planted
from faults.launcher_environment import environment
from faults.shim import Plan, arm, disarm
from scumble.cli import main

HUNG_SECONDS = 120


def start(job: dict[str, Any], gate: tuple[int, int]) -> int:
    child = os.fork()
    if child == 0:
        os.close(gate[1])
        run(job, gate[0])
    return child


def run(job: dict[str, Any], gate: int) -> NoReturn:
    """The life of one process."""
    folder, logs = Path(job["folder"]), job["logs"]
    code = 70
    try:
        os.chdir(folder)
        os.environ.update(environment(folder))
        tempfile.tempdir = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)  # outside of `main`, a signal kills
        for stream, kind in ((1, "out"), (2, "err")):
            file = os.open(f"{logs}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, stream)
        if "planted" in job:
            planted.plant(job["planted"])
        if "file_limit" in job:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (job["file_limit"], job["file_limit"]))
        os.read(gate, 1)
        sys.argv = ["scumble", *job["words"]]
        if "plan" in job:
            arm(folder / job.get("below", ""), Plan(**{**job["plan"], "kinds": tuple(job["plan"]["kinds"])}))
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - printed for the reader of the table
        traceback.print_exc()
    calls = disarm() if "plan" in job else 0
    Path(f"{logs}.calls").write_text(str(calls))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def launch(jobs: list[dict[str, Any]], logs: str) -> list[dict[str, Any]]:
    """Run jobs at the same time. What they print is kept outside of their folders, whose disk may be full."""
    gate = os.pipe()
    jobs = [{**job, "logs": f"{logs}/{number}"} for number, job in enumerate(jobs)]
    children = [start(job, gate) for job in jobs]
    os.close(gate[0])
    began = time.monotonic()
    os.close(gate[1])
    time.sleep(0.01)
    for job, child in sorted(zip(jobs, children, strict=True), key=lambda each: each[0].get("after", 0)):
        if "after" in job:
            time.sleep(max(0.0, began + job["after"] - time.monotonic()))
            os.kill(child, job["signal"])
    return [ended(job, child, began) for job, child in zip(jobs, children, strict=True)]


def ended(job: dict[str, Any], child: int, began: float) -> dict[str, Any]:
    """Wait for the end of a process, but not forever."""
    hung = False
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.003)
        if not hung and time.monotonic() - began > HUNG_SECONDS:
            hung = True
            os.kill(child, signal.SIGKILL)
    read = {kind: Path(f"{job['logs']}.{kind}") for kind in ("out", "err", "calls")}
    texts = {kind: path.read_text() if path.exists() else "" for kind, path in read.items()}
    for path in read.values():
        path.unlink(missing_ok=True)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "hung": hung,
        "calls": int(texts["calls"] or 0),
        "seconds": time.monotonic() - began,
        "out": texts["out"],
        "err": texts["err"],
    }


def warm_up() -> None:
    """One release of each kind first, for what is loaded and compiled at the first use."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.update(environment(folder))
        (folder / "people.csv").write_text(people(50))
        (folder / "schema.yaml").write_text(SCHEMA)
        given = {"schema": folder / "schema.yaml", "epsilon": 1}
        scumble.release(folder / "people.csv", **given, out=folder / "out", ledger=folder / "1.db")
        scumble.perturb(folder / "people.csv", **given, out=folder / "perturbed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as logs:
        warm_up()
        for line in sys.stdin:
            print(json.dumps(launch(json.loads(line), logs)), flush=True)  # noqa: T201
