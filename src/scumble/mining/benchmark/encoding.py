"""From codes to numbers for classifiers: the one encoding of generalized values, the same for raw and released rows."""

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.schema import Schema

Features = npt.NDArray[np.float32]


def encode(codes: npt.NDArray[np.integer], schema: Schema) -> Features:
    """One feature for each predictor: its code as a number, shape (rows, predictors).

    The codes of a domain are made for this. A grid's codes follow its numbers; a tree's codes follow its leaves from
    left to right, so every node of the tree, as every interval of the grid, is a range of codes, which a decision tree
    cuts out with two thresholds at most. Features do not multiply with long taxonomies, nothing needs a limit, and a
    generalized value is encoded like a raw one.

    Measured on Adult, against an indicator for every leaf, for every node of the tree, or for inner nodes beside the
    code: the pruned tree's accuracy is within 0.15 points of theirs on raw rows and within 0.03 on releases, boosting's
    AUC within 0.001, with 14 features instead of 53 to 147 and two fifths to two thirds of the tree's time.

    Whole numbers are exact in float32 up to 2^24; a longer grid has neighbouring cells share a number.
    """
    if codes.ndim != 2 or codes.shape[1] != len(schema.predictors):
        raise InputError(
            f"Codes of shape {codes.shape} do not fit {len(schema.predictors)} predictors. Give one column for each."
        )
    return codes.astype(np.float32)
