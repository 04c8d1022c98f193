"""The interface of all sources of rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from scumble import interrupts

RowProgress = Callable[[int, int | None], None]
"""Called with how much was read and how much there is in total (None: unknown), in bytes or rows."""


class Source(Protocol):
    """A table that is read in two steps.

    `columns` and `kinds` read only the header. `batches` reads rows; it is called only after the ledger has reserved
    the budget, and may be called more than once. Error messages never repeat the content of a table.
    """

    @property
    def name(self) -> str:
        """The default name of the dataset in the ledger, such as the stem of the file."""

    def columns(self) -> tuple[str, ...]:
        """The names in the header; no row is read."""

    def kinds(self) -> pa.Schema | None:
        """The types that the source declares, without reading a row; None if it declares none."""

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterable[pa.RecordBatch]:
        """The named columns, batch by batch."""


def interruptible(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """The same batches; an interruption that a library swallowed ends the reading before the next one.

    Only iterators are wrapped. Other batches are rows of a cluster, which counts them where they lie.
    """
    return _checked(batches) if isinstance(batches, Iterator) else batches


def _checked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        interrupts.check()
        yield batch
