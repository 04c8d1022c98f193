"""The lengths of all runs, kept in one JSON file for each target and added up by version of the package."""

import hashlib
import json
from pathlib import Path
from typing import Any

import scumble

ADDED = ("inputs", "accepted", "seconds", "crashes", "hangs", "memory_faults")
LARGEST = ("slowest", "memory", "lines", "places")


def version() -> str:
    """A digest of the package's source files."""
    root = Path(scumble.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def counted(run: dict[str, Any]) -> dict[str, Any]:
    """The tally of a run, its faults counted by kind."""
    kinds = [fault["kind"] for fault in run["faults"]]
    counts = {"crashes": kinds.count("crash"), "hangs": kinds.count("hang"), "memory_faults": kinds.count("memory")}
    return {name: value for name, value in {**run, **counts}.items() if name in (*ADDED, *LARGEST)}


def total(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several tallies as one."""
    added = {name: round(sum(run.get(name, 0) for run in runs), 1) for name in ADDED}
    return added | {name: max((run.get(name, 0) for run in runs), default=0) for name in LARGEST}


def read(folder: Path, target: str) -> dict[str, dict[str, Any]]:
    """The tallies of a target by version."""
    path = folder / f"{target}.json"
    found: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def add(folder: Path, target: str, run: dict[str, Any], of_version: str) -> None:
    """Add a run to the file of its target."""
    tallies = read(folder, target)
    tallies[of_version] = total([tallies[of_version], run] if of_version in tallies else [run])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{target}.json"
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(tallies, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)
