"""`scumble reproduce all`: every figure, one after the other, each on all cores, and which claims agree.

A finished figure is noted in the cache with the digest of the code behind it. An interrupted run, or one after a change
of the code, only repeats what is not noted. A figure that cannot be made, such as one without its data set, is reported
and does not end the run.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scumble.comparison.cached_runs import keep, kept_path, recall
from scumble.comparison.source_digest import digest_of_sources
from scumble.errors import ScumbleError
from scumble.reproductions.figure import Figure, Request, write_figure

CPU_SECONDS: Mapping[str, tuple[float, float]] = {
    "as-table1": (1, 1),
    "as-fig2": (1, 1),
    "as-fig3": (1, 1),
    "as-fig5": (1900, 45),
    "as-fig6": (1700, 30),
    "as-discretized": (120, 10),
    "as-stop": (3, 3),
    "as-costs": (230, 25),
    "as-filter": (30, 30),
    "as-limits": (330, 25),
    "as-local": (400, 40),
    "diffgen-fig3a": (560, 60),
    "diffgen-fig3b": (560, 60),
    "diffgen-fig4": (1900, 40),
    "diffgen-fig5": (40, 40),
    "diffgen-table2": (1, 1),
    "diffgen-examples": (2, 2),
    "diffgen-h": (430, 90),
    "joint-linking": (60, 2),
    "micro-fig4": (25, 12),
    "micro-fig5": (10, 2),
    "micro-fig6": (60, 15),
}
"""What a figure took, in full and in quick form. Only used to estimate how long the others will take."""
UNKNOWN_SECONDS = (600.0, 60.0)
"""The same for a figure that is not listed. A test wants every figure of the package to be listed."""

Announce = Callable[[str, int, int, float], None]
"""Called before each figure with its name, its number, how many there are, and the estimated seconds that are left."""


@dataclass(frozen=True, kw_only=True)
class ReproducedFigure:
    """One figure: how many claims agree and differ, or why it was not made."""

    figure: str
    title: str = ""
    agree: int = 0
    differ: tuple[str, ...] = ()
    """The claims that differ."""
    without_verdict: int = 0
    seconds: float = 0.0
    again: bool = True
    """Whether the figure was made now, not in an earlier run."""
    problem: str = ""

    @classmethod
    def of(cls, name: str, made: Mapping[str, Any], *, seconds: float, again: bool) -> "ReproducedFigure":
        """The outcome of a figure as `write_figure` returns it."""
        verdicts = [claim["holds"] for claim in made["claims"]]
        return cls(
            figure=name,
            title=str(made["title"]),
            agree=verdicts.count(True),
            differ=tuple(_text(claim) for claim in made["claims"] if claim["holds"] is False),
            without_verdict=verdicts.count(None),
            seconds=seconds,
            again=again,
        )


def _text(claim: Mapping[str, Any]) -> str:
    return f"{claim['text']} ({claim['ours']})"


def reproduce_all(
    figures: Mapping[str, Callable[[Request], Figure]], request: Request, folder: Path, announce: Announce
) -> list[ReproducedFigure]:
    """Make all figures, write them and their summary into a folder, and return what became of each."""
    outcomes = list(_outcomes(figures, request, folder, announce))
    summary = {"quick": request.quick, "runs": request.runs, "figures": [asdict(each) for each in outcomes]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    (folder / "summary.md").write_text(summary_page(outcomes, quick=request.quick), encoding="utf-8")
    return outcomes


def _outcomes(
    figures: Mapping[str, Callable[[Request], Figure]], request: Request, folder: Path, announce: Announce
) -> Iterator[ReproducedFigure]:
    # Figures that do not know quick forms have one run.
    asked = replace(request, runs=request.runs or 1) if request.quick else request
    estimate = TimeLeft(tuple(figures), request)
    for number, (name, make) in enumerate(figures.items(), start=1):
        facts = {
            "what": "figure/1",
            "figure": name,
            "runs": asked.runs,
            "quick": asked.quick,
            "classifier": asked.classifier,
            "code": digest_of_sources(make.__module__),
        }
        noted = kept_path(request.cache, facts)
        earlier = recall(noted)
        if earlier is not None and (folder / f"{name}.svg").exists():
            estimate.skip(name)
            yield ReproducedFigure.of(name, earlier, seconds=earlier["seconds"], again=False)
            continue
        announce(name, number, len(figures), estimate.left())
        began = time.perf_counter()
        try:
            made = write_figure(name, make(asked), folder)
        except ScumbleError as error:
            estimate.skip(name)
            yield ReproducedFigure(figure=name, problem=str(error))
            continue
        seconds = time.perf_counter() - began
        keep(noted, {"title": made["title"], "claims": made["claims"], "seconds": round(seconds, 1)})
        estimate.took(name, seconds)
        yield ReproducedFigure.of(name, made, seconds=seconds, again=True)


class TimeLeft:
    """How long the figures that are left will take: their usual CPU seconds, in the proportion seen so far."""

    def __init__(self, names: Sequence[str], request: Request) -> None:
        self._usual = {name: CPU_SECONDS.get(name, UNKNOWN_SECONDS)[request.quick] / request.jobs for name in names}
        self._taken = self._expected = 0.0

    def took(self, name: str, seconds: float) -> None:
        self._taken += seconds
        self._expected += self._usual.pop(name)

    def skip(self, name: str) -> None:
        """A figure that is not made, and says nothing about the speed."""
        self._usual.pop(name)

    def left(self) -> float:
        """Seconds. A minute of the usual pace counts as seen, so that the first small figures do not decide alone."""
        pace = (self._taken + 60) / (self._expected + 60)
        return pace * sum(self._usual.values())


def summary_page(outcomes: Sequence[ReproducedFigure], *, quick: bool) -> str:
    """The summary as Markdown: a table of figures, and every claim that differs."""
    text = ["# Claims of the papers", ""]
    if quick:
        text += ["Quick forms: one run and less data. A claim that differs here may agree in full.", ""]
    text += [
        total_sentence(outcomes),
        "",
        "| figure | agree | differ | no verdict | seconds |",
        "|---|---|---|---|---|",
    ]
    for each in outcomes:
        if each.problem:
            text.append(f"| {each.figure} | not made | | | |")
        else:
            link = f"[{each.figure}]({each.figure}.md)"
            text.append(f"| {link} | {each.agree} | {len(each.differ)} | {each.without_verdict} | {each.seconds:.0f} |")
    for each in outcomes:
        lines = [*each.differ, *([each.problem] if each.problem else [])]
        if lines:
            text += ["", f"## {each.figure}", "", *(f"- {line}" for line in lines)]
    return "\n".join(text) + "\n"


def total_sentence(outcomes: Sequence[ReproducedFigure]) -> str:
    """How many claims agree and differ in all."""
    agree, differ = sum(each.agree for each in outcomes), sum(len(each.differ) for each in outcomes)
    missing = [each.figure for each in outcomes if each.problem]
    not_made = f" Not made: {', '.join(missing)}." if missing else ""
    return f"{agree} claims agree, {differ} differ.{not_made}"
