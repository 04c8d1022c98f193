"""The cost of AIM and MST on the benchmark's tables, each in a process with a CPU limit.

    python benchmarks/peer_costs.py PEER TABLE ROWS.parquet EPSILON    one fit; prints its CPU seconds as JSON

`python3 benchmarks/peers/install.py dpmm` installs them. `run.py --peers SECONDS` calls this script for each size.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import tables
from figures import Figure
from harness import Tables, log, shown
from scumble.comparison.peers import PEERS, fit, unavailable_reason
from scumble.comparison.trials import CodedTable
from scumble.sources import open_source

NAMES = ("aim", "mst")
EPSILON = "1"
os.environ.setdefault("SCUMBLE_PEERS", str(Path(__file__).parent / "peers"))


def costs(source: Tables, rows: tuple[int, ...], limit: int) -> tuple[list[Figure], str]:
    """A figure for every peer and size that finished within the limit, and a text about the others."""
    found: list[Figure] = []
    others = []
    for name in NAMES:
        problem = unavailable_reason(PEERS[name])
        if problem:
            others.append(f"{name} is not installed here.")
            continue
        for number in rows:
            log(f"{name}, {shown(number)}, at most {limit} s of CPU")
            command = [sys.executable, __file__, name, source.data, str(source.parquet(number)), EPSILON]
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
            )
            if done.returncode:
                others.append(f"{name} did not finish {shown(number)} within {limit} s of CPU.")
                break
            seconds = json.loads(done.stdout)["cpu_seconds"]
            what = f"{PEERS[name].summary} ({shown(number)})"
            found.append(
                Figure(what=what, measured=seconds, unit="s", detail=f"epsilon {EPSILON}, only fitting and sampling")
            )
    return found, " ".join(others)


def main(peer: str, data: str, path: str, epsilon: str) -> None:
    schema = tables.schema_of(data)
    train = CodedTable.read(open_source(path), schema)
    few = train.part(np.arange(min(100, train.rows)))
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit(PEERS[peer], train, few, epsilon=epsilon, seed=0, cache=Path(folder))
    print(json.dumps({"cpu_seconds": fitted.cpu_seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
