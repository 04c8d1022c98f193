"""The pages of the zoo: results with paired differences, and monotonicity, as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from scumble.comparison.compare import TrialOutcome
from scumble.comparison.measures import measure_named
from scumble.comparison.recipes import RECIPES
from scumble.comparison.summary import Mean
from zoo_statistics import LEVEL, MARGIN, holm, probability_behind, worse
from zoo_trials import MEASURES, Results, Setting

DEFAULT, HISTOGRAMS, RAW = "diffgen", "histograms", "raw"
PUBLISHED = "diffgen:selection=published,score=max,rounds=10"
CELLS = "diffgen:detail=no"
CONTENDERS = {DEFAULT: "default", HISTOGRAMS: "histograms", CELLS: "detail no", PUBLISHED: "published", RAW: "raw"}
HEADINGS = {"accuracy": "Accuracy, %", "balanced_accuracy": "Balanced accuracy, %", "auc": "AUC, in points of 0.01"}
WEIGHTED = "balanced_accuracy_weighted"
HEADINGS[WEIGHTED] = "Balanced accuracy of class-weighted predictions, % (not tested)"
ONE_WAY_LIMIT = 1.5
"""The recommended table's one-way distance may be this many times that of `histograms`."""

Values = Mapping[tuple[str, str, str], Mapping[str, Sequence[float]]]
"""For each table, contender and epsilon: the values of each measure, split by split."""


def values_of(outcomes: Sequence[TrialOutcome], epsilons: Sequence[str]) -> Values:
    """The values of the outcomes; those of raw rows stand at every epsilon."""
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.split):
        for epsilon in [outcome.epsilon] if outcome.epsilon else epsilons:
            here = found.setdefault((outcome.table, outcome.contender, epsilon), {})
            for measure in (*MEASURES, WEIGHTED, "one_way_binned"):
                value = getattr(outcome, measure)
                if value is not None:
                    here.setdefault(measure, []).append(value)
    return found


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The default minus another contender on the same splits, and the p-value that it is behind by the margin."""

    table: str
    epsilon: str
    other: str
    measure: str
    differences: Sequence[float]
    p_value: float
    corrected: float
    """Holm's adjusted p-value."""

    @property
    def behind(self) -> bool:
        return self.corrected <= LEVEL

    @property
    def suspected(self) -> bool:
        """Behind by this test alone, without a correction for the others."""
        return not self.behind and self.p_value <= LEVEL

    @property
    def text(self) -> str:
        mark = " **behind**" if self.behind else " behind?" if self.suspected else ""
        return points(self.differences, sign=True) + mark


def compared(values: Values, tables: Sequence[str], epsilons: Sequence[str]) -> list[Compared]:
    """All comparisons of the default with the other private contenders, corrected together."""
    found = []
    for table in tables:
        for epsilon in epsilons:
            mine = values[table, DEFAULT, epsilon]
            for other in (HISTOGRAMS, CELLS, PUBLISHED):
                theirs = values[table, other, epsilon]
                for measure in MEASURES:
                    pairs = zip(mine.get(measure, ()), theirs.get(measure, ()), strict=True)
                    found.append((table, epsilon, other, measure, [one - another for one, another in pairs]))
    p_values = [probability_behind(differences) for *_, differences in found]
    return [
        Compared(
            table=table,
            epsilon=epsilon,
            other=other,
            measure=measure,
            differences=differences,
            p_value=p_value,
            corrected=corrected,
        )
        for (table, epsilon, other, measure, differences), p_value, corrected in zip(
            found, p_values, holm(p_values), strict=True
        )
    ]


def points(values: Sequence[float], *, sign: bool = False) -> str:
    """A mean and its standard error, in points.

    >>> points([0.81, 0.83]), points([0.01], sign=True)
    ('82.0 (1.0)', '+1.0')
    """
    mean = Mean.of(values)
    error = "" if mean.error is None else f" ({100 * mean.error:.1f})"
    return f"{100 * mean.mean:{'+' if sign else ''}.1f}{error}"


def results_page(
    values: Values, commonest: Mapping[str, float], tables: Sequence[str], epsilons: Sequence[str], splits: str
) -> str:
    """Summary, means, differences and one-way distances of all tables."""
    tests = compared(values, tables, epsilons)
    text = ["# The zoo: results on generated tables", "", *_introduction(splits), "", "## Summary", ""]
    text += _summary(tests, values, tables, epsilons)
    for measure in (*MEASURES, WEIGHTED):
        text += ["", f"## {HEADINGS[measure]}", ""]
        text += _means(values, commonest if measure == "accuracy" else {}, tables, epsilons, measure)
    text += ["", "## Paired differences", ""]
    text += ["The default minus the other, on the same splits, in points (standard error).", ""]
    text += _differences(tests)
    text += ["", "## One-way distances", ""]
    text += ["Total variation distance of one-way marginals from the training rows, attributes in at most 20 bins,"]
    text += [
        f"mean over attributes, in %. A ratio above {ONE_WAY_LIMIT} is marked.",
        "",
        *_one_way(values, tables, epsilons),
    ]
    return "\n".join(text) + "\n"


def _introduction(splits: str) -> list[str]:
    return [
        "`python benchmarks/zoo.py` measures releases of generated tables (`scumble.comparison.recipes`). Boosting is",
        f"trained on the recommended table of a release and scored on raw test records. {splits}",
        "Standard errors are in parentheses. *default* is DiffGen with no option but epsilon, *detail no* its cells",
        "alone, *published* the mode of the paper with 10 rounds, *raw* the training rows without privacy, *commonest*",
        "always the commonest class.",
        "S marks tables by which defaults may be settled, R those that only report.",
        "",
        f"Tests are one-sided against a margin of {100 * MARGIN:.1f} points, Student's t on paired differences, with",
        f"Holm's correction at {100 * LEVEL:.0f} % over all tests of this page.",
    ]


def _summary(tests: Sequence[Compared], values: Values, tables: Sequence[str], epsilons: Sequence[str]) -> list[str]:
    behind = [test for test in tests if test.behind]
    text = [f"- Tests: {len(tests)}. Significantly behind by more than {100 * MARGIN:.1f} points: {len(behind)}."]
    text += [
        f"- {test.table}, eps {test.epsilon}: {HEADINGS[test.measure]}, against {CONTENDERS[test.other]}: {test.text}"
        for test in behind
    ]
    suspected, below = sum(test.suspected for test in tests), sum(fmean(test.differences) < -MARGIN for test in tests)
    text.append(
        f"- Further tests that find the default behind without Holm's correction: {suspected}, marked `behind?`."
    )
    text.append(f"- Mean differences below -{100 * MARGIN:.1f} points, significant or not: {below} of {len(tests)}.")
    for epsilon in epsilons:
        for measure in MEASURES:
            gaps = [_gap(values, table, epsilon, measure) for table in tables]
            text.append(f"- Mean gap to raw at eps {epsilon}, {HEADINGS[measure]}: {100 * fmean(gaps):.1f}")
    return text


def _gap(values: Values, table: str, epsilon: str, measure: str) -> float:
    return fmean(values[table, RAW, epsilon][measure]) - fmean(values[table, DEFAULT, epsilon][measure])


def half_of(table: str) -> str:
    """S for a table that settles defaults, R for one that only reports."""
    return "S" if table in RECIPES and RECIPES[table].settles else "R"


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def heading(*cells: str) -> list[str]:
    return [row(cells), row(["---"] * len(cells))]


def table_list(tables: Sequence[str]) -> list[str]:
    """What the recipes are, as in docs/zoo.md."""
    text = heading("table", "half", "records", "attributes", "what it is", "best accuracy, %")
    for table in tables:
        if table in RECIPES:
            recipe = RECIPES[table]
            facts = [f"{recipe.rows:,}", str(len(recipe.schema.predictors)), recipe.summary]
            text.append(row([table, half_of(table), *facts, f"{100 * recipe.best_accuracy:.1f}"]))
    return text


def _means(
    values: Values, commonest: Mapping[str, float], tables: Sequence[str], epsilons: Sequence[str], measure: str
) -> list[str]:
    more = ["commonest"] if commonest else []
    text = heading("table", "half", "eps", *CONTENDERS.values(), *more, "gap to raw")
    for table in tables:
        for epsilon in epsilons:
            cells = [points(values[table, contender, epsilon][measure]) for contender in CONTENDERS]
            cells += [f"{100 * commonest[table]:.1f}"] if commonest else []
            gap = f"{100 * _gap(values, table, epsilon, measure):.1f}"
            text.append(row([table, half_of(table), epsilon, *cells, gap]))
    return text


def _differences(tests: Sequence[Compared]) -> list[str]:
    columns = list(dict.fromkeys((test.other, test.measure) for test in tests))
    headings = [f"{CONTENDERS[other]}: {measure_named(measure).heading}" for other, measure in columns]
    text = heading("table", "eps", *headings)
    for table, epsilon in dict.fromkeys((test.table, test.epsilon) for test in tests):
        here = {(t.other, t.measure): t.text for t in tests if (t.table, t.epsilon) == (table, epsilon)}
        text.append(row([table, epsilon, *(here[column] for column in columns)]))
    return text


def _one_way(values: Values, tables: Sequence[str], epsilons: Sequence[str]) -> list[str]:
    text = heading("table", "eps", *(CONTENDERS[each] for each in (DEFAULT, HISTOGRAMS, CELLS, PUBLISHED)), "ratio")
    for table in tables:
        for epsilon in epsilons:
            here = {each: values[table, each, epsilon]["one_way_binned"] for each in CONTENDERS if each != RAW}
            ratio = fmean(here[DEFAULT]) / max(fmean(here[HISTOGRAMS]), 1e-9)
            shown = f"{ratio:.1f}" if ratio <= ONE_WAY_LIMIT else f"**{ratio:.1f}**"
            text.append(row([table, epsilon, *(points(each) for each in here.values()), shown]))
    return text


# More epsilon or more records.


def monotone_page(results: Results, steps: Sequence[tuple[Setting, Setting]], splits: str) -> str:
    """Whether the second setting of each step, with more epsilon or more records, is not worse than the first."""
    tests = []
    for less, more in steps:
        for measure in MEASURES:
            pairs = list(zip(results[less], results[more], strict=True))
            tests.append((less, more, measure, [after[measure] - before[measure] for before, after in pairs]))
    corrected = holm([probability_behind(differences, 0.0) for *_, differences in tests])
    failed = [test for test in tests if worse(test[3])]
    text = ["# The zoo: more epsilon, more records", "", f"The default (`{DEFAULT}`), boosting. {splits}", ""]
    text += [f"- Steps with more epsilon or more records, times measures: {len(tests)}"]
    text += [f"- Worse by more than two standard errors: {len(failed)}"]
    text += [f"- Worse with Holm's correction at {100 * LEVEL:.0f} %: {sum(each <= LEVEL for each in corrected)}"]
    text += ["", "Difference of each step in points (standard error); **worse**: by more than two standard errors.", ""]
    text += heading("table", "half", "eps", "records", *(measure_named(each).heading for each in MEASURES))
    for less, more in steps:
        here = [differences for first, second, _, differences in tests if (first, second) == (less, more)]
        cells = [points(each, sign=True) + (" **worse**" if worse(each) else "") for each in here]
        text.append(row([less.table, half_of(less.table), *_step(less, more), *cells]))
    return "\n".join(text) + "\n"


def _step(less: Setting, more: Setting) -> list[str]:
    epsilon = less.epsilon if less.epsilon == more.epsilon else f"{less.epsilon} → {more.epsilon}"
    sizes = [f"{each.records:,}" if each.records else "all" for each in (less, more)]
    return [epsilon, sizes[0] if less.records == more.records else " → ".join(sizes)]
