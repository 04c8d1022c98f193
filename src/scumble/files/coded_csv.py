"""Writes coded columns as CSV: the text of each value is made once, and rows are assembled from these texts as bytes.

The bytes are those that pyarrow's writer gives for the decoded columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.compiled import compiled
from scumble.model.coded_columns import CodedColumns
from scumble.model.counts import Integers
from scumble.model.values import Column, published_values
from scumble.sources.source import RowProgress

BLOCK = 1 << 13
"""Rows that are assembled together: few enough for the processor's cache."""


@dataclass(frozen=True, kw_only=True)
class FieldTexts:
    """The fields of all values of a column, with the separator that follows, one after the other."""

    text: npt.NDArray[np.uint8]
    begins: Integers
    """Where each field begins, and the end of the last."""

    @classmethod
    def of(cls, values: Column | Sequence[str], *, last: bool) -> "FieldTexts":
        """`last` says whether the column is the last of its row."""
        end = "\n" if last else ","
        fields = [(field + end).encode() for field in csv_fields(values)]
        begins = np.concatenate([[0], np.cumsum([len(field) for field in fields], dtype=np.int64)])
        return cls(text=np.frombuffer(b"".join(fields), dtype=np.uint8), begins=begins)


def csv_fields(values: Column | Sequence[str]) -> list[str]:
    """Values as fields: texts in quotes, numbers as pyarrow writes them, missing numbers empty."""
    column = pa.array(values, from_pandas=True)
    if pa.types.is_string(column.type):
        return ['"' + text.replace('"', '""') + '"' for text in column.to_pylist()]
    return [text or "" for text in column.cast(pa.string()).to_pylist()]


def write_coded(columns: CodedColumns, path: Path, progress: RowProgress | None = None) -> None:
    """Write coded columns as a CSV file with a header."""
    names = list(columns)
    with path.open("wb") as file:
        file.write(header(names))
        fields = fields_of(
            [published_values(each.domain, np.arange(each.domain.size)) for each in columns.schema.attributes]
        )
        for start in range(0, columns.rows, BLOCK):
            stop = min(start + BLOCK, columns.rows)
            text, _ = assembled(fields, [columns.codes[name][start:stop] for name in names])
            file.write(text.data)
            if progress is not None:
                progress(stop, columns.rows)


def header(names: Sequence[str]) -> bytes:
    return (",".join(csv_fields(list(names))) + "\n").encode()


def fields_of(values: Sequence[Column | Sequence[str]]) -> list[FieldTexts]:
    """The fields of each column, given all its values."""
    return [FieldTexts.of(each, last=place == len(values) - 1) for place, each in enumerate(values)]


def assembled(
    fields: Sequence[FieldTexts], codes: Sequence[npt.NDArray[Any]]
) -> tuple[npt.NDArray[np.uint8], Integers]:
    """The text of some rows, given the codes of each column, and the end of each row."""
    lengths = np.zeros(len(codes[0]), dtype=np.int64)
    for each, column in zip(fields, codes, strict=True):
        lengths += np.diff(each.begins)[column]
    ends = np.cumsum(lengths)
    text = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    places = ends - lengths
    for each, column in zip(fields, codes, strict=True):
        _append(each.text, each.begins, column, places, text)
    return text, ends


def repeated(text: npt.NDArray[np.uint8], ends: Integers, times: Integers, most: int) -> Iterator[tuple[bytes, int]]:
    """Each row as often as stated, in pieces of about `most` rows, with the number of rows so far."""
    content = text.tobytes()
    begin, waiting, rows, written = 0, [], 0, 0
    for end, number in zip(ends.tolist(), times.tolist(), strict=True):
        line, left = content[begin:end], number
        begin = end
        while left:
            now = min(left, most - rows)
            waiting.append(line * now)
            rows, left = rows + now, left - now
            if rows == most:
                written += rows
                yield b"".join(waiting), written
                waiting, rows = [], 0
    if rows:
        yield b"".join(waiting), written + rows


@compiled
def _append(fields: Any, begins: Any, codes: Any, places: Any, text: Any) -> None:
    for row in range(len(codes)):
        code = np.uint64(codes[row])
        place = places[row]
        for at in range(begins[code], begins[code + np.uint64(1)]):
            text[place] = fields[at]
            place += 1
        places[row] = place
