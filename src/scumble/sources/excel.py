"""Spreadsheets: Excel (.xlsx, .xlsm, .xls, .xlsb) and OpenDocument (.ods), read by python-calamine (the extra `excel`).

The first row of the sheet is the header. A spreadsheet declares no types of columns, so each cell is read on its own,
by the type that is stored with it. A row without any value is not a record.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.errors import InputError
from scumble.installation import needing
from scumble.model.raw_value import canonical
from scumble.sources.addresses import shown_address
from scumble.sources.object_column import object_batch
from scumble.sources.source import RowProgress, Source

BATCH_ROWS = 1 << 14
ENDINGS = frozenset({".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"})


def spreadsheet(path: Path) -> Source | None:
    """The source for the first sheet of a spreadsheet; None for other files."""
    return Spreadsheet(path=path) if path.suffix.lower() in ENDINGS else None


def named_sheet(data: str) -> Source | None:
    """The source for `FILE::SHEET`; None if `data` is not such an address."""
    file, apart, sheet = data.rpartition("::")
    path = Path(file)
    if not apart or path.suffix.lower() not in ENDINGS or Path(data).exists():
        return None
    if not path.is_file():
        raise InputError(f"The file {shown_address(file)} does not exist. Write book.xlsx::Sheet.")
    return Spreadsheet(path=path, sheet=sheet)


@dataclass(frozen=True, kw_only=True)
class Spreadsheet:
    """One sheet of a spreadsheet, by default the first."""

    path: Path
    sheet: str | None = None

    @property
    def name(self) -> str:
        return self.sheet or self.path.stem

    @property
    def place(self) -> str:
        """The file and the sheet, for messages: which sheet was read is not obvious if none was named."""
        with _refused(self):
            from python_calamine import CalamineWorkbook

            with CalamineWorkbook.from_path(str(self.path)) as book:
                return f"{self.path}::{self.sheet or book.sheet_names[0]}"

    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._header)

    def kinds(self) -> None:
        return None

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        places = [dict(self._header)[name] for name in columns]
        rows = self._rows()[1:]
        records = (row for row in rows if any(cell != "" for cell in row))
        done = 0
        while part := list(islice(records, BATCH_ROWS)):
            yield object_batch(columns, ([row[place] for row in part] for place in places))
            done += len(part)
            if progress is not None:
                progress(done, len(rows))

    @cached_property
    def _header(self) -> list[tuple[str, int]]:
        """The names in the first row with their places. Columns without a name are not read."""
        first = next(iter(self._rows()), [])
        names = [canonical(cell)[1] for cell in first]
        return [(name, place) for place, name in enumerate(names) if name]

    def _rows(self) -> list[list[Any]]:
        with _refused(self):
            from python_calamine import CalamineWorkbook

            with CalamineWorkbook.from_path(str(self.path)) as book:
                sheet = book.get_sheet_by_index(0) if self.sheet is None else book.get_sheet_by_name(self.sheet)
                # Leading empty rows and columns stay: which there are, one record could change.
                return sheet.to_python(skip_empty_area=False)


@contextmanager
def _refused(source: Spreadsheet) -> Iterator[None]:
    """Report failures without the messages of the library, which may repeat the content of the file."""
    with needing("excel"):
        from python_calamine import CalamineError, PasswordError, WorksheetNotFound
    try:
        yield
    except WorksheetNotFound:
        raise InputError(f"{source.path} has no sheet {source.name!r}. Write book.xlsx::Sheet.") from None
    except PasswordError:
        raise InputError(f"{source.path} is protected by a password. Save it without one.") from None
    except (CalamineError, OSError, OverflowError):
        raise _damaged(source) from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # a failure inside the library, which is not an Exception
            raise _damaged(source) from None
        raise


def _damaged(source: Spreadsheet) -> InputError:
    return InputError(
        f"{source.path} is not a spreadsheet, is damaged, or has a cell that the library cannot read, such as an error "
        "value or a time that does not exist. Save it again as .xlsx, or as CSV."
    )
