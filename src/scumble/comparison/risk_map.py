"""The risk-utility map of a comparison: what the strongest attack gains, against what a classifier learns.

The map has the attacks that guess about every person. Singling out tries only published values that stand for one
record, often a handful, so its rate cannot be compared with theirs; it stands in the table of attacks.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.baselines import RawRows
from scumble.comparison.compare import ComparisonResult
from scumble.comparison.contenders import contender_of
from scumble.comparison.judging import OWN
from scumble.comparison.measures import OF_ATTACKS
from scumble.comparison.summary import MeanScore

ON_EVERYBODY = tuple(name for name in OF_ATTACKS if name != "singling_out")


class MappedContender(NamedTuple):
    """A contender at one epsilon: the largest mean gain of an attack, which attack it is, and the accuracy."""

    contender: str
    epsilon: str
    attack: str
    risk: float
    accuracy: float


def mapped(result: ComparisonResult, lines: Sequence[MeanScore], table: str) -> Iterator[MappedContender]:
    """Every contender and epsilon of a table that was attacked, with the accuracy of the last classifier."""
    classifier = result.comparison.classifiers[-1]
    here = [line for line in lines if line.table == table and not line.target]
    for contender, epsilon in dict.fromkeys((line.contender, line.epsilon) for line in here):
        own = [line for line in here if (line.contender, line.epsilon) == (contender, epsilon)]
        attacks = [line for line in own if line.measure in ON_EVERYBODY]
        learned = [line for line in own if line.measure == "accuracy" and line.classifier == classifier]
        if attacks and learned:
            worst = max(attacks, key=lambda line: line.value.mean)
            heading = OF_ATTACKS[worst.measure].heading
            yield MappedContender(contender, epsilon, heading, worst.value.mean, learned[0].value.mean)


def not_mapped(result: ComparisonResult, lines: Sequence[MeanScore]) -> list[str]:
    """The contenders that are compared but not on the map, each with the reason; empty without attacks."""
    if not result.comparison.attacks:
        return []
    on_map = {each.contender for table in result.comparison.tables for each in mapped(result, lines, table)}
    missing = [name for name in dict.fromkeys(line.contender for line in lines) if name not in on_map]
    return [f"{name}: {_reason(name)}" for name in missing]


def _reason(contender: str) -> str:
    if contender_of(contender).classifiers == (OWN,):
        return "it publishes a model and no table, and these attacks need a table; `scumble audit` tests its epsilon"
    return "it is not attacked: it only shows what a table without associations is worth"


def risk_map(result: ComparisonResult, lines: Sequence[MeanScore]) -> Chart:
    """One panel for each table: a point for each contender and epsilon. Without attacks, there are no panels.

    Attacks on raw rows gain so much that a point for them would leave no room for the others: they are a line.
    """
    panels = []
    for table in result.comparison.tables:
        found = list(mapped(result, lines, table))
        points = [each for each in found if not isinstance(contender_of(each.contender), RawRows)]
        series = tuple(
            Series(
                label=contender,
                points=tuple(
                    Point(x=100 * each.risk, y=100 * each.accuracy, text=f"ε {each.epsilon}")
                    for each in points
                    if each.contender == contender
                ),
                joined=False,
            )
            for contender in dict.fromkeys(each.contender for each in points)
        )
        if series:
            panels.append(
                Panel(
                    title=f"{table}: risk and utility",
                    x_label="gain of the strongest attack over the control group, points",
                    y_label=f"accuracy of {result.comparison.classifiers[-1]}, %",
                    series=series,
                    reference_lines=tuple(
                        ReferenceLine(
                            label=f"{each.contender} rows, at a gain of {100 * each.risk:.0f}", y=100 * each.accuracy
                        )
                        for each in found
                        if each not in points
                    ),
                )
            )
    missing = ", ".join(reason.partition(":")[0] for reason in not_mapped(result, lines))
    return Chart(
        title="Risk and utility of each release",
        panels=tuple(panels),
        note="one point for each epsilon; left is safer, up is more useful. Failing attacks prove nothing"
        + (f"; not on the map: {missing}" if missing else ""),
    )


def risk_lines(result: ComparisonResult, lines: Sequence[MeanScore]) -> list[str]:
    """The map as a Markdown table; empty without attacks."""
    text: list[str] = []
    for table in result.comparison.tables:
        rows = sorted(mapped(result, lines, table), key=lambda each: -each.risk)
        if rows:
            text += ["", f"## {table}: risk and utility", "", "![risk and utility](risk-utility.svg)", ""]
            text += ["| contender | eps | strongest attack | gain, points | accuracy, % |", "|---|---|---|---|---|"]
            text += [
                f"| {each.contender} | {each.epsilon or '–'} | {each.attack} | {100 * each.risk:+.2f} "
                f"| {100 * each.accuracy:.2f} |"
                for each in rows
            ]
    missing = not_mapped(result, lines)
    return [*text, "", *(f"- not on the map: {reason}" for reason in missing)] if missing else text
