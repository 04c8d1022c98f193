"""Makes one release in a new process and prints its peak memory above that after imports, and its CPU seconds.

python benchmarks/peak.py adult DATA.parquet memory "published mode" FOLDER
"""

import json
import resource
import sys
import time
from pathlib import Path

import duckdb  # noqa: F401 - imported here so that it does not count: the release would import it
import numba  # noqa: F401

import tables
import work


def resident() -> tuple[int, int]:
    """Resident memory in bytes: now, and the maximum so far."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak, peak
    # Not `ru_maxrss`: a child process inherits the maximum of its parent.
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return kilobytes["VmRSS"] * 1024, kilobytes["VmHWM"] * 1024


def main(data: str, path: str, engine: str, mode: str, folder: str) -> None:
    schema = tables.schema_of(data)
    before, _ = resident()
    began = time.process_time()
    work.release(Path(path), schema, Path(folder), work.MODES[mode], engine)
    seconds = time.process_time() - began
    _, peak = resident()
    print(json.dumps({"above_imports": peak - before, "cpu_seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
