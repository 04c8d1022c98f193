"""Figures 3(a) and 3(b) of the DiffGen paper (KDD 2011): accuracy over the number of specializations, Max and InfoGain.

The data are Adult's own 30,162 training and 15,060 test rows, the method is the paper's Algorithm 1, and each point is
the mean of ten runs. The classifier is C4.5, as in the paper, or another one by request. BA is its accuracy if trained
on the raw rows, coded by the public schema; LA is the share of the most frequent class among the test rows.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.cached_runs import run_cached
from scumble.comparison.judging import JUDGE
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.summary import Mean
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import CodedTable, trial
from scumble.mining.benchmark.scores import majority_accuracy, score
from scumble.reproductions.figure import Claim, Figure, Request

EPSILONS = ("0.1", "0.25", "0.5", "1")
ROUNDS = (4, 6, 8, 10, 12, 14, 16)
RUNS = 10
CLASSIFIER = "c45"
"""The classifier of the paper."""
TRAINING_ROWS = 30_162
NEAR = 1.0
"""Largest difference, in points of accuracy, that counts as agreement: the paper's own runs vary by as much."""
PAPER_BASELINE, PAPER_LOWER_BOUND = 85.3, 75.5
NOTES = (
    "Split values come from the schema's public grids; the authors' program takes candidate values from the rows.",
    "Categories and ranges come from the schema, and every cell is published, including empty ones.",
)


def run_accuracy(facts: Mapping[str, Any]) -> dict[str, Any]:
    """One release of the training rows by Algorithm 1, and the accuracy of its tree on the test rows, in %."""
    settings = {name: facts[name] for name in ("epsilon", "score", "rounds")}
    train, test = adult_split()
    classifier = facts["classifier"]
    parameters = {**settings, "selection": "published"}
    scores = trial(train, test, method="diffgen", parameters=parameters, classifiers=[classifier])
    return {**settings, "run": facts["run"], "accuracy": 100 * scores[classifier]["accuracy"]}


Curves = Mapping[tuple[str, str, int], Mean]
"""The mean accuracy in % for each score, epsilon and number of rounds."""


@cache
def adult_split() -> tuple[CodedTable, CodedTable]:
    """Adult's own training and test rows."""
    table = table_named("adult")
    return table.part(np.arange(TRAINING_ROWS)), table.part(np.arange(TRAINING_ROWS, table.rows))


def baselines(classifier: str) -> tuple[float, float]:
    """BA and LA in %."""
    train, test = (part.sample(part.schema) for part in adult_split())
    raw = score(train, test, table_named("adult").schema, classifiers=[classifier])
    return 100 * raw[classifier]["accuracy"], 100 * majority_accuracy(train, test)


def curves(scores: Sequence[str], request: Request) -> Curves:
    """The mean accuracy of the runs, computed or read from the cache."""
    version, adult = digest_of_sources("scumble.methods.diffgen.method", *JUDGE), digest_of_table("adult")
    facts = [
        {
            "figure": "diffgen 3",
            "version": version,
            "adult": adult,
            "classifier": request.classifier or CLASSIFIER,
            "score": score,
            "epsilon": epsilon,
            "rounds": rounds,
            "run": run,
        }
        for run in range(request.times(RUNS))
        for score in scores
        for epsilon in EPSILONS
        for rounds in ROUNDS
    ]
    results = run_cached(
        facts,
        run_accuracy,
        cache=request.cache,
        jobs=request.jobs,
        progress=request.progress,
        label="runs of published DiffGen",
    )
    accuracies: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for result in results:
        accuracies[result["score"], result["epsilon"], result["rounds"]].append(float(result["accuracy"]))
    order = [(score, epsilon, rounds) for score in scores for epsilon in EPSILONS for rounds in ROUNDS]
    return {place: Mean.of(accuracies[place]) for place in order}


def figure_3a(request: Request) -> Figure:
    found = curves(["max"], request)
    base, lower = baselines(request.classifier or CLASSIFIER)
    return _figure("Figure 3(a): DiffGen by Max", found, base, lower, claims_of_3a(found, base, lower), request)


def figure_3b(request: Request) -> Figure:
    found = curves(["infogain", "max"], request)
    base, lower = baselines(request.classifier or CLASSIFIER)
    mine = {place: mean for place, mean in found.items() if place[0] == "infogain"}
    return _figure("Figure 3(b): DiffGen by InfoGain", mine, base, lower, claims_of_3b(found, base, lower), request)


def claims_of_3a(found: Curves, base: float, lower: float) -> tuple[Claim, ...]:
    """The statements about Max in section 5."""
    whole = found["max", "1", 10].mean
    halves = [found["max", "0.5", rounds].mean for rounds in ROUNDS]
    tenth = max(found["max", "0.1", rounds].mean for rounds in ROUNDS)
    return (
        *_baseline_claims(base, lower),
        _near("BA − CA at eps 1, h = 10", "around 3", base - whole, 3.0),
        _near("CA − LA at eps 1, h = 10", "6.74", whole - lower, 6.74),
        _span("BA − CA at eps 0.5, over h", (3.57, 4.8), [base - each for each in halves]),
        _span("CA − LA at eps 0.5, over h", (5.0, 6.23), [each - lower for each in halves]),
        _near("highest CA at eps 0.1", "about 78", tenth, 78.0),
        _near("BA − CA there", "about 7", base - tenth, 7.0),
        _near("CA − LA there", "about 3", tenth - lower, 3.0),
        _ordered("a larger budget gives better accuracy (mean over h)", found, "max"),
    )


def claims_of_3b(found: Curves, base: float, lower: float) -> tuple[Claim, ...]:
    """The statement about InfoGain in section 5: it is worse than Max. The paper prints no numbers."""
    claims = []
    for epsilon in EPSILONS:
        infogain, maximum = (np.mean([found[kind, epsilon, h].mean for h in ROUNDS]) for kind in ("infogain", "max"))
        claims.append(
            Claim(
                text=f"InfoGain is not as good as Max at eps {epsilon} (mean over h)",
                paper="worse",
                ours=f"{infogain:.2f} against {maximum:.2f}",
                holds=bool(infogain < maximum),
            )
        )
    return (*_baseline_claims(base, lower), *claims)


def _baseline_claims(base: float, lower: float) -> tuple[Claim, Claim]:
    return (
        _near("BA, raw rows", f"{PAPER_BASELINE}", base, PAPER_BASELINE),
        _near("LA, the class alone", f"{PAPER_LOWER_BOUND}", lower, PAPER_LOWER_BOUND),
    )


def _near(text: str, paper: str, ours: float, wanted: float) -> Claim:
    return Claim(text=text, paper=paper, ours=f"{ours:.2f}", holds=abs(ours - wanted) <= NEAR)


def _span(text: str, paper: tuple[float, float], ours: Sequence[float]) -> Claim:
    low, high = min(ours), max(ours)
    return Claim(
        text=text,
        paper=f"{paper[0]} to {paper[1]}",
        ours=f"{low:.2f} to {high:.2f}",
        holds=abs(low - paper[0]) <= NEAR and abs(high - paper[1]) <= NEAR,
    )


def _ordered(text: str, found: Curves, score: str) -> Claim:
    means = [float(np.mean([found[score, epsilon, rounds].mean for rounds in ROUNDS])) for epsilon in EPSILONS]
    return Claim(text=text, paper="yes", ours=", ".join(f"{mean:.2f}" for mean in means), holds=means == sorted(means))


def _figure(
    title: str, found: Curves, base: float, lower: float, claims: tuple[Claim, ...], request: Request
) -> Figure:
    rows: list[dict[str, Any]] = [
        {"score": score, "epsilon": epsilon, "h": rounds, **vars(mean), "BA": base, "LA": lower}
        for (score, epsilon, rounds), mean in found.items()
    ]
    series = tuple(
        Series(
            label=f"eps {epsilon}",
            points=tuple(_point(place[2], mean) for place, mean in found.items() if place[1] == epsilon),
        )
        for epsilon in EPSILONS
    )
    panel = Panel(
        title="",
        x_label="specializations h",
        y_label="accuracy on the test rows, %",
        series=series,
        reference_lines=(ReferenceLine(label="BA", y=base), ReferenceLine(label="LA", y=lower)),
    )
    runs = next(iter(found.values())).number
    chart = Chart(
        title=title, panels=(panel,), note="one run" if runs == 1 else f"mean of {runs} runs, 95 % confidence intervals"
    )
    notes = (f"Classifier: {request.classifier or CLASSIFIER}.", *NOTES, f"Runs at each point: {runs}.")
    return Figure(title=title, rows=rows, claims=claims, chart=chart, notes=notes)


def _point(rounds: int, mean: Mean) -> Point:
    return Point.around(rounds, mean.mean, mean.band)
