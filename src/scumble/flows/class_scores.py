"""Scores of classifiers that are trained on a release or on raw rows, and tested on raw rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.engines.coding import code_type
from scumble.flows.progress import Progress
from scumble.flows.public_rows import PublicRows, code_rows
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import JobProgress, Predicted, commonest_class, predict, scores_of
from scumble.mining.fidelity.one_way import columns_of
from scumble.mining.fidelity.targets import commonest_scores, target_of, target_scores
from scumble.model.schema import Attribute, Schema
from scumble.model.values import recoding
from scumble.sources import Source

Correct = Mapping[str, npt.NDArray[np.bool_]]
"""For each classifier: which test rows it predicts correctly."""


@dataclass(frozen=True, kw_only=True)
class ClassScores:
    """Scores as plain data, and which test rows are predicted correctly."""

    scores: dict[str, Any] = field(default_factory=dict)
    correct: Correct = field(default_factory=dict)


def sample_of(rows: PublicRows, published: Schema) -> Sample:
    """Coded rows as a sample of a published schema, whose domains are the same or coarser. Without a class, all labels
    are zero."""

    def column(attribute: Attribute) -> npt.NDArray[np.unsignedinteger]:
        code = recoding(rows.schema[attribute.name].domain, attribute.domain)
        return code.astype(code_type(attribute.domain.size))[rows.columns[attribute.name]]

    kind = code_type(max((attribute.domain.size for attribute in published.predictors), default=1))
    codes = np.empty((rows.rows, len(published.predictors)), dtype=kind)
    for place, attribute in enumerate(published.predictors):
        codes[:, place] = column(attribute)
    labels = np.zeros(rows.rows, np.uint8) if published.target is None else column(published[published.target])
    return Sample(codes=codes, labels=labels)


def class_scores(
    published: Sample,
    schema: Schema,
    test: PublicRows,
    train: PublicRows | None,
    classifiers: Sequence[str],
    progress: Progress | None = None,
) -> ClassScores:
    """Scores of classifiers trained on a release, and of always predicting the commonest class.

    Noise can make another class the commonest of a release, so the raw rows `train` decide if they are given.
    """
    tested = sample_of(test, schema)
    reported = _reported(progress, "training on the release")
    predicted = predict(published, tested, schema, classifiers=classifiers, progress=reported)
    if train is None:
        commonest = {"of": "release", **commonest_class(published, tested, schema)}
    else:
        commonest = {"of": "train", **commonest_class(sample_of(train, schema), tested, schema)}
    scores = scores_of(predicted, published, tested, schema)
    return ClassScores(
        scores={**scores, "majority": commonest["accuracy"], "commonest": commonest},
        correct=_correct(predicted, tested),
    )


def raw_scores(
    train: Source, test: Source, schema: Schema, classifiers: Sequence[str], progress: Progress | None = None
) -> ClassScores:
    """Scores of classifiers trained on raw rows, coded by the finest schema."""
    learned, tested = (sample_of(code_rows(each, schema), schema) for each in (train, test))
    reported = _reported(progress, "training on raw rows")
    predicted = predict(learned, tested, schema, classifiers=classifiers, progress=reported)
    return ClassScores(scores=scores_of(predicted, learned, tested, schema), correct=_correct(predicted, tested))


def scores_by_target(
    targets: Sequence[str],
    published: Sample,
    schema: Schema,
    test: PublicRows,
    train: PublicRows | None,
    classifiers: Sequence[str],
) -> dict[str, Any]:
    """Scores of predicting other attributes, for each as it was named; with raw rows `train`, also trained on these."""
    found: dict[str, Any] = {}
    public = test.schema
    for text in targets:
        known = test if train is None else train
        target = target_of(text, public, known.columns)
        columns = columns_of(published, schema)
        scores = target_scores(
            target, columns, schema, test.columns, public, counts=published.weights, classifiers=classifiers
        )
        found[text] = {"attribute": target.name, "classes": list(target.labels), "predicted": target.title, **scores}
        if train is not None:
            found[text]["raw"] = target_scores(
                target, train.columns, public, test.columns, public, classifiers=classifiers
            )
        of = "test" if train is None else "train"
        found[text]["commonest"] = {"of": of, **commonest_scores(target, known.columns, test.columns)}
    return found


def _reported(progress: Progress | None, label: str) -> JobProgress | None:
    if progress is None:
        return None
    progress(label, 0, None)
    return partial(progress, label)


def _correct(predicted: Mapping[str, Predicted], test: Sample) -> Correct:
    return {name: each.probabilities.argmax(axis=1) == test.labels for name, each in predicted.items()}
