"""Writes a comparison as CSV, JSON and Markdown tables and as a plot."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series, write_svg
from scumble.comparison.compare import ComparisonResult
from scumble.comparison.judging import OWN
from scumble.comparison.measures import SECTIONS, measure_named, section_of
from scumble.comparison.recipes import RECIPES
from scumble.comparison.risk_map import not_mapped, risk_lines, risk_map
from scumble.comparison.summary import TABLE, Difference, MeanScore, mean_scores, paired_differences

PLOTTED = (
    ("tree", "accuracy"),
    ("c45", "accuracy"),
    ("boosting", "accuracy"),
    ("boosting", "auc"),
    ("tree", "balanced_accuracy"),
    ("boosting", "balanced_accuracy"),
    (TABLE, "one_way"),
    (TABLE, "two_way"),
    (TABLE, "three_way"),
)


def write_comparison(result: ComparisonResult, folder: Path, *, reference: str | None = None) -> dict[str, Any]:
    """Write comparison.{csv,json,md,svg} and differences.csv; return the JSON object."""
    lines = mean_scores(result.outcomes)
    against = paired_differences(result.outcomes, reference or result.comparison.contenders[0])
    folder.mkdir(parents=True, exist_ok=True)
    _write_csv(folder / "comparison.csv", [line.to_json() for line in lines])
    _write_csv(folder / "differences.csv", [difference.to_json() for difference in against])
    summary = {
        "comparison": {
            name: values if isinstance(values, bool) else list(values)
            for name, values in vars(result.comparison).items()
        },
        "guarantees": dict(result.guarantees),
        "lines": [line.to_json() for line in lines],
        "differences": [difference.to_json() for difference in against],
        "skipped": list(result.skipped),
        "not_mapped": not_mapped(result, lines),
    }
    (folder / "comparison.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    (folder / "comparison.md").write_text(comparison_page(result, lines, against), encoding="utf-8")
    picture = chart(result, lines)
    if picture.panels:
        write_svg(picture, folder / "comparison.svg")
    else:
        (folder / "comparison.svg").unlink(missing_ok=True)
    map_of_risk = risk_map(result, lines)
    if map_of_risk.panels:
        write_svg(map_of_risk, folder / "risk-utility.svg")
    return summary


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def comparison_page(result: ComparisonResult, lines: Sequence[MeanScore], against: Sequence[Difference]) -> str:
    """For each data set and section of measures: means with 95 % confidence bands, differences with standard errors."""
    splits = result.comparison.splits
    introduction = (
        f"{len(splits)} random 2/3–1/3 splits, seeds {_ranges(splits)}. Accuracy and balanced accuracy in %, "
        "± half the width of the mean's 95 % confidence band. CPU: median seconds to make the table or model; "
        "training and scoring excluded."
    )
    text = [introduction, "", "Privacy guarantee of each contender:", ""]
    text += [f"- {name}: {guarantee}" for name, guarantee in result.guarantees.items()]
    text += [f"- left out: {reason}" for reason in result.skipped]
    text += risk_lines(result, lines)
    for table in result.comparison.tables:
        here = [line for line in lines if line.table == table]
        best = f" (best possible accuracy: {100 * RECIPES[table].best_accuracy:.1f} %)" if table in RECIPES else ""
        text += ["", f"## {table}{best}"]
        apart = [difference for difference in against if difference.table == table]
        for section in SECTIONS:
            text += _section(
                section,
                [line for line in here if section_of(line.measure, line.target) == section],
                [difference for difference in apart if section_of(difference.measure, difference.target) == section],
            )
    return "\n".join(text) + "\n"


def _section(title: str, lines: Sequence[MeanScore], against: Sequence[Difference]) -> list[str]:
    text = ["", f"### {title}"] if title and lines else []
    if lines:
        text += ["", *_means_table(lines)]
    if against:
        text += ["", f"`{against[0].reference}` minus the other, on the same splits (standard error):", ""]
        text += _differences_table(against)
    return text


def _means_table(lines: Sequence[MeanScore]) -> list[str]:
    columns = list(dict.fromkeys(_column(line) for line in lines))
    rows = list(dict.fromkeys((line.epsilon, line.contender) for line in lines))
    head = ["eps", "contender", *_headings(columns), "splits", "CPU s"]
    table = [_row(head), _row(["---"] * len(head))]
    for epsilon, contender in sorted(rows, key=lambda row: (row[0] != "", float(row[0] or 0))):
        found = {_column(line): line for line in lines if (line.epsilon, line.contender) == (epsilon, contender)}
        cells = [_value(found[column]) if column in found else "" for column in columns]
        any_line = next(iter(found.values()))
        cells += [str(any_line.value.number), f"{any_line.cpu_seconds:.2f}" if any_line.cpu_seconds else ""]
        table.append(_row([epsilon or "–", contender, *cells]))
    return table


def _differences_table(against: Sequence[Difference]) -> list[str]:
    columns = list(dict.fromkeys(_column(each) for each in against))
    rows = list(dict.fromkeys((each.epsilon, each.other) for each in against))
    head = ["eps", "other", *_headings(columns), "splits", "CPU ratio"]
    table = [_row(head), _row(["---"] * len(head))]
    for epsilon, other in sorted(rows, key=lambda row: float(row[0] or 0)):
        found = {_column(each): each for each in against if (each.epsilon, each.other) == (epsilon, other)}
        cells = [_difference(found[column]) if column in found else "" for column in columns]
        one = next(iter(found.values()))
        cells += [str(one.value.number), "" if one.cpu_ratio is None else f"{one.cpu_ratio:,.1f}x"]
        table.append(_row([epsilon or "–", other, *cells]))
    return table


def _column(line: MeanScore | Difference) -> tuple[str, str, str]:
    return line.target, line.classifier, line.measure


def _headings(columns: Sequence[tuple[str, str, str]]) -> list[str]:
    return [
        f"{f'{target}: ' if target else ''}{classifier} {measure_named(measure).heading}".strip()
        for target, classifier, measure in columns
    ]


def _row(cells: Sequence[str]) -> str:
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def _value(line: MeanScore) -> str:
    return measure_named(line.measure).text(line.value.mean, line.value.band)


def _difference(each: Difference) -> str:
    measure = measure_named(each.measure)
    error = "" if each.value.error is None else f" ({measure.text(each.value.error)})"
    return f"{measure.scale * each.value.mean:+.{measure.digits}f}{error} {each.verdict}"


def _ranges(numbers: Sequence[int]) -> str:
    ordered = sorted(numbers)
    if ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]} to {ordered[-1]}" if len(ordered) > 1 else str(ordered[0])
    return ", ".join(map(str, ordered))


def chart(result: ComparisonResult, lines: Sequence[MeanScore]) -> Chart:
    """One panel for each table and measure: a line over epsilon for each contender, a reference line for raw rows.

    The last panels have the accuracy of boosting for other attributes.
    """
    plotted = [("", *each) for each in PLOTTED]
    plotted += [(target, "boosting", "accuracy") for target in result.comparison.targets]
    panels = []
    for table in result.comparison.tables:
        for target, classifier, measure in plotted:
            here = [
                line
                for line in lines
                if (line.table, line.measure, line.target) == (table, measure, target)
                and line.classifier in (classifier, OWN)
            ]
            if any(line.classifier == classifier for line in here):
                panels.append(_panel(table, classifier, measure, here))
    count = len(result.comparison.splits)
    plural = "s" if count > 1 else ""
    note = f"mean of {count} random split{plural}, 95 % confidence intervals" if count > 1 else "one random split"
    return Chart(
        title="Classifiers trained on each release, and distances of its margins", panels=tuple(panels), note=note
    )


def _panel(table: str, classifier: str, measure: str, lines: Sequence[MeanScore]) -> Panel:
    scale = measure_named(measure).scale
    series = []
    for contender in dict.fromkeys(line.contender for line in lines if line.epsilon):
        points = [
            Point.around(
                float(line.epsilon),
                scale * line.value.mean,
                None if line.value.band is None else scale * line.value.band,
            )
            for line in lines
            if line.contender == contender
        ]
        series.append(Series(label=contender, points=tuple(points)))
    levels = [
        ReferenceLine(label=f"{line.contender} rows", y=scale * line.value.mean) for line in lines if not line.epsilon
    ]
    if measure == "accuracy" and table in RECIPES and not lines[0].target:
        levels.append(ReferenceLine(label="best possible", y=scale * RECIPES[table].best_accuracy))
    return Panel(
        title=_title(table, classifier, measure, lines[0].target),
        x_label="epsilon",
        y_label=measure_named(measure).axis,
        series=tuple(series),
        reference_lines=tuple(levels),
        logarithmic=True,
        from_zero=measure_named(measure).lower_is_better,
    )


def _title(table: str, classifier: str, measure: str, target: str) -> str:
    """What a panel shows: no two panels have the same title."""
    if not classifier:
        return f"{table}: {measure_named(measure).heading} margins of the table"
    of_target = f", predicting {target}" if target else ""
    return f"{table}: {measure_named(measure).axis.partition(',')[0]} of {classifier}{of_target}"
