"""Parquet files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scumble.errors import InputError
from scumble.sources.source import RowProgress

BATCH_ROWS = 1 << 16
BUFFER_BYTES = 1 << 18


@dataclass(frozen=True, kw_only=True)
class ParquetSource:
    """A Parquet file, read one row group after the other, with text as dictionaries."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds().names)

    def kinds(self) -> pa.Schema:
        """The types of the columns."""
        try:
            return pq.read_schema(self.path)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # a column's name may be no text
            raise InputError(f"{self.path} is not a Parquet file. Give a Parquet or CSV file.") from error

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        kinds = self.kinds()
        text = [name for name in columns if _is_text(kinds.field(name).type)]
        try:
            # With pre_buffer=True, everything that was read would stay in memory until the end of the file.
            with pq.ParquetFile(self.path, read_dictionary=text, pre_buffer=False, buffer_size=BUFFER_BYTES) as file:
                rows = 0
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(columns)):
                    yield batch
                    rows += len(batch)
                    if progress is not None:
                        progress(rows, file.metadata.num_rows)
        except (pa.ArrowException, OSError):
            raise InputError(f"{self.path} is a damaged Parquet file. Write it again.") from None


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
