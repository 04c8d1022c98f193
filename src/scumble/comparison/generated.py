"""Tables made by a known law, for the question whether what helps on Adult helps anywhere else.

Each has a public schema, as many rows as asked for, and a seed. Predictors are drawn first, then the class with the
probabilities that `chances` gives: so the best accuracy that any classifier could reach is known, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.comparison.trials import CodedTable
from scumble.engines.coding import code_type
from scumble.files.schema_file import parse_schema
from scumble.model.counts import Integers
from scumble.model.schema import Schema
from scumble.privacy.noise import Simulation, simulation

Floats = npt.NDArray[np.float64]
Draw = Simulation

TYPICAL_ROWS = 30_000
LARGE_SAMPLE = 400_000
"""Rows to find the best accuracy by: its standard error is below 0.001."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A law of tables: codes of the predictors in the schema's order, then the chance of each class given them."""

    name: str
    summary: str
    schema_text: str
    predictors: Callable[[Draw, int], Sequence[Integers]]
    chances: Callable[[Sequence[Integers]], Floats]

    @cached_property
    def schema(self) -> Schema:
        return parse_schema(self.schema_text, name=f"the schema of {self.name}")

    def table(self, *, rows: int = TYPICAL_ROWS, seed: int) -> CodedTable:
        """So many rows, the same for the same seed. The class is the schema's last attribute."""
        draw = simulation(seed)
        codes = self.predictors(draw, rows)
        below = np.cumsum(self.chances(codes), axis=1)
        labels = (draw.random((rows, 1)) * below[:, -1:] >= below[:, :-1]).sum(axis=1)
        schema = self.schema
        columns = [
            column.astype(code_type(attribute.domain.size))
            for column, attribute in zip((*codes, labels), schema.attributes, strict=True)
        ]
        return CodedTable(schema=schema, columns=tuple(columns))

    @cached_property
    def best_accuracy(self) -> float:
        """The accuracy of predicting the likeliest class of every record, which nothing can beat on average."""
        codes = self.predictors(simulation(LARGE_SAMPLE), LARGE_SAMPLE)
        return float(self.chances(codes).max(axis=1).mean())
