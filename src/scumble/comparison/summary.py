"""Summarizes a comparison: means with 95 % confidence bands, and paired differences between contenders."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any

from scipy.stats import t as student

from scumble.comparison.compare import TrialOutcome
from scumble.comparison.contenders import OWN

CONFIDENCE = 0.95
MEASURES: Mapping[str, Callable[[TrialOutcome], float | None]] = {
    "accuracy": lambda outcome: outcome.accuracy,
    "balanced_accuracy": lambda outcome: outcome.balanced_accuracy,
    "balanced_accuracy_weighted": lambda outcome: outcome.balanced_accuracy_weighted,
    "auc": lambda outcome: outcome.auc,
}


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
    """The mean of one measure for one contender, epsilon and classifier."""

    table: str
    contender: str
    epsilon: str
    classifier: str
    measure: str
    value: Mean
    cpu_seconds: float
    """The median time to make the table or model; reading, training and scoring are excluded."""

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        return {**{name: plain[name] for name in plain if name != "value"}, **plain["value"]}


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

    @property
    def verdict(self) -> str:
        """`ahead` or `behind` if the mean is more than two standard errors from zero, otherwise `level`."""
        error = self.value.error
        if error is None or abs(self.value.mean) <= 2 * error:
            return "level" if error is not None else "one split"
        return "ahead" if self.value.mean > 0 else "behind"

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        rest = {name: plain[name] for name in plain if name not in {"value", "cpu_ratio"}}
        return {**rest, **plain["value"], "verdict": self.verdict, "cpu_ratio": self.cpu_ratio}


def mean_scores(outcomes: Iterable[TrialOutcome]) -> list[MeanScore]:
    """One mean for each table, contender, epsilon, classifier and measure, in the order of the outcomes."""
    groups: dict[tuple[str, str, str, str], list[TrialOutcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.table, outcome.contender, outcome.epsilon, outcome.classifier].append(outcome)
    lines = []
    for (table, contender, epsilon, classifier), group in groups.items():
        for measure, read in MEASURES.items():
            values = [value for outcome in group if (value := read(outcome)) is not None]
            if values:
                lines.append(
                    MeanScore(
                        table=table,
                        contender=contender,
                        epsilon=epsilon,
                        classifier=classifier,
                        measure=measure,
                        value=Mean.of(values),
                        cpu_seconds=median(outcome.cpu_seconds for outcome in group),
                    )
                )
    return lines


def paired_differences(outcomes: Sequence[TrialOutcome], reference: str) -> list[Difference]:
    """The reference against every other contender, on the splits that both have, at the same epsilon and classifier.

    Raw rows are compared at every epsilon. A contender with its own model is compared with every classifier.
    """
    mine = {_place(outcome): outcome for outcome in outcomes if outcome.contender == reference}
    settings = list(dict.fromkeys((table, epsilon, classifier) for table, epsilon, classifier, _ in mine))
    others = list(dict.fromkeys(outcome.contender for outcome in outcomes if outcome.contender != reference))
    found = []
    for other in others:
        theirs = {_place(outcome): outcome for outcome in outcomes if outcome.contender == other}
        for table, epsilon, classifier in settings:
            pairs = [
                (outcome, match)
                for (t, e, c, split), outcome in mine.items()
                if (t, e, c) == (table, epsilon, classifier)
                and (match := _match(theirs, table, epsilon, classifier, split)) is not None
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
                )
                for measure, read in MEASURES.items()
                if (values := [a - b for x, y in pairs if (a := read(x)) is not None and (b := read(y)) is not None])
            ]
    return found


def _place(outcome: TrialOutcome) -> tuple[str, str, str, int]:
    return outcome.table, outcome.epsilon, outcome.classifier, outcome.split


def _match(
    theirs: Mapping[tuple[str, str, str, int], TrialOutcome], table: str, epsilon: str, classifier: str, split: int
) -> TrialOutcome | None:
    for budget in (epsilon, ""):
        for name in (classifier, OWN):
            if (table, budget, name, split) in theirs:
                return theirs[table, budget, name, split]
    return None


def _ratio(pairs: Sequence[tuple[TrialOutcome, TrialOutcome]]) -> float | None:
    ours = median(ours.cpu_seconds for ours, _ in pairs) if pairs else 0.0
    theirs = median(theirs.cpu_seconds for _, theirs in pairs) if pairs else 0.0
    return theirs / ours if ours > 0 and theirs > 0 else None
