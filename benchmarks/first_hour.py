"""A newcomer's first steps, each timed: an empty environment, an own CSV, a release, and a mined model.

    python benchmarks/first_hour.py                 installs this clone, as README says
    python benchmarks/first_hour.py --wheel         builds the wheel and installs it

It follows README: a schema is drafted from the CSV, and one that is written by hand replaces it. Prints the table of
docs/start.md.
"""

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "[evaluate,charts]"
SCHEMA = """\
scumble: schema/1
target: renewed
attributes:
  joined: {date: {from: 2015-01-01, to: 2027-01-01, step: year}, public because: the library opened in 2015}
  branch: {taxonomy: {Any: {City: {Centre: , Station: }, Outside: {Hill: , Lake: }}}, public because: our branches}
  born: {numeric: {low: 1920, high: 2025, step: 1}, public because: years of birth}
  loans: {numeric: {low: 0, high: 200, step: 5}, public because: more than 200 count as 199}
  renewed: {boolean: {false: ["0"], true: ["1"]}, public because: the question}
  card: {identifier: true}
"""
"""What the newcomer writes instead of the drafted domains."""


def members(path: Path, rows: int, seed: int) -> None:
    """Members of a library, in another shape than the demo's patients: dates, 0 and 1, a semicolon between columns."""
    draw = random.Random(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=";")
        table.writerow(["card", "joined", "branch", "born", "loans", "renewed"])
        for number in range(rows):
            branch = draw.choice(["Centre", "Station", "Hill", "Lake"])
            loans = int(draw.expovariate(0.04))
            renewed = int(draw.random() < 0.2 + 0.5 * (loans > 25) + 0.2 * (branch == "Hill"))
            joined = f"{draw.randrange(2015, 2026)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
            table.writerow([f"C{number}", joined, branch, draw.randrange(1930, 2018), loans, renewed])


def steps(source: str) -> list[tuple[str, str]]:
    """What is done, and the command. `scumble` and `python` are those of the new environment."""
    mine = "import scumble; t = scumble.NoisyCellsClassifier().fit_release(scumble.load_release('release'))"
    return [
        ("an environment", f"{sys.executable} -m venv environment"),
        ("install", f"python -m pip install -qq --disable-pip-version-check '{source}{EXTRAS}'"),
        ("`import scumble`", "python -c 'import scumble'"),
        ("`scumble --help`", "scumble --help"),
        ("what is there", "scumble doctor"),
        ("the demo", "scumble demo --out demo"),
        ("a draft of the schema", "scumble schema draft members.csv --out draft.yaml"),
        ("what it will cost", "scumble plan --schema schema.yaml --epsilon 1"),
        ("whether the rows fit", "scumble schema check schema.yaml members.csv --rows"),
        ("publish", "scumble release members.csv --schema schema.yaml --epsilon 1 --out release"),
        ("verify", "scumble verify release"),
        ("a question", "scumble query release \"branch = 'City'\" --by renewed"),
        ("a mined tree", f'python -c "{mine}; print(t.export_text())"'),
        ("how good it is", "scumble evaluate release --test others.csv --train members.csv"),
        ("what was spent", "scumble ledger show"),
    ]


def walk(folder: Path, source: str) -> float:
    """Do all steps in a folder, print a line for each; returns the seconds of all together."""
    members(folder / "members.csv", 10_000, seed=1)
    members(folder / "others.csv", 3_000, seed=2)
    (folder / "schema.yaml").write_text(SCHEMA, "utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SCUMBLE_", "PYTHON"))}
    path = os.pathsep.join([str(folder / "environment" / "bin"), os.environ["PATH"]])
    environment = {**kept, "PATH": path, "HOME": str(folder), "PIP_CACHE_DIR": str(folder / "cache")}
    total = 0.0
    print("| step | seconds |\n|---|---|")
    for what, command in steps(source):
        began = time.perf_counter()
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        took = time.perf_counter() - began
        if done.returncode:
            raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        print(f"| {what} | {took:.1f} |", flush=True)
        total += took
    print(f"| all together | {total:.0f} |")
    return total


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--wheel", action="store_true", help="build the wheel and install that")
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as place:
        source = str(ROOT)
        if given.wheel:
            build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place]
            subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
            source = str(next(Path(place).glob("*.whl")))
        folder = Path(place) / "newcomer"
        folder.mkdir()
        walk(folder, source)


if __name__ == "__main__":
    main()
