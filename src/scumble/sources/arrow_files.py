"""Files that Arrow reads besides Parquet: Feather and other Arrow IPC files, and ORC. They declare their types."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from scumble.errors import InputError
from scumble.sources.source import RowProgress, Source

BATCH_ROWS = 1 << 16
ARROW_ENDINGS = frozenset({".feather", ".arrow", ".ipc"})
ORC_ENDINGS = frozenset({".orc"})


def arrow_file(path: Path) -> Source | None:
    """The source for such a file by its ending; None for other files."""
    if path.suffix.lower() in ARROW_ENDINGS:
        return ArrowFile(path=path)
    return ORCFile(path=path) if path.suffix.lower() in ORC_ENDINGS else None


@dataclass(frozen=True, kw_only=True)
class ArrowFile:
    """A Feather file of version 2, an Arrow file or an Arrow stream."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds().names)

    def kinds(self) -> pa.Schema:
        with _damaged(self.path, "an Arrow or Feather file (version 2)"), _opened(self.path) as reader:
            return reader.schema

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        names = self.columns()
        fields = sorted(names.index(name) for name in columns)
        with _damaged(self.path, "a complete Arrow file"), _opened(self.path, fields) as reader:
            total = reader.num_record_batches if isinstance(reader, pa.RecordBatchFileReader) else None
            batches = reader if total is None else map(reader.get_batch, range(total))
            for number, batch in enumerate(batches, start=1):
                batch.validate()  # what a damaged file claims to contain may lie outside of it
                yield from sliced(batch.select(list(columns)))
                if progress is not None:
                    progress(number, total)


@contextmanager
def _opened(path: Path, fields: Sequence[int] | None = None) -> Iterator[pa.RecordBatchReader]:
    options = pa.ipc.IpcReadOptions(included_fields=None if fields is None else list(fields))
    with pa.OSFile(str(path)) as file:
        try:
            reader = pa.ipc.open_file(file, options=options)
        except pa.ArrowInvalid:
            file.seek(0)
            reader = pa.ipc.open_stream(file, options=options)
        yield reader


@dataclass(frozen=True, kw_only=True)
class ORCFile:
    """An ORC file, read stripe by stripe."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds().names)

    def kinds(self) -> pa.Schema:
        from pyarrow import orc

        with _damaged(self.path, "an ORC file"):
            return orc.ORCFile(self.path).schema

    def check(self, columns: Sequence[str]) -> None:
        """Refuse timestamps: Arrow fails for the whole stripe if one of them lies before 1677 or after 2262."""
        kinds = self.kinds()
        moments = [name for name in columns if pa.types.is_timestamp(kinds.field(name).type)]
        if moments:
            raise InputError(
                f"{self.path}: the column {moments[0]!r} contains timestamps, which are not read from ORC because one "
                "of them could end the run. Write the table as Parquet, or the column as dates or text."
            )

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        from pyarrow import orc

        with _damaged(self.path, "a complete ORC file"):
            file = orc.ORCFile(self.path)
            for number in range(file.nstripes):
                yield from sliced(file.read_stripe(number, columns=list(columns)).select(list(columns)))
                if progress is not None:
                    progress(number + 1, file.nstripes)


def sliced(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in parts of at most BATCH_ROWS rows."""
    for start in range(0, len(batch), BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


@contextmanager
def _damaged(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError):
        raise InputError(f"{path} is not {what}. Write it again.") from None
