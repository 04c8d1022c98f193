"""A published classifier on coded rows: class probabilities of a tree in the format tree/1."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.mining.tree_model import TreeModel
from scumble.model.counts import Floats
from scumble.model.grid import Grid
from scumble.model.schema import Schema


def released_probabilities(
    model: Mapping[str, Any], columns: Mapping[str, npt.NDArray[np.integer]], schema: Schema
) -> Floats:
    """The class probabilities of rows coded by the public schema: one column of codes for each attribute.

    A category is given to the tree by its code, a number by the lower edge of its cell.
    """
    values = []
    for attribute in schema.predictors:
        codes, domain = columns[attribute.name], attribute.domain
        if isinstance(domain, Grid):
            edges = domain.edge_floats[: domain.cells]
            missing = np.nan if domain.missing is not None and not domain.joined else edges[-1]
            values.append(np.append(edges, missing)[codes])
        else:
            values.append(codes.astype(np.float64))
    return TreeModel.from_json(model).probabilities(np.stack(values, axis=1))
