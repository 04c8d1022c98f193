"""Synthetic tables drawn from a known distribution, to check whether a result on Adult generalizes.

A table is determined by a recipe, a number of rows and a seed, and its schema is public. The predictors are drawn
first, then the class from its known conditional distribution. So the Bayes accuracy, the best any classifier can reach,
is known too. Each recipe has a typical number of rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scumble.comparison.trials import CodedTable
from scumble.engines.coding import code_type
from scumble.files.schema_file import parse_schema
from scumble.model.counts import Floats, Integers
from scumble.model.schema import Schema
from scumble.privacy.noise import Simulation, simulation

TYPICAL_ROWS = 30_000
LARGE_SAMPLE = 400_000
"""Rows for estimating the best accuracy; its standard error is below 0.001."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A distribution of tables: the predictors' codes in schema order, then each class's probability given them."""

    name: str
    summary: str
    settles: bool
    """Whether results on its tables may settle a default. Results on the others are only reported."""
    schema_text: str
    predictors: Callable[[Simulation, int], Sequence[Integers]]
    probabilities: Callable[[Sequence[Integers]], Floats]
    rows: int = TYPICAL_ROWS

    @cached_property
    def schema(self) -> Schema:
        return parse_schema(self.schema_text, name=f"the schema of {self.name}")

    def table(self, *, rows: int | None = None, seed: int) -> CodedTable:
        """Draw rows, by default `self.rows`; the same seed gives the same table. The class is the last attribute."""
        rows = self.rows if rows is None else rows
        draw = simulation(seed)
        codes = self.predictors(draw, rows)
        below = np.cumsum(self.probabilities(codes), axis=1)
        labels = (draw.random((rows, 1)) * below[:, -1:] >= below[:, :-1]).sum(axis=1)
        schema = self.schema
        columns = [
            column.astype(code_type(attribute.domain.size))
            for column, attribute in zip((*codes, labels), schema.attributes, strict=True)
        ]
        return CodedTable(schema=schema, columns=tuple(columns))

    @cached_property
    def best_accuracy(self) -> float:
        """The Bayes accuracy: the expected accuracy of predicting the most probable class of every record."""
        codes = self.predictors(simulation(LARGE_SAMPLE), LARGE_SAMPLE)
        return float(self.probabilities(codes).max(axis=1).mean())
