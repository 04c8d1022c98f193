"""The encoding of values as numbers for classifiers, the same for raw and released rows."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.grid import Grid
from scumble.model.ordered import Ordered
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree

Features = npt.NDArray[np.float32]


def encode(codes: npt.NDArray[np.integer], schema: Schema) -> Features:
    """One feature per predictor: its code as a number, shape (rows, predictors).

    The codes of a grid follow its numbers. The codes of a taxonomy follow its leaves from left to right, so every node
    of the taxonomy, like every interval of the grid, is a range of codes, which a decision tree separates with at most
    two thresholds. The number of features does not grow with the taxonomy, and a generalized value is encoded like a
    raw one.

    The alternatives are an indicator per leaf, per node, or per inner node beside the code. Measured on Adult, the
    accuracy of the pruned tree is within 0.15 points of theirs on raw rows and within 0.03 on releases, and the AUC of
    boosting within 0.001, with 14 features instead of 53 to 147 and two fifths to two thirds of the tree's time.

    Integers are exact in float32 up to 2^24; neighbouring cells of a longer grid may get the same number.
    """
    if codes.ndim != 2 or codes.shape[1] != len(schema.predictors):
        raise InputError(
            f"Codes of shape {codes.shape} do not fit {len(schema.predictors)} predictors. Give one column each."
        )
    return codes.astype(np.float32)


def unordered_features(schema: Schema) -> tuple[int, ...]:
    """The features whose codes have no order of their own: categories of a taxonomy, raw or generalized."""
    return tuple(
        place
        for place, attribute in enumerate(schema.predictors)
        if isinstance(attribute.domain, Tree) and not isinstance(attribute.domain, Ordered)
    )


def unknown_numbers(schema: Schema) -> Mapping[int, int]:
    """The code of missing numbers by feature, where it is apart from all intervals."""
    domains = [(place, attribute.domain) for place, attribute in enumerate(schema.predictors)]
    return {
        place: domain.missing_code
        for place, domain in domains
        if isinstance(domain, Grid) and domain.missing_code is not None and not domain.joined
    }
