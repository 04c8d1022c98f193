"""Answers a question about a release: reads the condition, finds the measured tables and rows, and estimates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from scumble.charts import Bar, BarChart
from scumble.errors import InputError
from scumble.files.kinds import kind_of
from scumble.files.noise_file import read_noise
from scumble.files.perturbed_table import published_blocks
from scumble.flows.load import load_release
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.local.channel import AdditiveChannel
from scumble.model.local.noise_model import NoiseModel
from scumble.model.measured_tables import MeasuredTable
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.values import Column
from scumble.querying.answering import Evidence, PublishedRows, counts_and_shares, mean_of
from scumble.querying.answers import NOTES, SHARES_OF_GROUPS, UNMEASURED_ROWS, AnswerSource, Estimate, QueryAnswer
from scumble.querying.expressions import Expression, conditions, expression_text
from scumble.querying.groups import GroupBy, combinations, edges_of, read_group
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import CellValues, PieceValues, numbers_in
from scumble.querying.parser import parse
from scumble.querying.predicates import Predicate, both, check_names, interpret, unknown_value
from scumble.querying.quantiles import quantile_of
from scumble.querying.values import UnknownValue, Values


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
    question = _Question.of(where, [by] if isinstance(by, str) else by, mean, quantile)
    folder = None if isinstance(release, Release) else Path(release)
    if folder is not None and not (folder / "release.json").exists() and (folder / "noise.json").exists():
        return _answer(question, _perturbed(question, folder, read_noise(folder / "noise.json")))
    made = release if isinstance(release, Release) else load_release(release)
    noise = kind_of(made).noise_model(made)
    if noise is None:
        return _answer(question, _released(question, made))
    if folder is None:
        raise InputError("The perturbed records are in a file. Give the folder of the release instead.")
    return _answer(question, _perturbed(question, folder, noise))


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A question as it was asked."""

    text: str
    expression: Expression
    by: tuple[str, ...]
    mean: str | None
    quantile: tuple[float, str] | None

    @classmethod
    def of(cls, where: str, by: Sequence[str], mean: str | None, quantile: tuple[float, str] | None) -> "_Question":
        return cls(text=where, expression=parse(where), by=tuple(by), mean=mean, quantile=quantile)

    def check(self, schema: Schema) -> list[GroupBy]:
        """Check all names against the schema of a release. Returns the attributes that the answer is divided by."""
        check_names(self.expression, schema.names, self.text)
        _check_measures(self.mean, self.quantile, schema)
        return [read_group(each, schema) for each in self.by]

    @property
    def measured(self) -> set[str]:
        """The attribute of which a mean or quantile is wanted."""
        return {name for name in (self.mean, self.quantile[1] if self.quantile else None) if name is not None}

    def used(self, groups: Sequence[GroupBy]) -> set[str]:
        """All attributes of the question."""
        named = {each.attribute for each in conditions(self.expression)}
        return named | {each.attribute for each in groups} | self.measured


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A question that was interpreted, and the functions that answer it."""

    by: tuple[str, ...]
    condition: Predicate
    groups: Sequence[tuple[tuple[str, ...], Predicate]]
    counts: Callable[[Predicate, Predicate, tuple[str, ...]], list[Estimate]]
    mean: Callable[[Predicate, tuple[str, ...], str], Estimate]
    quantile: Callable[[Predicate, tuple[str, ...], str, float], Estimate]
    notes: list[str]
    sources: Mapping[AnswerSource, str] = field(default_factory=lambda: NOTES)
    """What each source means."""


def _answer(question: _Question, asked: _Asked) -> QueryAnswer:
    estimates: list[Estimate] = []
    for labels, group in asked.groups:
        where = both(asked.condition, group)
        if question.mean is not None:
            estimates.append(asked.mean(where, labels, question.mean))
        elif question.quantile is not None:
            estimates.append(asked.quantile(where, labels, question.quantile[1], question.quantile[0]))
        else:
            estimates += asked.counts(asked.condition, group, labels)
    sources = dict.fromkeys(each.source for each in estimates)
    shares = (SHARES_OF_GROUPS,) if asked.by and any(each.measure == "share" for each in estimates) else ()
    return QueryAnswer(
        question=expression_text(question.expression) or "all records",
        by=asked.by,
        estimates=tuple(estimates),
        notes=(*(asked.sources[source] for source in sources if source in asked.sources), *shares, *asked.notes),
    )


def _released(question: _Question, release: Release) -> _Asked:
    schema = release.tables[release.table_named(None)]
    groups = question.check(schema)
    values = _values(release, schema, question, groups)
    notes: list[str] = []
    condition = interpret(question.expression, values, question.text, notes)
    evidence = _evidence(release, schema, values, question.used(groups))
    of_rows = UNMEASURED_ROWS.format(error=kind_of(release).error_of_rows)
    return _Asked(
        by=tuple(each.attribute for each in groups),
        condition=condition,
        groups=combinations(groups, schema, values),
        counts=partial(counts_and_shares, evidence),
        mean=partial(mean_of, evidence),
        quantile=partial(quantile_of, evidence),
        notes=notes,
        sources=NOTES if evidence.tables else {**NOTES, AnswerSource.ROWS: of_rows},
    )


def _perturbed(question: _Question, folder: Path, noise: NoiseModel) -> _Asked:
    # Imported late: SciPy's statistics take a second.
    from scumble.querying.perturbed import CUT, SMOOTHED, axis_of, count_reports
    from scumble.querying.perturbed_answers import perturbed_counts, perturbed_mean, perturbed_quantile

    attributes = tuple(noise.schema[name] for name in noise.reported)
    schema = replace(noise.published, attributes=attributes)
    groups = question.check(schema)
    values: dict[str, Values] = {
        each.name: CellValues(attribute=each) if isinstance(each.domain, Grid) else LeafValues(attribute=each)
        for each in attributes
    }
    notes: list[str] = []
    condition = interpret(question.expression, values, question.text, notes)
    divided = combinations(groups, schema, values)
    everything = both(condition, *(group for _, group in divided))
    table = folder / "table.csv"
    used = sorted(question.used(groups))
    rows = 0
    if any(isinstance(noise[name].channel, AdditiveChannel) for name in used):
        rows = sum(len(next(iter(block.values()))) for block in published_blocks(table, noise))
    axes = [axis_of(noise[name], values[name], everything, rows=rows, apart=name in question.measured) for name in used]
    counts = count_reports(published_blocks(table, noise), axes, values)
    notes += [SMOOTHED] if not counts.exact else []
    notes += [CUT] if not all(counts.shares_of(both(condition, group))[1] for _, group in divided) else []
    return _Asked(
        by=tuple(each.attribute for each in groups),
        condition=condition,
        groups=divided,
        counts=partial(perturbed_counts, counts),
        mean=partial(perturbed_mean, counts),
        quantile=partial(perturbed_quantile, counts),
        notes=notes,
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


def _values(release: Release, schema: Schema, question: _Question, groups: Sequence[GroupBy]) -> dict[str, Values]:
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
            for condition in conditions(question.expression):
                if condition.attribute == attribute.name:
                    try:
                        numbers += numbers_in(attribute, [condition])
                    except UnknownValue as error:
                        raise unknown_value(error, condition, question.text) from None
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
    known = any(bar.low is not None for bar in bars)
    note = "Lines: 95 % intervals for the noise." if known else "From a model: no interval is known."
    return BarChart(title=answer.question, y_label=measure, bars=tuple(bars), note=note)


def _height(value: float | str | None) -> float | None:
    if isinstance(value, str):
        raise InputError("The answer is a label, which cannot be drawn. Write a .csv file.")
    return value
