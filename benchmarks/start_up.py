"""The CPU time of a fresh process that reads no rows: an import, a help text, a plan.

python benchmarks/start_up.py           these figures alone; exit code 4 when a limit is missed
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import figures
from figures import Figure
from scumble.demo.patients import patients_schema
from scumble.files.schema_file import write_schema
from scumble.model.schema import Schema

IMPORT_LIMIT = 0.3
COMMAND_LIMIT = 0.5
"""Seconds of CPU, user and system, on an idle machine with the files in the disk cache."""
REPEATS = 5


def start_up(schema: Schema, repeats: int) -> list[Figure]:
    """Medians over `repeats` fresh processes, after one that warms the disk cache."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema.yaml"
        write_schema(schema, path)
        commands = {
            "`import scumble`": (IMPORT_LIMIT, ["-c", "import scumble"]),
            "`scumble --help`": (COMMAND_LIMIT, ["-m", "scumble", "--help"]),
            "`scumble plan`": (COMMAND_LIMIT, ["-m", "scumble", "plan", "--schema", str(path), "--epsilon", "1"]),
        }
        return [
            Figure(
                what=what,
                measured=median([cpu_seconds(words) for _ in range(repeats + 1)][1:]),
                unit="s",
                limit=limit,
                detail="CPU of a fresh process",
            )
            for what, (limit, words) in commands.items()
        ]


def cpu_seconds(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    found = start_up(patients_schema(), REPEATS)
    print(figures.table(found))
    sys.exit(figures.exit_code(found))
