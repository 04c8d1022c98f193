"""Reads plain YAML quickly: one entry on each line, nested by indentation.

ruamel.yaml needs about 40 microseconds per entry; this reader needs about three. It reads only text that has one
possible meaning. ruamel.yaml reads values such as `{low: 0, high: 4}` within a line. If the text has anything else,
this reader returns None and ruamel.yaml reads or refuses the whole text: block scalars, scalars and brackets on several
lines, comments after scalars, escapes, tabs, tags, and every mistake. `tests/foreign/test_plain_yaml.py` compares both.
"""

import re
from functools import partial
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scanner import Scanner

from scumble.foreign.documents import TooLargeDocument

LONGEST_KEY = 1000
"""Characters of a key. YAML limits a key on one line to 1,024."""
MOST_IN_BRACKETS = 1000
"""Values in brackets that ruamel.yaml reads one by one. It reads more of them quicker with the whole text at once."""
MOST_TOKENS = 600_000
"""Words and signs that ruamel.yaml reads of one file; about twice as many as it has entries."""
DEEPEST_BRACKETS = 30
"""Brackets inside each other. Deeper data can be written by indentation."""
_FIRST = r"(?:\w|[-+.(](?=\w))"
_SCALAR = rf"""{_FIRST}[^ :#]*(?: +[^ :#]+)*|'[^']*'|"[^"\\]*\""""
ENTRY = re.compile(rf"( *)(?:- ({_SCALAR})|({_SCALAR}):(?: ({_SCALAR}|\[.*\]|{{.*}}))?)")
"""A line `- item`, `key: value` or `key:`. A scalar is plain, or quoted without escapes. A value may be in brackets."""
_ITEM = rf"{_FIRST}[^ :#,\[\]{{}}]*(?: +[^ :#,\[\]{{}}]+)*"
PLAIN_LIST = re.compile(rf"\[{_ITEM}(?:, {_ITEM})*\]")


class Tokens:
    """How many tokens ruamel.yaml may still read, of one file."""

    def __init__(self, left: int = MOST_TOKENS) -> None:
        self.left = left


class _BoundedScanner(Scanner):
    """Counts tokens and open brackets as they are found, and stops at the bounds.

    For each token, ruamel.yaml looks at all brackets that are open. Without a bound on their number, a text of a
    megabyte takes minutes.
    """

    def __init__(self, tokens: Tokens, loader: Any = None) -> None:
        self.allowed = tokens
        super().__init__(loader=loader)

    def fetch_more_tokens(self) -> Any:
        self.allowed.left -= 1
        if self.allowed.left < 0:
            raise TooLargeDocument(f"it has more than {MOST_TOKENS:,} words and signs")
        if len(self.flow_context) > DEEPEST_BRACKETS:
            raise TooLargeDocument(f"it has more than {DEEPEST_BRACKETS} brackets inside each other")
        return super().fetch_more_tokens()


def load_yaml(text: str, tokens: Tokens | None = None) -> Any:
    """The data in a text of any YAML; scalars are text.

    Raises `YAMLError` or `RecursionError`, and `TooLargeDocument` as soon as more `tokens` are found than are left.
    """
    yaml = YAML(typ="base", pure=True)
    yaml.Scanner = partial(_BoundedScanner, Tokens() if tokens is None else tokens)
    yaml.composer.warn_double_anchors = False  # YAML allows to redefine an anchor; an alias means the last definition
    try:
        return yaml.load(text)
    except TypeError as error:  # ruamel.yaml looks a key up before it knows that it can be one
        raise YAMLError("a key is a list or a mapping, where only text can be one") from error


class _NotPlain(ValueError):
    """The text is not plain YAML."""


def parse_plain_yaml(text: str, tokens: Tokens | None = None) -> dict[str, Any] | None:
    """The mapping in a text, whose scalars are text; None if the text is not plain.

    `tokens` limits what ruamel.yaml reads of it; beyond that, `TooLargeDocument` is raised.

    >>> parse_plain_yaml("unit: '1'\\nclasses:\\n  - low\\n  - high income\\n")
    {'unit': '1', 'classes': ['low', 'high income']}
    >>> parse_plain_yaml("classes: |\\n  low")
    """
    if not text.replace("\n", "").isprintable():
        return None
    document = _Document(Tokens() if tokens is None else tokens)
    try:
        for line in text.split("\n"):
            content = line.lstrip(" ")
            if content and content[0] != "#":
                document.add(line)
    except _NotPlain:
        return None
    return document.finished()


class _Document:
    """A mapping that grows line by line. `levels` are the open mappings and lists, each with the column of its entries.

    `pending` is a key of the last level without a value yet: its value is on the next lines, or is empty.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.mapping: dict[str, Any] = {}
        self.levels: list[tuple[int, dict[str, Any] | list[Any]]] = [(0, self.mapping)]
        self.pending: str | None = None
        self.in_brackets = 0

    def add(self, line: str) -> None:
        found = ENTRY.fullmatch(line)
        if found is None:
            raise _NotPlain
        indent, item, key, value = found.groups()
        entries = self._level(len(indent), is_item=item is not None)
        if isinstance(entries, list):
            if item is None:
                raise _NotPlain
            entries.append(_text(item))
            return
        if key is None or len(key) > LONGEST_KEY or (name := _text(key)) in entries:
            raise _NotPlain
        entries[name] = "" if value is None else self._value(value)
        self.pending = name if value is None else None

    def _level(self, column: int, *, is_item: bool) -> dict[str, Any] | list[Any]:
        """The mapping or list to which an entry at a column belongs."""
        last, entries = self.levels[-1]
        if self.pending is not None:
            # A list may begin at the column of its key.
            if column > last or (is_item and column == last):
                opened: dict[str, Any] | list[Any] = [] if is_item else {}
                assert isinstance(entries, dict)
                entries[self.pending] = opened
                self.levels.append((column, opened))
            self.pending = None
        while self.levels[-1][0] > column or (not is_item and self._ends_list(column)):
            self.levels.pop()
        last, entries = self.levels[-1]
        if last != column:  # deeper: the line continues the scalar above, or is a mistake
            raise _NotPlain
        return entries

    def _ends_list(self, column: int) -> bool:
        """Whether a key at a column ends a list that begins at the column of its own key."""
        return len(self.levels) > 1 and self.levels[-2][0] == self.levels[-1][0] == column

    def _value(self, value: str) -> Any:
        if value[0] not in "[{":
            return _text(value)
        if PLAIN_LIST.fullmatch(value):
            return value[1:-1].split(", ")
        self.in_brackets += 1
        if self.in_brackets > MOST_IN_BRACKETS:
            raise _NotPlain
        try:
            return load_yaml(f"key: {value}", self.tokens)["key"]
        except (YAMLError, RecursionError):
            raise _NotPlain from None

    def finished(self) -> dict[str, Any] | None:
        return self.mapping or None


def _text(scalar: str) -> str:
    return scalar[1:-1] if scalar[0] in "'\"" else scalar
