"""The header line of a CSV file, by which its delimiter and quote are found. It is public. No row is looked at."""

import csv
from contextlib import suppress
from dataclasses import dataclass

DELIMITERS = (",", ";", "\t", "|")
"""The delimiters that are recognized; others must be stated."""
QUOTES = ('"', "'")


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
    return max(found, key=lambda each: (len(each.names), _encloses(line, each))) if found else _split(line, ",", quote)


def _split(line: str, delimiter: str, quote: str | None) -> HeaderLine:
    parts = [part.strip(" ") for part in line.split(delimiter)]
    single = any(len(part) > 1 and part[0] == part[-1] == "'" for part in parts)
    quote = quote or ("'" if single and not any(part.startswith('"') for part in parts) else '"')
    names = next(csv.reader([line], delimiter=delimiter, quotechar=quote), [])
    return HeaderLine(names=tuple(names), delimiter=delimiter, quote=quote)


def _encloses(line: str, header: HeaderLine) -> bool:
    """Whether a name is enclosed in quotes: of two delimiters that give as many names, the one that splits none."""
    parts = [part.strip(" ") for part in line.split(header.delimiter)]
    return any(len(part) > 1 and part[0] == part[-1] == header.quote for part in parts)


def shown_delimiter(delimiter: str) -> str:
    """
    >>> shown_delimiter(";"), shown_delimiter(chr(9))
    ("';'", "'tab'")
    """
    return repr("tab" if delimiter == "\t" else delimiter)
