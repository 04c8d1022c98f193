"""`python -m fuzzing`: changed inputs for all readers. Ends with 1 if an input caused a fault.

Without a limit, each target is run for 20 seconds. `--long` runs every target until its goal is reached, adds the
lengths of all runs of this version, and can be interrupted and started again.
"""

import argparse
import json
import mmap
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzzing import page, tally
from fuzzing.target import Target
from fuzzing.targets import all_targets
from fuzzing.worker import HEADER, SHARED, fuzz

SILENT_SECONDS = 120
"""A worker that finishes no input in this time hangs where no signal reaches it."""
MEMORY_LIMIT = 12 << 30
SLICE_SECONDS = 60.0
Report = Callable[[str], None]


class Worker:
    """A process that runs one target, and the memory in which it keeps the input at work."""

    def __init__(
        self, target: Target, *, seed: str, seconds: float, inputs: int, scratch: Path, kept: list[bytes]
    ) -> None:
        self.target = target
        self._kept = kept
        self._shared = mmap.mmap(-1, SHARED)
        self._result = scratch / f"{target.name}.json"
        self._progress, self._since = -1, time.monotonic()
        self._result.unlink(missing_ok=True)
        self._child = os.fork()
        if self._child == 0:
            self._work(seed, seconds, inputs, scratch / target.name)

    def _work(self, seed: str, seconds: float, inputs: int, place: Path) -> None:
        code, errors = 1, os.dup(2)
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            os.chdir(place)
            os.environ["XDG_DATA_HOME"] = os.environ["HOME"] = str(place)
            with (place / "printed").open("w") as printed:
                for stream in (1, 2):  # libraries print warnings and backtraces
                    os.dup2(printed.fileno(), stream)
            found = fuzz(self.target, seed=seed, seconds=seconds, inputs=inputs, shared=self._shared, kept=self._kept)
            self._result.write_text(json.dumps(found))
            code = 0
        except BaseException:  # noqa: BLE001 - printed before the process ends here
            os.write(errors, traceback.format_exc().encode())
        finally:
            os._exit(code)

    def ended(self) -> dict[str, Any] | None:
        """The tally, once the worker has ended. One that died or hangs counts as a fault of its last input."""
        done, status = os.waitpid(self._child, os.WNOHANG)
        number, _, length = HEADER.unpack_from(self._shared, 0)
        if number != self._progress:
            self._progress, self._since = number, time.monotonic()
        hangs = time.monotonic() - self._since > SILENT_SECONDS
        if not done and not hangs:
            return None
        if hangs and not done:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
        elif self._result.exists():
            found: dict[str, Any] = json.loads(self._result.read_text())
            return found
        data = bytes(self._shared[HEADER.size : HEADER.size + length])
        what = "no answer" if hangs else f"the process ended with status {os.waitstatus_to_exitcode(status)}"
        fault = {"kind": "hang" if hangs else "crash", "what": what, "input": data.hex()}
        return {"inputs": number, "faults": [fault]}


def run_all(work: list[dict[str, Any]], *, scratch: Path, jobs: int, when_done: Callable[[Target, Any], None]) -> None:
    """Run targets, so many at a time."""
    waiting, running = list(work), list[Worker]()
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(Worker(**waiting.pop(0), scratch=scratch))
        time.sleep(0.05)
        for worker in list(running):
            found = worker.ended()
            if found is not None:
                running.remove(worker)
                when_done(worker.target, found)


def save_faults(folder: Path, target: Target, faults: list[dict[str, str]], report: Report) -> None:
    """Keep the inputs that caused faults, for `--repeat`."""
    folder.mkdir(parents=True, exist_ok=True)
    for fault in faults:
        path = folder / f"{target.name}-{hash(fault['input']) & 0xFFFFFF:06x}"
        path.write_bytes(bytes.fromhex(fault["input"]))
        report(f"{target.name}: {fault['kind']}: {fault['what']}\n  input kept in {path}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", help="names of targets (default: all)")
    parser.add_argument("--seconds", type=float, default=20, help="time for each target (default: 20)")
    parser.add_argument("--long", action="store_true", help="run every target until its goal is reached")
    parser.add_argument("--jobs", type=int, default=2, help="targets at the same time (default: 2)")
    parser.add_argument("--tallies", type=Path, help="a folder in which the lengths of runs are added up")
    parser.add_argument("--page", type=Path, help="the page whose table is written from the tallies")
    parser.add_argument("--faults", type=Path, default=Path("fuzzing-faults"), help="where inputs that fail are kept")
    parser.add_argument("--repeat", type=Path, help="run one kept input of the one target that is named")
    parser.add_argument("--seed", default="", help="a text that changes all random decisions")
    options = parser.parse_args()
    report: Report = lambda line: print(line, flush=True)  # noqa: E731, T201
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        scratch = Path(name)
        made = scratch / "made"
        made.mkdir()
        subprocess.run([sys.executable, "-m", "fuzzing.seeds", str(made)], check=True)
        targets = all_targets(made)
        chosen = {name: targets[name] for name in options.targets or targets}
        if options.repeat:
            (target,) = chosen.values()
            os.chdir(scratch)
            target.prepare()(options.repeat.read_bytes())
            return 0
        faults = run(chosen, options, scratch, report)
        if options.page:
            page.write(options.page, targets, options.tallies, tally.version())
    report(f"{len(chosen) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


def run(chosen: dict[str, Target], options: Any, scratch: Path, report: Report) -> set[str]:
    """Run the chosen targets once, or in slices until all goals are reached; the names of those with faults."""
    version = tally.version()
    done = {name: tally.read(options.tallies, name).get(version, {}) if options.tallies else {} for name in chosen}
    failed: set[str] = set()
    corpora: dict[str, list[bytes]] = {name: [] for name in chosen}

    def when_done(target: Target, found: dict[str, Any]) -> None:
        counted = tally.counted({"seconds": 0, **found})
        done[target.name] = tally.total([done[target.name], counted])
        corpora[target.name] = [bytes.fromhex(data) for data in found.get("corpus", [])] or corpora[target.name]
        if options.tallies:
            tally.add(options.tallies, target.name, counted, version)
        if found["faults"]:
            failed.add(target.name)
            save_faults(options.faults, target, found["faults"], report)
        rate = counted["inputs"] / max(counted["seconds"], 0.1)
        report(
            f"{target.name}: {counted['inputs']:,} inputs, {rate:,.0f} a second, {counted.get('accepted', 0):,} "
            f"accepted, slowest {counted.get('slowest', 0):.3f} s, {counted.get('memory', 0) >> 20} MiB, "
            f"{counted.get('lines', 0):,} lines, {counted.get('places', 0)} refusals, faults: {len(found['faults'])}"
        )

    while True:
        seconds = SLICE_SECONDS if options.long else options.seconds
        left = {name: target.long_run - done[name].get("inputs", 0) for name, target in chosen.items()}
        work = [
            {
                "target": target,
                # The short form tries the same inputs every time, so that it fails only if a reader has changed.
                "seed": f"{options.seed} {version if options.long else ''} {name} {done[name].get('inputs', 0)}",
                "seconds": seconds,
                "inputs": int(left[name]) if options.long else sys.maxsize,
                "kept": corpora[name],
            }
            for name, target in chosen.items()
            if not options.long or (left[name] > 0 and name not in failed)
        ]
        run_all(work, scratch=scratch, jobs=options.jobs, when_done=when_done)
        if not options.long or not work:
            return failed


if __name__ == "__main__":
    sys.exit(main())
