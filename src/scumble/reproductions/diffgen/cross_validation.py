"""Figure 4 of the DiffGen paper (KDD 2011): DiffGen, DiffP-C4.5 and TDS under 10 runs of 10-fold cross-validation.

The data are all 45,222 records of Adult. DiffGen is Algorithm 1 with the score Max and h = 15. DiffP-C4.5 chooses split
values and stops as published, and compares tests by Max. TDS has no epsilon; it is at k = 5, and at larger k, of which
the paper says that they are less accurate. The classifier of DiffGen and TDS is C4.5. Two more lines are our defaults
of `diffgen` and of `diffp-c45`. The paper copies the line of DiffP-C4.5 from its own paper; ours is our implementation.

Lines are compared fold by fold: one is above another if the mean difference is more than two standard errors above
zero. The quick form runs two of the ten folds once.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.cached_runs import run_cached
from scumble.comparison.judging import JUDGE
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.summary import Mean
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import trial
from scumble.methods import method_named
from scumble.mining.benchmark.scores import score
from scumble.model.counts import Integers
from scumble.privacy.noise import simulation
from scumble.reproductions.diffgen.accuracy import CLASSIFIER
from scumble.reproductions.figure import Claim, Figure, Request

EPSILONS = ("0.75", "1", "2", "3", "4")
RUNS = 10
FOLDS = 10
QUICK_FOLDS = 2
SMALL = ("0.75", "1", "2")
"""The budgets at which the paper says that DiffGen is clearly better."""
DIFFGEN, DEFAULT, RAW = "DiffGen, h = 15", "our default", "raw rows"
DIFFP, DIFFP_DEFAULT = "DiffP-C4.5, published splits and stopping", "DiffP-C4.5, our default"
TDS_AT = {k: f"TDS, k = {k}" for k in (5, 50, 500)}
TDS = TDS_AT[5]
"""The line of the paper."""
LINES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    DIFFGEN: ("diffgen", {"selection": "published", "score": "max", "rounds": 15}),
    DIFFP: ("diffp-c45", {"splits": "published", "stopping": "published"}),
    DIFFP_DEFAULT: ("diffp-c45", {}),
    DEFAULT: ("diffgen", {}),
    **{line: ("tds", {"k": k}) for k, line in TDS_AT.items()},
}
NOTES = (
    "DiffP-C4.5 is our implementation with depth 5; the paper copies results of its authors and prints no numbers.",
    "Split values of DiffGen and DiffP-C4.5 come from the schema's public grids.",
    "DiffP-C4.5 is one classifier; DiffGen and TDS publish a table, on which C4.5 is trained.",
    "Epsilon protects one record added or removed. TDS has no epsilon: it is k-anonymous, a weaker promise.",
    "Differences are paired by fold, with their standard errors. Training rows of different folds overlap.",
)

Accuracies = Mapping[tuple[str, str], Sequence[float]]
"""The accuracy in % on each fold, for each line and epsilon; empty epsilon for what does not depend on it."""


def fold_rows(rows: int, run: int, fold: int) -> tuple[Integers, Integers]:
    """The training and test rows of a fold. The folds of a run divide the rows; each run divides them anew."""
    order = simulation(run).permutation(rows)
    parts = np.array_split(order, FOLDS)
    return np.concatenate([part for place, part in enumerate(parts) if place != fold]), parts[fold]


def run_fold(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The accuracy in % of one line, at one epsilon, on one fold."""
    table = table_named("adult")
    train, test = (table.part(rows) for rows in fold_rows(table.rows, facts["run"], facts["fold"]))
    line, classifier = facts["line"], facts["classifier"]
    if line == RAW:
        scores = score(train.sample(table.schema), test.sample(table.schema), table.schema, classifiers=[classifier])
    else:
        method, parameters = LINES[line]
        budget = {"epsilon": facts["epsilon"]} if facts["epsilon"] else {}
        scores = trial(train, test, method=method, parameters={**parameters, **budget}, classifiers=[classifier])
    return {**facts, "accuracy": 100 * next(iter(scores.values()))["accuracy"]}


def accuracies(request: Request) -> Accuracies:
    """The accuracies, computed or read from the cache. All lines have the folds in the same order."""
    adult, classifier = digest_of_table("adult"), request.classifier or CLASSIFIER
    facts = []
    for run in range(request.times(RUNS)):
        for fold in range(request.size(FOLDS, QUICK_FOLDS)):
            for line in (*LINES, RAW):
                modules = [] if line == RAW else [type(method_named(LINES[line][0])).__module__]
                for epsilon in EPSILONS if _has_epsilon(line) else ("",):
                    facts.append(
                        {
                            "figure": "diffgen 4",
                            "version": digest_of_sources(*modules, *JUDGE),
                            "adult": adult,
                            "classifier": classifier,
                            "line": line,
                            "epsilon": epsilon,
                            "run": run,
                            "fold": fold,
                        }
                    )
    results = run_cached(
        facts, run_fold, cache=request.cache, jobs=request.jobs, progress=request.progress, label="folds"
    )
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for result in results:
        found[result["line"], result["epsilon"]].append(float(result["accuracy"]))
    return dict(found)


def _has_epsilon(line: str) -> bool:
    return line not in (*TDS_AT.values(), RAW)


def figure_4(request: Request) -> Figure:
    found = accuracies(request)
    rows: list[dict[str, Any]] = [
        {"line": line, "epsilon": epsilon, **vars(Mean.of(values))} for (line, epsilon), values in found.items()
    ]
    panel = Panel(
        title="",
        x_label="privacy budget eps",
        y_label="accuracy, %",
        series=tuple(Series(label=line, points=_points(found, line)) for line in LINES if _has_epsilon(line)),
        reference_lines=tuple(
            ReferenceLine(label=line, y=Mean.of(found[line, ""]).mean) for line in (RAW, *TDS_AT.values())
        ),
    )
    folds = len(found[RAW, ""])
    title = "Figure 4: DiffGen, DiffP-C4.5 and TDS on Adult"
    return Figure(
        title=title,
        rows=rows,
        claims=claims_of_4(found),
        chart=Chart(title=title, panels=(panel,), note=f"mean of {folds} folds, 95 % confidence intervals"),
        notes=(f"Classifier: {request.classifier or CLASSIFIER}. Folds at each point: {folds}.", *NOTES),
    )


def claims_of_4(found: Accuracies) -> tuple[Claim, ...]:
    """The statements about Figure 4 in section 5, and that our default is above all of them."""
    claims = [
        _above(found, DIFFGEN, DIFFP, epsilon, f"DiffGen is clearly better than DiffP-C4.5 at eps {epsilon}")
        for epsilon in SMALL
    ]
    larger = [difference(found, DIFFGEN, DIFFP, epsilon) for epsilon in EPSILONS if epsilon not in SMALL]
    claims.append(
        Claim(
            text="DiffGen is comparable to DiffP-C4.5 at eps 3 and 4, or better",
            paper="comparable",
            ours=", ".join(_signed(each) for each in larger),
            holds=min(each.mean for each in larger) > -1.0,
        )
    )
    claims += [
        _above(found, DIFFGEN, TDS, epsilon, f"DiffGen is better than TDS at k = 5, at eps {epsilon}")
        for epsilon in EPSILONS
    ]
    claims += [
        _above(found, TDS_AT[smaller], TDS_AT[k], "", f"TDS is less accurate at k = {k} than at {smaller}", "less")
        for smaller, k in pairwise(TDS_AT)
    ]
    claims += [
        _above(found, DEFAULT, other, epsilon, f"our default is above {other}, at eps {epsilon}", paper="")
        for other in LINES
        for epsilon in EPSILONS
        if other == TDS or (other != DEFAULT and _has_epsilon(other))
    ]
    return tuple(claims)


def difference(found: Accuracies, line: str, other: str, epsilon: str) -> Mean:
    """The mean over the folds of the difference of two lines, in points."""
    mine, theirs = (found[each, epsilon if _has_epsilon(each) else ""] for each in (line, other))
    return Mean.of([one - two for one, two in zip(mine, theirs, strict=True)])


def _above(found: Accuracies, line: str, other: str, epsilon: str, text: str, paper: str = "better") -> Claim:
    above = difference(found, line, other, epsilon)
    return Claim(text=text, paper=paper, ours=_signed(above), holds=above.mean > 2 * (above.error or 0.0))


def _signed(difference: Mean) -> str:
    error = "" if difference.error is None else f" ± {difference.error:.2f}"
    return f"{difference.mean:+.2f}{error}"


def _points(found: Accuracies, line: str) -> tuple[Point, ...]:
    means = {epsilon: Mean.of(found[line, epsilon]) for epsilon in EPSILONS}
    return tuple(Point.around(float(epsilon), mean.mean, mean.band) for epsilon, mean in means.items())
