"""A pass over the records, chunk by chunk: their log-odds under a model, and their combinations of bins."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from scumble.methods.diffgen.detail.combinations import (
    Axes,
    Combination,
    Keys,
    chunks,
    code_matrix,
    find_all,
    places_in,
)
from scumble.methods.diffgen.detail.evaluation import FlatModel, log_odds_of
from scumble.methods.diffgen.detail.terms import LogOddsModel
from scumble.model.counts import Block, Integers


class Records:
    """Evaluates a model and some combinations on every chunk of the records.

    What is the same for all chunks is prepared once.
    """

    def __init__(self, model: LogOddsModel, combinations: Sequence[Combination] = ()) -> None:
        self._schema = model.schema
        self._places = places_in([*combinations, *(term.combination for term in model.terms)])
        self._axes = Axes.of(combinations, self._places)
        self.model = FlatModel.of(model, self._places, relative=True)

    def chunks(self, blocks: Iterable[Block]) -> Iterator[tuple[Any, Any]]:
        """Code matrices and classes of chunks of rows."""
        for predictors, labels in chunks(self._schema, blocks):
            yield code_matrix(predictors, self._places), labels

    def keys(self, codes: Any) -> Keys:
        """The number of each record's combination of bins (combinations, rows)."""
        keys = np.empty((len(self._axes.first) - 1, codes.shape[1]), dtype=np.int32)
        find_all(self._axes, codes, keys)
        return keys

    def log_odds(self, codes: Any) -> Integers:
        """Log-odds relative to those of the first class (classes - 1, rows)."""
        return log_odds_of(self.model, codes)
