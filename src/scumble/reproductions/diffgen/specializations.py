"""Section 5 of the DiffGen paper: accuracy rises and then falls with h, and a contingency table is worse.

Algorithm 1 with the score Max runs with far more specializations than in Figure 3. With every specialization the number
of groups grows and their counts shrink, while the noise stays the same; the end of this line is the whole contingency
table. That table has more than 10^15 combinations on Adult, so the comparison uses eight attributes in at most four
public bins each. A release has at most a million cells (`max_cells`): specializations that would make more are not
offered, so fewer than h may be made. The figure reports how many were.

That accuracy rises and falls is tested with numbers of specializations that were fixed before the runs: h = 8 against
no specialization, where every record is predicted to be of the most frequent class, and h = 24 against h = 8.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.cached_runs import run_cached
from scumble.comparison.judging import JUDGE
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.summary import Mean
from scumble.comparison.tables import digest_of_table
from scumble.comparison.trials import release_of, scores_of_release
from scumble.methods import method_named
from scumble.mining.benchmark.scores import majority_accuracy
from scumble.model.release import Release
from scumble.reproductions.diffgen.accuracy import CLASSIFIER, adult_split
from scumble.reproductions.diffgen.significance import LEVEL, mean_above
from scumble.reproductions.figure import Claim, Figure, Request

EPSILONS = ("0.1", "1")
ROUNDS = (1, 2, 4, 8, 12, 16, 24)
MIDDLE, MANY = 8, 24
"""The numbers of specializations that are compared, fixed before the runs."""
RUNS = 10
QUICK_RUNS = 2
CONTINGENCY = 0
"""In place of a number of specializations: the contingency table."""
COARSE = "age,education,marital-status,occupation,relationship,sex,hours-per-week,capital-gain"
BINS = 4


class DepthRun(NamedTuple):
    """The accuracy in % of one release, and how many specializations and cells it has."""

    accuracy: float
    specializations: int
    cells: int


def run_depth(facts: Mapping[str, Any]) -> dict[str, Any]:
    """One release of Adult's training rows: its accuracy in %, its specializations and cells."""
    train, test = adult_split()
    rounds, classifier = facts["rounds"], facts["classifier"]
    settings: dict[str, Any] = {"attributes": COARSE, "bins": BINS}
    if rounds != CONTINGENCY:
        settings = {"selection": "published", "score": "max", "rounds": rounds}
    method = "contingency" if rounds == CONTINGENCY else "diffgen"
    made = release_of(train, method, {**settings, "epsilon": facts["epsilon"]})
    scores = scores_of_release(made, train, test, classifiers=[classifier])
    found = DepthRun(100 * scores[classifier]["accuracy"], specializations_of(made), len(getattr(made, "measured", ())))
    return {**facts, **found._asdict()}


def specializations_of(made: Release) -> int:
    """How many specializations a release of published DiffGen describes; 0 if it has none."""
    return sum(" -> " in line for line in made.story)


Depths = Mapping[tuple[str, int], Sequence[DepthRun]]
"""The runs for each epsilon and number of specializations."""


def depths(request: Request) -> Depths:
    modules = [type(method_named(name)).__module__ for name in ("diffgen", "contingency")]
    facts = [
        {
            "figure": "diffgen h",
            "version": digest_of_sources(*modules, *JUDGE),
            "adult": digest_of_table("adult"),
            "classifier": request.classifier or CLASSIFIER,
            "epsilon": epsilon,
            "rounds": rounds,
            "run": run,
        }
        for run in range(request.runs or request.size(RUNS, QUICK_RUNS))
        for epsilon in EPSILONS
        for rounds in (CONTINGENCY, *ROUNDS)
    ]
    results = run_cached(
        facts, run_depth, cache=request.cache, jobs=request.jobs, progress=request.progress, label="releases"
    )
    found: dict[tuple[str, int], list[DepthRun]] = defaultdict(list)
    for result in results:
        found[result["epsilon"], result["rounds"]].append(DepthRun(*(result[name] for name in DepthRun._fields)))
    return found


def specializations_figure(request: Request) -> Figure:
    found = depths(request)
    lower = 100 * majority_accuracy(*(part.sample(part.schema) for part in adult_split()))
    series = tuple(
        Series(label=f"eps {epsilon}", points=tuple(_point(h, found[epsilon, h]) for h in ROUNDS))
        for epsilon in EPSILONS
    )
    lines = [
        ReferenceLine(label=f"contingency, eps {epsilon}", y=_mean(found[epsilon, CONTINGENCY]).mean)
        for epsilon in EPSILONS
    ]
    panel = Panel(
        title="",
        x_label="specializations h",
        y_label="accuracy on the test rows, %",
        series=series,
        reference_lines=(ReferenceLine(label="LA", y=lower), *lines),
        logarithmic=True,
    )
    number = len(found[EPSILONS[0], ROUNDS[0]])
    title = "Section 5: more specializations, and the contingency table"
    return Figure(
        title=title,
        rows=[_row(epsilon, h, runs) for (epsilon, h), runs in found.items()],
        claims=claims_of_depths(found, lower),
        chart=Chart(title=title, panels=(panel,), note=f"mean of {number} runs, 95 % confidence intervals"),
        notes=(
            f"Classifier: {request.classifier or CLASSIFIER}. Runs at each point: {number}.",
            f"LA, {lower:.2f} %, is the accuracy without specializations. Tests: one-sided t-tests at level {LEVEL:g}.",
            "A release has at most 1,000,000 cells. Specializations made on average: " + _made(found),
            f"The contingency table counts {COARSE.replace(',', ', ')}, each in at most {BINS} bins of the schema.",
        ),
    )


def claims_of_depths(found: Depths, lower: float) -> tuple[Claim, ...]:
    """That accuracy rises and then falls, and that the contingency table is worse; `lower` is LA in %."""
    claims = []
    for epsilon in EPSILONS:
        means = {h: [run.accuracy for run in found[epsilon, h]] for h in (CONTINGENCY, *ROUNDS)}
        middle = means[MIDDLE]
        compared = (
            (f"accuracy rises from no specialization to h = {MIDDLE}", "rises", middle, [lower]),
            (f"accuracy falls from h = {MIDDLE} to h = {MANY}", "falls", middle, means[MANY]),
            (f"a contingency table (of a coarsened Adult) is worse than h = {MIDDLE}", "worse", middle, means[0]),
        )
        for text, paper, above, below in compared:
            test = mean_above(above, below)
            claims.append(Claim(text=f"{text}, at eps {epsilon}", paper=paper, ours=test.text, holds=test.verdict))
    return tuple(claims)


def _row(epsilon: str, rounds: int, runs: Sequence[DepthRun]) -> dict[str, Any]:
    return {
        "epsilon": epsilon,
        "h": "contingency" if rounds == CONTINGENCY else rounds,
        **vars(_mean(runs)),
        "specializations": sum(run.specializations for run in runs) / len(runs),
        "cells": sum(run.cells for run in runs) / len(runs),
    }


def _made(found: Depths) -> str:
    """How many specializations were made where fewer than h were.

    >>> _made({("1", h): [DepthRun(80.0, min(h, 20), 10)] for h in ROUNDS})
    '20.0 for h = 24 at eps 1.'
    """
    fewer = [
        f"{number:.1f} for h = {h} at eps {epsilon}"
        for (epsilon, h), runs in found.items()
        if h != CONTINGENCY and (number := sum(run.specializations for run in runs) / len(runs)) < h
    ]
    return f"{', '.join(fewer)}." if fewer else "h."


def _mean(runs: Sequence[DepthRun]) -> Mean:
    return Mean.of([run.accuracy for run in runs])


def _point(rounds: int, runs: Sequence[DepthRun]) -> Point:
    mean = _mean(runs)
    return Point.around(rounds, mean.mean, mean.band)
