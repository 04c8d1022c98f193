"""What reproducing a figure of a paper gives: rows, a plot, and the paper's printed claims beside what we find."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scumble.charts import Chart, write_svg

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something a paper prints, what it prints, what we find, and whether the two agree (None: not ours to judge)."""

    text: str
    paper: str
    ours: str
    holds: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A reproduced figure. All rows have the same columns."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    claims: tuple[Claim, ...]
    chart: Chart
    notes: tuple[str, ...] = ()
    """How this differs from the paper's experiment."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """How a figure is wanted. `runs` None: as many as in the paper. What was computed before is read from `cache`."""

    cache: Path
    runs: int | None = None
    jobs: int = 1
    progress: Progress = field(default=lambda label, done, total: None)


def write_figure(name: str, figure: Figure, folder: Path) -> dict[str, Any]:
    """NAME.csv, NAME.svg, NAME.md and NAME.json in a folder; what the JSON says."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(figure.rows[0]) if figure.rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(figure.rows)
    write_svg(figure.chart, folder / f"{name}.svg")
    told = {
        "figure": name,
        "title": figure.title,
        "claims": [asdict(claim) for claim in figure.claims],
        "notes": list(figure.notes),
        "rows": [dict(row) for row in figure.rows],
    }
    (folder / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(markdown(name, figure), encoding="utf-8")
    return told


def markdown(name: str, figure: Figure) -> str:
    text = [f"# {figure.title}", "", f"![{figure.title}]({name}.svg)", ""]
    text += ["| claim | paper | ours | |", "|---|---|---|---|"]
    text += [f"| {claim.text} | {claim.paper} | {claim.ours} | {verdict(claim)} |" for claim in figure.claims]
    text += ["", *(f"- {note}" for note in figure.notes)]
    return "\n".join(text).rstrip() + "\n"


def verdict(claim: Claim) -> str:
    return {True: "agrees", False: "differs", None: ""}[claim.holds]
