#!/usr/bin/env python3
"""A Markdown table of a comparison in which each peer has one row for each table and eps: the better of its two.

    python3 benchmarks/peers/better.py benchmarks/results/compare/comparison.json

A peer ran on the full public grids and on at most 20 public bins (`aim` and `aim-20`). The better one has the higher
AUC, with boosting where the peer makes a table. It is chosen by the test rows that the table reports, which favours
the peer. If the two were measured on different numbers of splits, both are listed.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

BINNED = "-20"
LEARNERS = ("boosting", "own")
"""The classifier by which contenders are compared: boosting on a table, or the peer's own model."""
MEASURES = {"accuracy": 100, "balanced_accuracy": 100, "balanced_accuracy_weighted": 100, "auc": 1}
HEAD = (
    "table",
    "eps",
    "contender",
    "tree",
    "boosting or own",
    "balanced",
    "balanced, weighted",
    "AUC",
    "splits",
    "CPU s",
)

Row = dict[tuple[str, str], Mapping[str, Any]]
"""The lines of a contender on a table at one eps, by classifier and measure."""


def rows_of(lines: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], Row]:
    """The rows in the order of the comparison, by table, eps and contender."""
    rows: dict[tuple[str, str, str], Row] = {}
    for line in lines:
        row = rows.setdefault((line["table"], line["epsilon"], line["contender"]), {})
        row[line["classifier"], line["measure"]] = line
    return rows


def better_rows(lines: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], Row]:
    """All rows by table and eps, without the worse of the two of each peer."""
    rows = rows_of(lines)
    worse = set()
    for table, epsilon, contender in rows:
        full, few = (table, epsilon, contender), (table, epsilon, contender + BINNED)
        if few in rows and _line(rows[full], "auc")["number"] == _line(rows[few], "auc")["number"]:
            worse.add(min(full, few, key=lambda place: float(_line(rows[place], "auc")["mean"])))
    tables = list(dict.fromkeys(table for table, _, _ in rows))
    order = sorted(rows, key=lambda place: (tables.index(place[0]), float(place[1] or "inf")))
    return {place: rows[place] for place in order if place not in worse}


def _line(row: Row, measure: str) -> Mapping[str, Any]:
    return next(row[learner, measure] for learner in LEARNERS if (learner, measure) in row)


def table(lines: Iterable[Mapping[str, Any]]) -> str:
    """The better rows as Markdown, accuracies in %."""
    text = [HEAD, ("---",) * len(HEAD)]
    for (name, epsilon, contender), row in better_rows(lines).items():
        tree = row.get(("tree", "accuracy"))
        values = [
            f"{scale * _line(row, measure)['mean']:.{2 if scale == 100 else 4}f}" for measure, scale in MEASURES.items()
        ]
        auc = _line(row, "auc")
        cells = (name, epsilon or "–", contender, "" if tree is None else f"{100 * tree['mean']:.2f}", *values)
        text.append((*cells, str(auc["number"]), f"{auc['cpu_seconds']:.1f}"))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in text)


def main() -> int:
    if len(sys.argv) != 2:
        print("Give one comparison.json, as `scumble compare` writes it.", file=sys.stderr)
        return 2
    print(table(json.loads(Path(sys.argv[1]).read_text("utf-8"))["lines"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
