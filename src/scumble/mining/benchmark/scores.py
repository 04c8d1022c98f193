"""Accuracy, balanced accuracy, recall and AUC of classifiers that are trained on one table and tested on another.

Accuracy hides rare classes: if one record in twenty is ill, "nobody is ill" has an accuracy of 95 %. The recall of a
class is the share of its records that are predicted correctly, and balanced accuracy is the mean recall of the classes,
whatever their sizes. It is reported for two decision rules, because calibrated probabilities thresholded at one half
favour common classes: a record that is ill with probability 0.3, six times the base rate, is predicted to be well.

- `balanced_accuracy`: the most probable class is predicted, as every classifier does by default.
- `balanced_accuracy_weighted`: each probability is divided by the share of its class in the training table before the
  largest is taken. This is the rule of a miner who trains with balanced class weights or moves the threshold.

The first is low and the second high for a table that has learned to rank records but whose rare class never gets the
largest probability. Both are low for a table that has lost the rare class.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.mining.benchmark.at_once import at_once, one_thread, side_by_side
from scumble.mining.benchmark.classifiers import CLASSIFIERS, JOBS, USUAL
from scumble.mining.benchmark.encoding import encode, unknown_numbers, unordered_features
from scumble.mining.benchmark.pruning import DistinctRows, RunJobs
from scumble.mining.benchmark.sample import Sample, check_fit
from scumble.model.counts import Floats, Integers
from scumble.model.schema import Schema

__all__ = [
    "Predicted",
    "Sample",
    "accuracy",
    "area_under_curve",
    "balanced_accuracy",
    "class_shares",
    "commonest_class",
    "majority_accuracy",
    "measures",
    "predict",
    "recalls",
    "score",
    "scores_of",
    "weighted_predictions",
]

JobProgress = Callable[[int, int], None]
"""Called with the number of training jobs that have ended, and of all."""
ROUNDING = 1e-9
"""Weighted probabilities this close, relative to the larger one, differ by rounding only."""


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """The predicted probability of each class for every test row with a positive count, and how the tree was pruned."""

    probabilities: Floats
    pruning: Mapping[str, Any] | None


def score(train: Sample, test: Sample, schema: Schema, *, classifiers: Iterable[str] = USUAL) -> dict[str, Any]:
    """Train each classifier on one sample and score it on the other, both coded by the same schema.

    Returns `{"tree": {...}, "boosting": {...}, "pruning": {...}}` with the `measures` of each classifier, and how the
    first one that was pruned was pruned. The test sample influences nothing but the scores. With an empty training
    sample the first class is predicted.
    """
    return scores_of(predict(train, test, schema, classifiers=classifiers), train, test, schema)


def scores_of(predicted: Mapping[str, Predicted], train: Sample, test: Sample, schema: Schema) -> dict[str, Any]:
    """What `score` returns, for predictions that are known already."""
    labels, counts = _records(test)
    shares = class_shares(train, len(schema.classes))
    result: dict[str, Any] = {}
    for name, each in predicted.items():
        result[name] = measures(each.probabilities, labels, counts, shares=shares, classes=schema.classes)
        if each.pruning is not None:
            result.setdefault("pruning", dict(each.pruning))
    return result


def predict(
    train: Sample, test: Sample, schema: Schema, *, classifiers: Iterable[str], progress: JobProgress | None = None
) -> dict[str, Predicted]:
    """Train each classifier on one sample and predict the classes of the other, both coded by the same schema.

    Trees and models are trained at once, if the table is large, each in one thread: releases are mostly small, and on a
    busy machine synchronizing the threads of one model was up to fifty times slower.
    """
    names = list(classifiers)
    for name in names:
        if name not in CLASSIFIERS:
            raise InputError(f"Unknown classifier {name!r}. Available: {', '.join(CLASSIFIERS)}.")
    rows = distinct_rows(train, schema)
    check_fit(test, schema)
    _records(test)
    here = test.counts > 0
    features = encode(test.codes if here.all() else test.codes[here], schema)
    done, total = count(1), sum(JOBS.get(name, 1) for name in names)
    report = progress or _unreported

    def predicted(name: str, run: RunJobs) -> Predicted:
        trained = CLASSIFIERS[name](rows, run)
        return Predicted(probabilities=trained.probabilities(features), pruning=trained.pruning)

    with one_thread(), at_once(len(rows.labels), lambda: report(next(done), total)) as run:
        return side_by_side({name: partial(predicted, name, run) for name in names})


def distinct_rows(train: Sample, schema: Schema) -> DistinctRows:
    """The training table of a sample."""
    merged = train.merged(schema)
    return DistinctRows(
        features=encode(merged.codes, schema),
        labels=merged.labels.astype(np.int64),
        counts=merged.counts,
        classes=len(schema.classes),
        unordered=unordered_features(schema),
        unknown=unknown_numbers(schema),
    )


def _unreported(done: int, total: int) -> None:
    """Nobody asked for progress."""


def measures(
    probabilities: Floats, labels: Integers, counts: Integers, *, shares: Floats, classes: Sequence[str]
) -> dict[str, Any]:
    """All measures of predicted class probabilities, as plain data. `shares` are those of the training table.

    `accuracy`, `auc`, `balanced_accuracy` and `balanced_accuracy_weighted` are numbers in 0..1. `recall` maps the label
    of each class to its recall, also in 0..1. Classes without test records are left out. `auc` is None if the test
    records have only one class.
    """
    predicted = probabilities.argmax(axis=1)
    return {
        "accuracy": accuracy(predicted, labels, counts),
        "auc": area_under_curve(probabilities, labels, counts),
        "balanced_accuracy": balanced_accuracy(predicted, labels, counts),
        "balanced_accuracy_weighted": balanced_accuracy(weighted_predictions(probabilities, shares), labels, counts),
        "recall": {classes[label]: value for label, value in recalls(predicted, labels, counts).items()},
    }


def majority_accuracy(train: Sample, test: Sample) -> float:
    """The accuracy of always predicting the most frequent class of the training sample, the first among ties."""
    labels, counts = _records(test)
    votes = np.bincount(train.labels, weights=train.counts, minlength=1)
    return accuracy(np.full(len(labels), votes.argmax()), labels, counts)


def commonest_class(train: Sample, test: Sample, schema: Schema) -> dict[str, Any]:
    """The measures of always predicting the most frequent class of the training sample, and the label of this class.

    No useful classifier has a lower accuracy. The first class wins ties, and is predicted without training records.
    """
    labels, counts = _records(test)
    shares = class_shares(train, len(schema.classes))
    commonest = int(shares.argmax())
    probabilities = np.zeros((len(labels), len(shares)))
    probabilities[:, commonest] = 1.0
    return {
        "class": schema.classes[commonest],
        **measures(probabilities, labels, counts, shares=shares, classes=schema.classes),
    }


def accuracy(predicted: Integers, labels: Integers, counts: Integers) -> float:
    """The share of records whose class is predicted correctly."""
    return float(counts[predicted == labels].sum() / counts.sum())


def recalls(predicted: Integers, labels: Integers, counts: Integers) -> dict[int, float]:
    """For each class that is present, the share of its records whose class is predicted correctly."""
    rows = {int(label): labels == label for label in np.unique(labels)}
    return {label: accuracy(predicted[here], labels[here], counts[here]) for label, here in rows.items()}


def balanced_accuracy(predicted: Integers, labels: Integers, counts: Integers) -> float:
    """The mean recall of the classes that are present, each with the same weight. Guessing among k classes gets 1/k."""
    return float(np.mean(list(recalls(predicted, labels, counts).values())))


def weighted_predictions(probabilities: Floats, shares: Floats) -> Integers:
    """The class whose probability is the largest multiple of its share in the training table; the first among ties.

    Training with balanced class weights multiplies the odds of each class by the same factors. For two classes this is
    a threshold at the share of the class instead of one half. A class without training records is never predicted.
    If only such classes have a positive probability, or without training records at all, the first class is.
    """
    ratios = np.divide(probabilities, shares, out=np.zeros_like(probabilities), where=shares > 0)
    largest = ratios.max(axis=1, keepdims=True)
    first: Integers = (ratios >= largest * (1 - ROUNDING)).argmax(axis=1)
    return first


def class_shares(sample: Sample, classes: int) -> Floats:
    """The share of each class among the records of a sample; zero for all if there are none."""
    records = np.bincount(sample.labels, weights=sample.counts, minlength=classes).astype(np.float64)
    shares: Floats = records / max(records.sum(), 1.0)
    return shares


def area_under_curve(probabilities: Floats, labels: Integers, counts: Integers) -> float | None:
    """The mean over the present classes of the probability that a record of the class ranks above one of another class.

    A tie counts half. None if only one class is present.
    """
    present = np.unique(labels)
    if present.size < 2:
        return None
    areas = [_area(labels == label, probabilities[:, label], counts) for label in present]
    return float(np.mean(areas))


def _area(positive: npt.NDArray[np.bool_], score: Floats, counts: Integers) -> float:
    """The probability that a random positive record has a higher score than a random negative one; ties count half."""
    values, place = np.unique(score, return_inverse=True)
    above = np.bincount(place, weights=np.where(positive, counts, 0), minlength=values.size)
    below = np.bincount(place, weights=np.where(positive, 0, counts), minlength=values.size)
    lower = np.cumsum(below) - below
    return float((above * (lower + below / 2)).sum() / (above.sum() * below.sum()))


def _records(test: Sample) -> tuple[Integers, Integers]:
    """Labels and counts of the rows with a positive count."""
    here = np.flatnonzero(test.counts)
    if not here.size:
        raise InputError("The test table has no records to score. Give a test file with rows that the schema can read.")
    return test.labels[here].astype(np.int64), test.counts[here]
