"""The result of reproducing a figure: rows, a plot, and the paper's claims compared with our results."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scumble.charts import Chart, write_svg
from scumble.flows.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper, the value it prints, our value, and whether the two agree.

    `holds` is None if the paper makes no statement that our value could confirm or refute.
    """

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
    """How the reproduction differs from the paper's experiment."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """How to reproduce a figure. `runs` None means as many as in the paper. Earlier results are read from `cache`.

    `classifier` None means the one of the paper, for figures whose accuracy is that of a classifier.
    A `quick` figure has one run and less data; its claims are checked, but a claim that differs may hold in full.
    """

    cache: Path
    runs: int | None = None
    jobs: int = 1
    classifier: str | None = None
    quick: bool = False
    progress: Progress = field(default=lambda label, done, total: None)

    def times(self, usual: int) -> int:
        """The number of runs, where the paper has `usual`."""
        return self.runs or (1 if self.quick else usual)

    def size(self, usual: int, quick: int) -> int:
        """The amount of data, where the paper has `usual`."""
        return quick if self.quick else usual


def write_figure(name: str, figure: Figure, folder: Path) -> dict[str, Any]:
    """Write NAME.csv, NAME.svg, NAME.md and NAME.json into a folder; return the JSON object."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(figure.rows[0]) if figure.rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(figure.rows)
    write_svg(figure.chart, folder / f"{name}.svg")
    summary = {
        "figure": name,
        "title": figure.title,
        "claims": [asdict(claim) for claim in figure.claims],
        "notes": list(figure.notes),
        "rows": [dict(row) for row in figure.rows],
    }
    (folder / f"{name}.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(figure_page(name, figure), encoding="utf-8")
    return summary


def figure_page(name: str, figure: Figure) -> str:
    """The figure with its claims and notes, as Markdown."""
    text = [f"# {figure.title}", "", f"![{figure.title}]({name}.svg)", ""]
    text += ["| claim | paper | ours | |", "|---|---|---|---|"]
    text += [f"| {claim.text} | {claim.paper} | {claim.ours} | {verdict(claim)} |" for claim in figure.claims]
    text += ["", *(f"- {note}" for note in figure.notes)]
    return "\n".join(text).rstrip() + "\n"


def verdict(claim: Claim) -> str:
    return {True: "agrees", False: "differs", None: ""}[claim.holds]
