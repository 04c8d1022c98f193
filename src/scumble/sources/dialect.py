"""How a CSV file is written: delimiter, quote and encoding. What is not stated is found in the header line, which is
public. No row is looked at."""

import csv
from contextlib import suppress
from dataclasses import dataclass

from scumble.errors import InputError
from scumble.sources.encodings import ENCODINGS, encoding_named

DELIMITERS = (",", ";", "\t", "|")
"""The delimiters that are recognized; others must be stated."""
QUOTES = ('"', "'")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What the data owner states about CSV files. For other sources it has no meaning."""

    delimiter: str | None = None
    """None: found in the header line; tab for .tsv files."""
    encoding: str | None = None
    """One of `ENCODINGS`; None: UTF-8."""
    multiline: bool = False
    """Whether values may contain line breaks, inside quotes. Assumes that a correct CSV writer wrote the file."""

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\"'\r\n\x00"):
            raise InputError(f"The delimiter {delimiter!r} is not one ASCII character. Give one such as ';'.")
        if self.encoding is not None and encoding_named(self.encoding) is None:
            raise InputError(f"Unknown encoding {self.encoding!r}. Available: {', '.join(ENCODINGS)}.")

    @property
    def text_encoding(self) -> str:
        """The encoding by its name in `ENCODINGS`."""
        return encoding_named(self.encoding or "") or "utf-8"


AS_FOUND = Dialect()
"""Nothing is stated."""


@dataclass(frozen=True, kw_only=True)
class HeaderLine:
    """The header line of a file, with the delimiter and the quote by which it was split."""

    names: tuple[str, ...]
    delimiter: str
    quote: str


def read_header(line: str, *, delimiter: str | None = None, quote: str | None = None) -> HeaderLine:
    """Split a header line. The delimiter is the one that gives the most names, unless it is stated; the quote is the
    single one if a name is enclosed in it, and none starts with a double one, unless it is stated. Raises `csv.Error`
    if the line cannot be split.

    >>> read_header("age;'net, income'").names
    ('age', 'net, income')
    """
    candidates = DELIMITERS if delimiter is None else (delimiter,)
    found: list[HeaderLine] = []
    for each in candidates:
        with suppress(csv.Error):  # for example, a name with more characters than the module csv reads
            found.append(_split(line, each, quote))
    return max(found, key=lambda each: len(each.names)) if found else _split(line, candidates[0], quote)


def _split(line: str, delimiter: str, quote: str | None) -> HeaderLine:
    parts = [part.strip(" ") for part in line.split(delimiter)]
    single = any(len(part) > 1 and part[0] == part[-1] == "'" for part in parts)
    quote = quote or ("'" if single and not any(part.startswith('"') for part in parts) else '"')
    names = next(csv.reader([line], delimiter=delimiter, quotechar=quote), [])
    return HeaderLine(names=tuple(names), delimiter=delimiter, quote=quote)


def shown_delimiter(delimiter: str) -> str:
    """
    >>> shown_delimiter(";"), shown_delimiter(chr(9))
    ("';'", "'tab'")
    """
    return repr("tab" if delimiter == "\t" else delimiter)
