"""Labelled rows for training or testing, raw or released: codes, labels and weights."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.counts import Integers, digits_of
from scumble.model.schema import Schema

LARGEST_KEY = 2**62


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows coded by a schema: raw rows by the raw schema, a release by its published schema.

    `codes` has one column per predictor of the schema; `labels` are indices into its classes; `weights` are
    non-negative integers, the number of times that each row occurs (None: once).
    """

    codes: npt.NDArray[np.integer]
    labels: npt.NDArray[np.integer]
    weights: npt.NDArray[np.integer] | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.labels.shape != self.codes.shape[:1]:
            raise InputError("A sample needs one row of codes per label. Give codes of shape (rows, predictors).")
        if self.weights is not None:
            if self.weights.shape != self.labels.shape or not np.issubdtype(self.weights.dtype, np.integer):
                raise InputError("A sample needs one integer weight per row. Give the published, rounded counts.")
            if self.weights.size and self.weights.min() < 0:
                raise InputError("A weight is negative. Use the published counts of a release, not the measured ones.")

    @property
    def counts(self) -> Integers:
        """The number of times that each row occurs."""
        if self.weights is None:
            return np.ones(len(self.labels), dtype=np.int64)
        return self.weights.astype(np.int64)

    def merged(self, schema: Schema) -> "Sample":
        """The distinct rows in the order of their codes, with counts; rows of count zero are left out.

        The result depends on the table as a multiset only: the order of rows does not matter, nor does it matter
        whether a repeated row is listed twice or has weight two.
        """
        check_fit(self, schema)
        here = np.flatnonzero(self.counts)
        codes, labels, counts = self.codes, self.labels, self.counts
        if len(here) < len(labels):
            codes, labels, counts = codes[here], labels[here], counts[here]
        sizes = [attribute.domain.size for attribute in schema.predictors] + [len(schema.classes)]
        key = np.zeros(len(here), dtype=np.int64)
        bound = 1
        for column, size in zip((*codes.T, labels), sizes, strict=True):
            if bound * size > LARGEST_KEY:
                # Renumber the keys that occur, in the same order, to avoid overflow.
                _, key = np.unique(key, return_inverse=True)
                bound = len(here)
            key = key * size + column
            bound *= size
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])[: len(key)])
        first = order[begins]
        weights = np.add.reduceat(counts[order], begins) if len(begins) else counts[:0]
        return Sample(codes=codes[first], labels=labels[first], weights=weights)


def sample_of_counts(schema: Schema, count: Integers) -> Sample:
    """The cells of a release as weighted rows: `count` has shape (cells, classes), cells in row-major order."""
    sizes = [attribute.domain.size for attribute in schema.predictors]
    cells, labels = np.nonzero(count)
    codes = np.stack(digits_of(cells, sizes), axis=1)
    return Sample(codes=codes, labels=labels, weights=count[cells, labels])


def check_fit(sample: Sample, schema: Schema) -> None:
    """Refuse a sample whose shape or codes do not fit the schema."""
    if schema.target is None:
        raise InputError("The schema has no `target`, so there is no class to predict. Add a `target` to the schema.")
    target = schema[schema.target]
    if sample.codes.shape[1] != len(schema.predictors):
        raise InputError(
            f"The sample has {sample.codes.shape[1]} columns, but the schema has {len(schema.predictors)} predictors. "
            "Code the rows by this schema."
        )
    for attribute, column in (*zip(schema.predictors, sample.codes.T, strict=True), (target, sample.labels)):
        if column.size and not (column.min() >= 0 and column.max() < attribute.domain.size):
            raise InputError(f"{attribute.name!r} has codes outside its domain. Code the rows by this schema.")
