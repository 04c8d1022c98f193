"""Accuracy and AUC of classifiers that are trained on one table and tested on another."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from scumble.errors import InputError
from scumble.mining.benchmark.classifiers import CLASSIFIERS
from scumble.mining.benchmark.encoding import encode
from scumble.mining.benchmark.pruning import DistinctRows
from scumble.mining.benchmark.sample import Sample, check_fit
from scumble.model.counts import Floats, Integers
from scumble.model.schema import Schema

__all__ = ["Sample", "accuracy", "area_under_curve", "majority_accuracy", "score"]


def score(
    train: Sample, test: Sample, schema: Schema, *, classifiers: Iterable[str] = tuple(CLASSIFIERS)
) -> dict[str, Any]:
    """Train each classifier on one sample and score it on the other, both coded by the same schema.

    Returns `{"tree": {"accuracy": A, "auc": U}, "boosting": {...}, "pruning": {...}}` with A and U in 0..1; U is None
    if the test sample has only one class. The test sample influences nothing but the scores. With an empty training
    sample the first class is predicted.

    Training uses one thread: releases are small, and on a busy machine synchronizing threads was up to fifty times
    slower.
    """
    merged = train.merged(schema)
    rows = DistinctRows(
        features=encode(merged.codes, schema),
        labels=merged.labels.astype(np.int64),
        counts=merged.counts,
        classes=len(schema.classes),
    )
    check_fit(test, schema)
    labels, counts = _records(test)
    features = encode(test.codes[test.counts > 0], schema)
    result: dict[str, Any] = {}
    for name in classifiers:
        if name not in CLASSIFIERS:
            raise InputError(f"Unknown classifier {name!r}. Available: {', '.join(CLASSIFIERS)}.")
        with threadpool_limits(limits=1, user_api="openmp"):
            trained = CLASSIFIERS[name](rows)
            probabilities = trained.probabilities(features)
        result[name] = {
            "accuracy": accuracy(probabilities.argmax(axis=1), labels, counts),
            "auc": area_under_curve(probabilities, labels, counts),
        }
        if trained.pruning is not None:
            result["pruning"] = dict(trained.pruning)
    return result


def majority_accuracy(train: Sample, test: Sample) -> float:
    """The accuracy of always predicting the most frequent class of the training sample, the first among ties."""
    labels, counts = _records(test)
    votes = np.bincount(train.labels, weights=train.counts, minlength=1)
    return accuracy(np.full(len(labels), votes.argmax()), labels, counts)


def accuracy(predicted: Integers, labels: Integers, counts: Integers) -> float:
    """The share of records whose class is predicted correctly."""
    return float(counts[predicted == labels].sum() / counts.sum())


def area_under_curve(probabilities: Floats, labels: Integers, counts: Integers) -> float | None:
    """The mean over the present classes of the probability that a record of the class ranks above one of another class.

    A tie counts half. None if only one class is present.
    """
    present = np.unique(labels)
    if present.size < 2:
        return None
    areas = [roc_auc_score(labels == label, probabilities[:, label], sample_weight=counts) for label in present]
    return float(np.mean(areas))


def _records(test: Sample) -> tuple[Integers, Integers]:
    """Labels and counts of the rows with a positive count."""
    here = np.flatnonzero(test.counts)
    if not here.size:
        raise InputError("The test table has no records to score. Give a test file with rows that the schema can read.")
    return test.labels[here].astype(np.int64), test.counts[here]
