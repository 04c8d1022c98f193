"""From the codes of a public domain to those of a coarser version of it that was published."""

import numpy as np

from scumble.model.counts import Integers
from scumble.model.taxonomy import Domain, Grid, Tree


def recoding(fine: Domain, published: Domain) -> Integers:
    """For every code of a domain, the code of the generalized value that a truncated version of it publishes."""
    if isinstance(fine, Tree) and isinstance(published, Tree):
        return np.array([published.codes[label] for label in fine.labels], dtype=np.int64)
    assert isinstance(fine, Grid) and isinstance(published, Grid)
    codes = np.searchsorted(published.edge_floats, fine.edge_floats[:-1], side="right") - 1
    extra = [] if fine.size == fine.cells else [published.size - 1]
    return np.concatenate([codes, extra]).astype(np.int64)
