"""Answers a question about a release: reads the condition, finds the measured tables and rows, and estimates."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from scumble.charts import Bar, BarChart
from scumble.errors import InputError
from scumble.files.kinds import kind_of
from scumble.flows.load import load_release
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.measured_tables import MeasuredTable
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.values import Column
from scumble.querying.answering import Evidence, PublishedRows, counts_and_shares, mean_of
from scumble.querying.answers import NOTES, Estimate, QueryAnswer
from scumble.querying.expressions import Expression, conditions, expression_text
from scumble.querying.groups import GroupBy, combinations, edges_of, read_group
from scumble.querying.parser import parse
from scumble.querying.predicates import both, check_names, interpret, unknown_value
from scumble.querying.quantiles import quantile_of
from scumble.querying.values import CellValues, LeafValues, PieceValues, UnknownValue, Values, numbers_in


def query(
    release: str | Path | Release,
    where: str = "",
    *,
    by: str | Sequence[str] = (),
    mean: str | None = None,
    quantile: tuple[float, str] | None = None,
) -> QueryAnswer:
    """Answer a question about the records behind a release, with 95 % intervals for the noise.

    `where` is a condition such as "age < 40 and workclass = 'Private'" (docs/query.md has the language); without one,
    all records count. The answer is the number of records that satisfy it and their share; with `mean`, the mean of a
    numeric attribute among them; with `quantile`, such as (0.5, "age"), a quantile. `by` divides the answer by the
    values of attributes; "age:10" divides numbers into intervals of width 10.

    Where a measured table of the release answers, the estimate is unbiased and the interval covers its noise. Other
    answers come from the published rows and have no interval: the error of a model is not noise. Each estimate states
    its source. Raises `InputError` if the question cannot be read or answered; it points at the place.
    """
    made = load_release(release) if isinstance(release, str | Path) else release
    schema = made.tables[made.recommended]
    expression = parse(where)
    check_names(expression, schema.names, where)
    groups = [read_group(each, schema) for each in ([by] if isinstance(by, str) else by)]
    _check_measures(mean, quantile, schema)
    values = _values(made, schema, expression, where, groups)
    notes: list[str] = []
    condition = interpret(expression, values, where, notes)
    used = {each.attribute for each in conditions(expression)} | {each.attribute for each in groups}
    used |= {name for name in (mean, quantile[1] if quantile else None) if name is not None}
    evidence = _evidence(made, schema, values, used)
    estimates: list[Estimate] = []
    for labels, group in combinations(groups, schema, values):
        if mean is not None:
            estimates.append(mean_of(evidence, both(condition, group), labels, mean))
        elif quantile is not None:
            estimates.append(quantile_of(evidence, both(condition, group), labels, quantile[1], quantile[0]))
        else:
            estimates += counts_and_shares(evidence, condition, group, labels)
    sources = dict.fromkeys(each.source for each in estimates)
    return QueryAnswer(
        question=expression_text(expression) or "all records",
        by=tuple(each.attribute for each in groups),
        estimates=tuple(estimates),
        notes=(*(NOTES[source] for source in sources if source in NOTES), *notes),
    )


def _check_measures(mean: str | None, quantile: tuple[float, str] | None, schema: Schema) -> None:
    if mean is not None and quantile is not None:
        raise InputError("Ask for the mean or for a quantile, not for both at once.")
    if mean is not None and not isinstance(schema[mean].domain, Grid):
        raise InputError(f"{mean!r} is not a numeric attribute, so it has no mean. Ask for counts by {mean}.")
    if quantile is not None:
        share, name = quantile
        if not 0 < share < 1:
            raise InputError(f"The quantile {share:g} is not between 0 and 1. Use 0.5 for the median.")
        if not schema[name].in_order:
            raise InputError(
                f"{name!r} has categories without an order, so it has no quantiles. Ask for counts by {name}."
            )


def _values(
    release: Release, schema: Schema, expression: Expression, text: str, groups: Sequence[GroupBy]
) -> dict[str, Values]:
    """The distinguishable values of every attribute."""
    generalized = release.rows_of(release.recommended) is None
    found: dict[str, Values] = {}
    for attribute in schema.attributes:
        grid = attribute.domain
        if not isinstance(grid, Grid):
            found[attribute.name] = LeafValues(attribute=attribute)
        elif not generalized:
            found[attribute.name] = CellValues(attribute=attribute)
        else:
            numbers: list[float] = []
            for condition in conditions(expression):
                if condition.attribute == attribute.name:
                    try:
                        numbers += numbers_in(attribute, [condition])
                    except UnknownValue as error:
                        raise unknown_value(error, condition, text) from None
            for division in groups:
                if division.attribute == attribute.name:
                    numbers += edges_of(division, grid)
            found[attribute.name] = PieceValues(attribute=attribute, numbers=tuple(numbers))
    return found


def _evidence(release: Release, schema: Schema, values: Mapping[str, Values], used: set[str]) -> Evidence:
    columns = release.rows_of(release.recommended)
    counted = release.counted_records
    return Evidence(
        tables=_tables(kind_of(release).measured_tables(release), used),
        values=values,
        rows=None if columns is None else _rows(columns, schema, values, used),
        public_records=schema.rows if schema.unit is Unit.REPLACE else None,
        stated_records=None if counted is None else counted[0],
    )


def _tables(tables: Sequence[MeasuredTable], used: set[str]) -> list[MeasuredTable]:
    return [table.marginal(used) for table in tables]


def _rows(columns: Mapping[str, Column], schema: Schema, values: Mapping[str, Values], used: set[str]) -> PublishedRows:
    size = len(next(iter(columns.values()), ()))
    places = {name: values[name].places(columns[name]) for name in sorted(used)}
    numeric = [name for name in sorted(used) if isinstance(schema[name].domain, Grid)]
    return PublishedRows(size=size, places=places, numbers={name: columns[name].astype(np.float64) for name in numeric})


def chart_of(answer: QueryAnswer) -> BarChart:
    """The first measure of an answer as bars: a place for each value of the first attribute, a colour for the others.

    Raises `InputError` if the answers are labels, which have no height.
    """
    measure = answer.estimates[0].measure
    bars: list[Bar] = []
    for each in answer.estimates:
        if each.measure != measure or each.value is None:
            continue
        value, low, high = (_height(end) for end in (each.value, each.low, each.high))
        assert value is not None
        label, series = each.group[0] if each.group else measure, ", ".join(each.group[1:]) or measure
        bars.append(Bar(label=label, series=series, value=value, low=low, high=high))
    if not bars:
        raise InputError("The answer has no number to draw. Ask another question, or write a .csv file.")
    return BarChart(
        title=answer.question, y_label=measure, bars=tuple(bars), note="Lines: 95 % intervals for the noise."
    )


def _height(value: float | str | None) -> float | None:
    if isinstance(value, str):
        raise InputError("The answer is a label, which cannot be drawn. Write a .csv file.")
    return value
