"""The page and the plot of few records: accuracy against the number of records, and against the commonest class."""

from collections.abc import Sequence
from statistics import fmean

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.summary import Mean
from zoo_pages import CONTENDERS, DEFAULT, HISTOGRAMS, RAW, heading, points, row
from zoo_statistics import worse
from zoo_trials import Results, Setting


def few_page(results: Results, splits: str) -> str:
    """The default against the commonest class, for each number of records."""
    below = [
        setting
        for setting, found in results.items()
        if setting.contender == DEFAULT and worse([value["accuracy"] - value["commonest"] for value in found])
    ]
    text = ["# The zoo: few records", "", f"Boosting accuracy in % (standard error). {splits} **below**: more than two"]
    text += ["standard errors below always predicting the commonest class of the training records.", ""]
    text += [f"Settings of the default that are below: {len(below)}.", ""]
    text += ["![Accuracy against the number of records](zoo-few.svg)", ""]
    text += heading(
        "table", "eps", "records", "default", HISTOGRAMS, RAW, "commonest", "default - commonest", "verdict"
    )
    for setting, found in results.items():
        if setting.contender == DEFAULT:
            gaps = [value["accuracy"] - value["commonest"] for value in found]
            others = [
                results[Setting(table=setting.table, contender=each, epsilon=epsilon, records=setting.records)]
                for each, epsilon in ((HISTOGRAMS, setting.epsilon), (RAW, ""))
            ]
            means = [points([value["accuracy"] for value in each]) for each in (found, *others)]
            means += [points([value["commonest"] for value in found]), points(gaps, sign=True)]
            verdict = "**below**" if worse(gaps) else ""
            name = setting.table.partition(":")[0]
            text.append(row([name, setting.epsilon, f"{setting.records:,}", *means, verdict]))
    return "\n".join(text) + "\n"


def few_chart(results: Results, note: str) -> Chart:
    """One panel for each table and epsilon: accuracy against records, with the commonest class as a line."""
    panels = []
    shown = dict.fromkeys((each.table, each.epsilon) for each in results if each.epsilon)
    for table, epsilon in sorted(shown, key=lambda each: float(each[1])):
        here = {each: found for each, found in results.items() if each.table == table and each.epsilon in (epsilon, "")}
        series = [
            Series(
                label=CONTENDERS[contender],
                points=tuple(
                    _point(float(each.records or 0), [value["accuracy"] for value in found])
                    for each, found in here.items()
                    if each.contender == contender
                ),
            )
            for contender in dict.fromkeys(each.contender for each in here)
        ]
        commonest = fmean(value["commonest"] for found in here.values() for value in found)
        panels.append(
            Panel(
                title=f"{table.partition(':')[0]}, eps {epsilon}",
                x_label="training records",
                y_label="accuracy, %",
                series=tuple(series),
                reference_lines=(ReferenceLine(label="commonest class", y=100 * commonest),),
                logarithmic=True,
            )
        )
    return Chart(title="Few records: accuracy of boosting", panels=tuple(panels), note=note)


def _point(x: float, values: Sequence[float]) -> Point:
    mean = Mean.of(values)
    half = 100 * (mean.band or 0)
    return Point(x=x, y=100 * mean.mean, low=100 * mean.mean - half, high=100 * mean.mean + half)
