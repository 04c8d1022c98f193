"""Evaluates a release of one classifier: its scores on raw rows. There is no table to train on or to compare."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scumble.errors import InputError
from scumble.flows.class_scores import sample_of
from scumble.flows.public_rows import PublicRows
from scumble.mining.benchmark.scores import class_shares, commonest_class, measures
from scumble.mining.released_tree import released_probabilities
from scumble.model.release import Release

OWN = "own"
"""The key of the scores of the published classifier."""


def classifier_scores(
    made: Release, model: Mapping[str, Any], test: PublicRows, train: PublicRows | None
) -> dict[str, Any]:
    """The scores of the published classifier, and of always predicting the commonest class of `train` or `test`.

    A classifier publishes no class shares, so those of these rows are used for class-weighted predictions.
    """
    schema = made.schema
    tested, known = sample_of(test, schema), sample_of(test if train is None else train, schema)
    probabilities = released_probabilities(model, test.columns, schema)
    shares = class_shares(known, len(schema.classes))
    labels = tested.labels.astype(np.int64)
    commonest = {"of": "test" if train is None else "train", **commonest_class(known, tested, schema)}
    return {
        OWN: measures(probabilities, labels, np.ones_like(labels), shares=shares, classes=schema.classes),
        "majority": commonest["accuracy"],
        "commonest": commonest,
        "test_rows": {"read": test.read, "in_domain": test.rows},
    }


def refuse_tables(made: Release, *, test: Any, asked: Sequence[str]) -> None:
    """Refuse what needs a table."""
    if test is None:
        raise InputError("The release is a classifier, which needs raw rows to test on. Give --test.")
    if asked:
        raise InputError(
            f"The release has no table: {made.method} publishes one classifier. Leave out {', '.join(asked)}."
        )
