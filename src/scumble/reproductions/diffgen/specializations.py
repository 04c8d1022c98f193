"""Section 5 of the DiffGen paper: accuracy rises and then falls with h, and a contingency table is worse.

Algorithm 1 with the score Max runs with far more specializations than in Figure 3. With every specialization the number
of groups grows and their counts shrink, while the noise stays the same; the end of this line is the whole contingency
table. That table has more than 10^15 combinations on Adult, so the comparison uses eight attributes in at most four
public bins each.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.cached_runs import run_cached
from scumble.comparison.judging import JUDGE
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.summary import Mean
from scumble.comparison.tables import digest_of_table
from scumble.comparison.trials import trial
from scumble.methods import method_named
from scumble.reproductions.diffgen.accuracy import CLASSIFIER, adult_split
from scumble.reproductions.figure import Claim, Figure, Request

EPSILONS = ("0.1", "1")
ROUNDS = (1, 2, 4, 8, 12, 16, 24, 32)
RUNS = 10
QUICK_RUNS = 2
CONTINGENCY = 0
"""In place of a number of specializations: the contingency table."""
COARSE = "age,education,marital-status,occupation,relationship,sex,hours-per-week,capital-gain"
BINS = 4


def run_depth(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The accuracy in % of one release of Adult's training rows."""
    train, test = adult_split()
    rounds, classifier = facts["rounds"], facts["classifier"]
    settings: dict[str, Any] = {"attributes": COARSE, "bins": BINS}
    if rounds != CONTINGENCY:
        settings = {"selection": "published", "score": "max", "rounds": rounds}
    method = "contingency" if rounds == CONTINGENCY else "diffgen"
    parameters = {**settings, "epsilon": facts["epsilon"]}
    scores = trial(train, test, method=method, parameters=parameters, classifiers=[classifier])
    return {**facts, "accuracy": 100 * scores[classifier]["accuracy"]}


Depths = Mapping[tuple[str, int], Mean]
"""The mean accuracy for each epsilon and number of specializations."""


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
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    for result in results:
        found[result["epsilon"], result["rounds"]].append(float(result["accuracy"]))
    return {place: Mean.of(values) for place, values in found.items()}


def specializations_figure(request: Request) -> Figure:
    found = depths(request)
    series = tuple(
        Series(label=f"eps {epsilon}", points=tuple(_point(h, found[epsilon, h]) for h in ROUNDS))
        for epsilon in EPSILONS
    )
    lines = tuple(
        ReferenceLine(label=f"contingency, eps {epsilon}", y=found[epsilon, CONTINGENCY].mean) for epsilon in EPSILONS
    )
    panel = Panel(
        title="",
        x_label="specializations h",
        y_label="accuracy on the test rows, %",
        series=series,
        reference_lines=lines,
        logarithmic=True,
    )
    number = found[EPSILONS[0], ROUNDS[0]].number
    title = "Section 5: more specializations, and the contingency table"
    rows: list[dict[str, Any]] = [
        {"epsilon": epsilon, "h": "contingency" if h == CONTINGENCY else h, **vars(mean)}
        for (epsilon, h), mean in found.items()
    ]
    return Figure(
        title=title,
        rows=rows,
        claims=claims_of_depths(found),
        chart=Chart(title=title, panels=(panel,), note=f"mean of {number} runs, 95 % confidence intervals"),
        notes=(
            f"Classifier: {request.classifier or CLASSIFIER}. Runs at each point: {number}.",
            f"The contingency table counts {COARSE.replace(',', ', ')}, each in at most {BINS} bins of the schema.",
        ),
    )


def claims_of_depths(found: Depths) -> tuple[Claim, ...]:
    claims = []
    for epsilon in EPSILONS:
        means = [found[epsilon, h].mean for h in ROUNDS]
        best = max(range(len(means)), key=means.__getitem__)
        claims.append(
            Claim(
                text=f"accuracy rises and then falls with h, at eps {epsilon}",
                paper="yes",
                ours=f"{means[0]:.2f} at h = {ROUNDS[0]}, {means[best]:.2f} at {ROUNDS[best]}, "
                f"{means[-1]:.2f} at {ROUNDS[-1]}",
                holds=0 < best < len(means) - 1,
            )
        )
        table = found[epsilon, CONTINGENCY].mean
        claims.append(
            Claim(
                text=f"a contingency table (of a coarsened Adult) is worse, at eps {epsilon}",
                paper="worse",
                ours=f"{table:.2f} against {means[best]:.2f}",
                holds=table < means[best],
            )
        )
    return tuple(claims)


def _point(rounds: int, mean: Mean) -> Point:
    return Point.around(rounds, mean.mean, mean.band)
