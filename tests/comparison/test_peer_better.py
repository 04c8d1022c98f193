"""The table of peers lists the better of the full grids and the public bins."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "peers" / "better.py"


def lines(contender: str, auc: float, *, classifier: str = "boosting", eps: str = "1", splits: int = 3) -> list[Any]:
    names = ("accuracy", "balanced_accuracy", "balanced_accuracy_weighted", "auc")
    facts = {"table": "t", "contender": contender, "epsilon": eps, "number": splits, "cpu_seconds": 2.0}
    found = [{**facts, "classifier": classifier, "measure": name, "mean": auc} for name in names]
    return found + [{**facts, "classifier": "tree", "measure": "accuracy", "mean": 0.5}] * (classifier == "boosting")


def test_the_better_one_of_each_peer_is_listed(tmp_path: Path) -> None:
    file = tmp_path / "comparison.json"
    rows = [
        *lines("aim", 0.8),
        *lines("aim-20", 0.9),
        *lines("aim", 0.7, eps="0.1"),
        *lines("aim-20", 0.6, eps="0.1"),
        *lines("dpebm", 0.85, classifier="own"),
        *lines("dpebm-20", 0.84, classifier="own"),
        *lines("mst", 0.5, splits=1),
        *lines("mst-20", 0.6),
        *lines("raw", 0.95, eps=""),
    ]
    file.write_text(json.dumps({"lines": rows}))
    done = subprocess.run([sys.executable, SCRIPT, file], capture_output=True, text=True, check=True)
    cells = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [(row[1], row[2], row[7]) for row in cells] == [
        ("0.1", "aim", "0.7000"),
        ("1", "aim-20", "0.9000"),
        ("1", "dpebm", "0.8500"),
        ("1", "mst", "0.5000"),
        ("1", "mst-20", "0.6000"),
        ("–", "raw", "0.9500"),
    ]
    assert cells[1] == ["t", "1", "aim-20", "50.00", "90.00", "90.00", "90.00", "0.9000", "3", "2.0"]
    assert subprocess.run([sys.executable, SCRIPT], capture_output=True, check=False).returncode == 2
