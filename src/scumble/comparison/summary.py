"""Summarizes a comparison: means with 95 % confidence bands, and paired differences between contenders."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any

from scipy.stats import t as student

from scumble.comparison.compare import TrialOutcome
from scumble.comparison.judging import OWN
from scumble.comparison.measures import BY_CLASSIFIER, OF_TABLE, RECALL, measure_named

CONFIDENCE = 0.95
TABLE = ""
"""Instead of a classifier: the measure judges the published table itself."""


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean with its standard error and the half width of its 95 % confidence band; both None for a single value."""

    number: int
    mean: float
    error: float | None
    band: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        number = len(values)
        if number < 2:
            return cls(number=number, mean=fmean(values), error=None, band=None)
        error = stdev(values) / sqrt(number)
        return cls(
            number=number,
            mean=fmean(values),
            error=error,
            band=float(student.ppf((1 + CONFIDENCE) / 2, number - 1)) * error,
        )


@dataclass(frozen=True, kw_only=True)
class MeanScore:
    """The mean of one measure for one contender, epsilon and classifier (empty for a measure of the table itself)."""

    table: str
    contender: str
    epsilon: str
    classifier: str
    measure: str
    value: Mean
    cpu_seconds: float
    """The median time to make the table or model; reading, training and scoring are excluded."""
    target: str = ""
    """The attribute that is predicted; empty for the class of the table."""

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        rest = {name: plain[name] for name in plain if name != "value"}
        return {**rest, **plain["value"], "lower_is_better": measure_named(self.measure).lower_is_better}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The mean over splits of the reference's score minus another contender's score on the same split."""

    table: str
    reference: str
    other: str
    epsilon: str
    classifier: str
    measure: str
    value: Mean
    cpu_ratio: float | None
    """CPU seconds of the other contender over those of the reference; None if either is zero."""
    target: str = ""

    @property
    def verdict(self) -> str:
        """`ahead` or `behind` if the mean is more than two standard errors from zero, otherwise `level`.

        Of a measure of which less is better, the reference is ahead if its score is lower.
        """
        error = self.value.error
        if error is None or abs(self.value.mean) <= 2 * error:
            return "level" if error is not None else "one split"
        better = (self.value.mean > 0) != measure_named(self.measure).lower_is_better
        return "ahead" if better else "behind"

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        rest = {name: plain[name] for name in plain if name not in {"value", "cpu_ratio"}}
        return {
            **rest,
            **plain["value"],
            "verdict": self.verdict,
            "cpu_ratio": self.cpu_ratio,
            "lower_is_better": measure_named(self.measure).lower_is_better,
        }


@dataclass(frozen=True, kw_only=True)
class _Scored:
    """The values of all measures of one classifier, or of the table itself, on one split."""

    table: str
    contender: str
    epsilon: str
    classifier: str
    split: int
    values: Mapping[str, float]
    cpu_seconds: float
    target: str


def mean_scores(outcomes: Iterable[TrialOutcome]) -> list[MeanScore]:
    """One mean for each table, contender, epsilon, target, classifier and measure, in the order of the outcomes.

    The measures of published tables come last.
    """
    groups: dict[tuple[str, str, str, str, str], list[_Scored]] = defaultdict(list)
    for each in _scored(outcomes):
        groups[each.table, each.contender, each.epsilon, each.classifier, each.target].append(each)
    return [
        MeanScore(
            table=table,
            contender=contender,
            epsilon=epsilon,
            classifier=classifier,
            measure=measure,
            value=Mean.of([each.values[measure] for each in group if measure in each.values]),
            cpu_seconds=median(each.cpu_seconds for each in group),
            target=target,
        )
        for (table, contender, epsilon, classifier, target), group in groups.items()
        for measure in _measures(group)
    ]


def paired_differences(outcomes: Sequence[TrialOutcome], reference: str) -> list[Difference]:
    """The reference against every other contender, on the splits that both have, at the same epsilon and classifier.

    Raw rows are compared at every epsilon. A contender with its own model is compared with every classifier.
    """
    scored = _scored(outcomes)
    mine = {_place(each): each for each in scored if each.contender == reference}
    settings = list(dict.fromkeys(place[:4] for place in mine))
    others = list(dict.fromkeys(each.contender for each in scored if each.contender != reference))
    found = []
    for other in others:
        theirs = {_place(each): each for each in scored if each.contender == other}
        for setting in settings:
            table, epsilon, classifier, target = setting
            pairs = [
                (each, match)
                for place, each in mine.items()
                if place[:4] == setting and (match := _match(theirs, place)) is not None
            ]
            found += [
                Difference(
                    table=table,
                    reference=reference,
                    other=other,
                    epsilon=epsilon,
                    classifier=classifier,
                    measure=measure,
                    value=Mean.of(values),
                    cpu_ratio=_ratio(pairs),
                    target=target,
                )
                for measure in _measures([each for each, _ in pairs])
                if (
                    values := [
                        one.values[measure] - two.values[measure]
                        for one, two in pairs
                        if measure in one.values and measure in two.values
                    ]
                )
            ]
    return found


def _scored(outcomes: Iterable[TrialOutcome]) -> list[_Scored]:
    """The measures of each outcome, then those of each table: a table has one outcome for each of its classifiers."""
    by_classifier, tables = [], defaultdict(list)
    for outcome in outcomes:
        values = _present(outcome, BY_CLASSIFIER)
        values |= {f"{RECALL}{label}": value for label, value in outcome.recall.items()}
        by_classifier.append(_of(outcome, outcome.classifier, values, outcome.target))
        tables[outcome.table, outcome.contender, outcome.epsilon, outcome.split].append(outcome)
    of_tables = []
    for group in tables.values():
        # Outcomes of one run have the same table. Outcomes of different runs have different ones, and share in it.
        found = [values for outcome in group if (values := _present(outcome, OF_TABLE))]
        if found:
            of_tables.append(_of(group[0], TABLE, {name: fmean(each[name] for each in found) for name in found[0]}))
    return by_classifier + of_tables


def _of(outcome: TrialOutcome, classifier: str, values: Mapping[str, float], target: str = "") -> _Scored:
    return _Scored(
        table=outcome.table,
        contender=outcome.contender,
        epsilon=outcome.epsilon,
        classifier=classifier,
        split=outcome.split,
        values=values,
        cpu_seconds=outcome.cpu_seconds,
        target=target,
    )


def _present(outcome: TrialOutcome, names: Iterable[str]) -> dict[str, float]:
    return {name: value for name in names if (value := getattr(outcome, name)) is not None}


def _measures(group: Iterable[_Scored]) -> list[str]:
    return list(dict.fromkeys(measure for each in group for measure in each.values))


_Place = tuple[str, str, str, str, int]
"""Table, epsilon, classifier, target and split."""


def _place(each: _Scored) -> _Place:
    return each.table, each.epsilon, each.classifier, each.target, each.split


def _match(theirs: Mapping[_Place, _Scored], place: _Place) -> _Scored | None:
    table, epsilon, classifier, target, split = place
    for budget in (epsilon, ""):
        for name in (classifier,) if classifier == TABLE or target else (classifier, OWN):
            if (table, budget, name, target, split) in theirs:
                return theirs[table, budget, name, target, split]
    return None


def _ratio(pairs: Sequence[tuple[_Scored, _Scored]]) -> float | None:
    ours = median(ours.cpu_seconds for ours, _ in pairs) if pairs else 0.0
    theirs = median(theirs.cpu_seconds for _, theirs in pairs) if pairs else 0.0
    return theirs / ours if ours > 0 and theirs > 0 else None
