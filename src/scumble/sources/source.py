"""What a table to be read looks like to the rest of the program, whoever reads it."""

from collections.abc import Callable, Iterable
from typing import Protocol

import pyarrow as pa

from scumble.model.schema import Schema

RowProgress = Callable[[int, int | None], None]
"""Called with how much was read and how much there is, in bytes or rows."""


class Source(Protocol):
    """A table that can be read once more for every release, looked at in two steps.

    `columns` and `kinds` read the header alone. `batches` reads rows, and is called only after the ledger has reserved
    the budget. Messages never repeat what a table holds.
    """

    @property
    def name(self) -> str:
        """What the owner would call it: the stem of the file."""

    def columns(self) -> tuple[str, ...]:
        """The names in the header; no row is read."""

    def kinds(self) -> pa.Schema | None:
        """The types of the columns; None where all are text."""

    def batches(self, schema: Schema, progress: RowProgress | None = None) -> Iterable[pa.RecordBatch]:
        """The schema's columns, batch by batch."""
