"""Texts of others on their way to a terminal: characters that a terminal would obey are written as escapes."""

import re

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters other than tab and line feed, lone surrogates, and characters that reverse the direction of text.

A terminal would obey them: a file name could clear the screen or hide what is printed.
"""


def printable(text: str) -> str:
    r"""The text with control characters written as escapes, which are those of JSON and of quoted YAML, too.

    >>> print(printable("a\x1b[2Jb"))
    a\u001b[2Jb
    """
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
