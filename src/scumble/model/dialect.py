"""What a data owner states about CSV files: delimiter, encoding, line breaks inside values."""

import codecs
from dataclasses import dataclass

from scumble.errors import InputError

ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be")
_NAMES = {codecs.lookup(name).name: name for name in ENCODINGS} | {"utf-8-sig": "utf-8"}


def encoding_named(name: str) -> str | None:
    """The entry of `ENCODINGS` for any of its usual names.

    >>> encoding_named("ISO-8859-1"), encoding_named("windows-1252"), encoding_named("UTF8"), encoding_named("x")
    ('latin-1', 'cp1252', 'utf-8', None)
    """
    try:
        return _NAMES.get(codecs.lookup(name).name)
    except (LookupError, ValueError):
        return None


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
