"""Readable reference implementation of the CSV reader: line by line, or character by character across lines."""

import csv

LONGEST_FIELD = 1 << 30
OFF = b"\xff"


def records(content: bytes, *, fields: int, delimiter: str, quote: str, longest: int) -> list[tuple[bytes, ...]]:
    """The records of the lines after the header."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    found = (record(line, fields=fields, delimiter=delimiter, quote=quote, longest=longest) for line in lines)
    return [each for each in found if each is not None]


def record(text: bytes, *, fields: int, delimiter: str, quote: str, longest: int) -> tuple[bytes, ...] | None:
    """The values of the text of one record; None if it is an empty line of a table with several columns."""
    malformed = (OFF,) * fields
    if len(text) > longest:
        return malformed
    lines = text.removesuffix(b"\r").decode("latin-1").split("\n")
    if lines == [""]:
        return (b"",) if fields == 1 else None
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        # If a quote is open at the end of the record, the next line belongs to it too.
        parsed = list(csv.reader([*(f"{line}\n" for line in lines), "next"], delimiter=delimiter, quotechar=quote))
    except csv.Error:
        return malformed  # a carriage return outside quotes
    finally:
        csv.field_size_limit(before)
    if len(parsed) != 2 or len(parsed[0]) != fields:
        return malformed
    return tuple(value.encode("latin-1") for value in parsed[0])


def multiline_records(
    content: bytes, *, fields: int, delimiter: str, quote: str, longest: int
) -> list[tuple[bytes, ...]]:
    """The records of the text after the header if a line end inside quotes belongs to the value."""
    found, start = [], 0
    while start < len(content):
        end = start
        inside, at_start = False, True
        while end < len(content) and (inside or content[end : end + 1] != b"\n"):
            byte = chr(content[end])
            if inside and byte == quote and content[end + 1 : end + 2].decode("latin-1") == quote:
                end += 1
            elif byte == quote and (inside or at_start):
                inside = not inside
            at_start = not inside and byte == delimiter
            end += 1
        text = content[start:end]
        found.append(record(text, fields=fields, delimiter=delimiter, quote=quote, longest=longest))
        start = end + 1
    return [each for each in found if each is not None]
