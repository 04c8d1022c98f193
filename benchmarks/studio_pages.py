"""How long every page of the studio takes for a table of a million rows, in milliseconds.

python benchmarks/studio_pages.py [--rows N] [--tries N]     a table; exit code 4 when the limit is missed

The studio runs as its own process, as `scumble studio` starts it. `first` is the first request of a page after the
start, `median` and `slowest` are of the tries after it, all as the client sees them; `CPU` is the processor time that
the server's process took for one request. A zip is measured up to its first bytes: the rest is the download.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from urllib.parse import quote, urlsplit

import pyarrow.csv as pacsv

from scumble.demo.patients import PATIENTS_SCHEMA, patients
from scumble.files.run_file import RunFile, write_run

LIMIT = 300
"""Milliseconds that a page may take."""
FAILED = 4
PROJECT = "/projects/million"
QUESTION = quote("age < 40 and sex = female")
PAGES = {
    "Start": "/",
    "Table and roles": f"{PROJECT}/table",
    "Domains": f"{PROJECT}/domains",
    "Domains: a tree": f"{PROJECT}/domains/ward",
    "Domains: a grid": f"{PROJECT}/domains/age",
    "Method": f"{PROJECT}/method",
    "Budget": f"{PROJECT}/budget",
    "Budget: while typing": f"{PROJECT}/budget/meaning?epsilon=2",
    "Rehearsal": f"{PROJECT}/rehearsal",
    "Publish": f"{PROJECT}/publish",
    "Job": f"{PROJECT}/jobs/1",
    "Job: its progress": f"{PROJECT}/jobs/1/progress",
    "Releases": f"{PROJECT}/releases",
    "Release": f"{PROJECT}/releases/release",
    "Release: sorted": f"{PROJECT}/releases/release?sort=age&order=down",
    "Release: its contents": f"{PROJECT}/releases/release/contents",
    "Release: a question": f"{PROJECT}/releases/release?where={QUESTION}&by=ward",
    "Release: its report": f"{PROJECT}/releases/release/report",
    "Release: its zip": f"{PROJECT}/releases/release/zip",
    "Ledger": f"{PROJECT}/ledger",
    "Audit": f"{PROJECT}/audit",
    "Compare": f"{PROJECT}/compare",
    "Join": f"{PROJECT}/join",
}


def prepare(home: Path, rows: int) -> None:
    """A project with a large table, one release of it, and a job that has ended."""
    folder = home / "million"
    folder.mkdir()
    pacsv.write_csv(patients(rows, seed=5), folder / "patients.csv")
    (folder / "schema.yaml").write_text(PATIENTS_SCHEMA, encoding="utf-8")
    run = RunFile(data="patients.csv", ledger="ledger.db", witness="witness.db")
    write_run(run.changed(parameters={"epsilon": "1"}), folder / "run.yaml")
    job = folder / ".studio" / "jobs" / "1"
    job.mkdir(parents=True)
    words = ["run", "run.yaml", "--out", "release"]
    facts = {"kind": "release", "title": "Publishing", "command": words, "started": time.time(), "out": "release"}
    (job / "job.json").write_text(json.dumps(facts), encoding="utf-8")
    worker = [sys.executable, "-m", "scumble.studio.worker", str(job), *words, "--json"]
    subprocess.run(worker, cwd=folder, check=True)


@contextmanager
def served(home: Path) -> Iterator[tuple[str, int]]:
    """The studio as a process: its address, and the number of the process."""
    words = [sys.executable, "-m", "scumble", "studio", str(home), "--no-browser", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = "".join(process.stdout.readline() for _ in range(4))
    try:
        yield json.loads(printed)["address"], process.pid
    finally:
        process.kill()
        process.wait()


def cpu_milliseconds(process: int) -> float:
    """The processor time of a process so far, user and system, of all its threads."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def request(address: str, place: str, cookie: str) -> float:
    """Milliseconds until a page is there; of a zip, until its first bytes are."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
    began = time.perf_counter()
    connection.request("GET", place, headers={"Cookie": cookie})
    answer = connection.getresponse()
    read = answer.read(1000) if place.endswith("/zip") else answer.read()
    took = 1000 * (time.perf_counter() - began)
    connection.close()
    assert answer.status == 200 and read, (place, answer.status)
    return took


def cookie_of(address: str) -> str:
    """The cookie that the address with the token sets."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
    parts = urlsplit(address)
    connection.request("GET", f"{parts.path}?{parts.query}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return str(answer.getheader("set-cookie")).partition(";")[0]


def measure(home: Path, tries: int) -> list[tuple[str, float, float, float, float]]:
    """For every page: the first request, the median and the slowest of the others, and the CPU of one."""
    found = []
    with served(home) as (address, process):
        cookie = cookie_of(address)
        for name, place in PAGES.items():
            first = request(address, place, cookie)
            time.sleep(3 if name.startswith(("Start", "Release", "Compare")) else 0.1)  # let the work of threads end
            before = cpu_milliseconds(process)
            times = [request(address, place, cookie) for _ in range(tries)]
            cpu = (cpu_milliseconds(process) - before) / tries
            found.append((name, first, median(times), max(times), cpu))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--tries", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        prepare(home, chosen.rows)
        found = measure(home, chosen.tries)
    print(f"{chosen.rows:,} rows, {chosen.tries} tries, milliseconds\n")
    print("| page | first | median | slowest | CPU |")
    print("|---|---|---|---|---|")
    for name, first, middle, slowest, cpu in found:
        print(f"| {name} | {first:.0f} | {middle:.0f} | {slowest:.0f} | {cpu:.0f} |")
    over = [name for name, first, middle, _, _ in found if max(first, middle) > LIMIT]
    print(f"\nOver {LIMIT} ms: {', '.join(over) or 'none'}")
    return FAILED if over else 0


if __name__ == "__main__":
    sys.exit(main())
