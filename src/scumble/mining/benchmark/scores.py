"""How well one table teaches to predict another: accuracy and AUC of every classifier."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from scumble.errors import InputError
from scumble.mining.benchmark.classifiers import CLASSIFIERS
from scumble.mining.benchmark.encoding import encode
from scumble.mining.benchmark.pruning import DistinctRows, Floats
from scumble.mining.benchmark.sample import Sample, check_fit
from scumble.model.counts import Integers
from scumble.model.schema import Schema

__all__ = ["Sample", "accuracy", "area_under_curve", "majority", "score"]


def score(
    train: Sample, test: Sample, schema: Schema, *, classifiers: Iterable[str] = tuple(CLASSIFIERS)
) -> dict[str, Any]:
    """Train each classifier on one sample and judge it on the other, both coded by the same schema.

    `{"tree": {"accuracy": A, "auc": U}, "boosting": {...}, "pruning": {...}}`, A and U in 0..1, U None where the test
    holds one class only. The test decides nothing but the score. A training table without records predicts the first
    class.

    One thread: releases are small, and threads waiting for each other cost more than they save, fiftyfold on a busy
    machine.
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
            raise InputError(f"There is no classifier {name!r}. Choose from {', '.join(CLASSIFIERS)}.")
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


def majority(train: Sample, test: Sample) -> float:
    """The accuracy of always predicting the commonest class of the training side, the first where several tie."""
    labels, counts = _records(test)
    votes = np.bincount(train.labels, weights=train.counts, minlength=1)
    return accuracy(np.full(len(labels), votes.argmax()), labels, counts)


def accuracy(predicted: Integers, labels: Integers, counts: Integers) -> float:
    """The share of records whose class was predicted."""
    return float(counts[predicted == labels].sum() / counts.sum())


def area_under_curve(probabilities: Floats, labels: Integers, counts: Integers) -> float | None:
    """The mean, over the classes present, of the chance that a record of the class is ranked above a record of another.

    A tie counts half. None where only one class is present, for then there is no pair to rank.
    """
    present = np.unique(labels)
    if present.size < 2:
        return None
    areas = [roc_auc_score(labels == label, probabilities[:, label], sample_weight=counts) for label in present]
    return float(np.mean(areas))


def _records(test: Sample) -> tuple[Integers, Integers]:
    """Labels and counts of the rows that count at all."""
    here = np.flatnonzero(test.counts)
    if not here.size:
        raise InputError("The test table has no records to score. Give a test file with rows the schema can read.")
    return test.labels[here].astype(np.int64), test.counts[here]
