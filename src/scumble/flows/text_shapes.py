"""The shapes of texts: dates, numbers in other notations, yes and no, codes. For drafts and advice only.

Releases read values by the notation that the schema declares. Here a notation is guessed from private rows.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

from scumble.model.dates import DateNotation, DateStep
from scumble.model.notation import NumberNotation
from scumble.model.prefixes import MOST_CODES
from scumble.model.raw_value import ValueKind

PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", re.ASCII)
"""Numbers in plain notation. Infinities and huge exponents are left to other guesses."""
NUMBER_NOTATIONS = (
    NumberNotation(decimal=".", thousands=","),
    NumberNotation(decimal=","),
    NumberNotation(decimal=",", thousands="."),
    *(
        NumberNotation(decimal=decimal, thousands=thousands)
        for decimal, thousands in product((",", "."), (" ", "'", "\u2019", "\u00a0", "\u202f"))
    ),
)
"""Other notations of numbers, in the order in which they are tried: `1,234` is read as 1234."""
DATE_FORMATS = tuple(
    f"{sign.join(order)}{time}"
    for sign, order, time in product(
        "./-",
        (("%d", "%m", "%Y"), ("%-d", "%-m", "%Y"), ("%m", "%d", "%Y"), ("%-m", "%-d", "%Y"), ("%Y", "%m", "%d")),
        ("", " %H:%M", " %H:%M:%S"),
    )
)
LAST_YEAR = 9999
"""Dates of this year stand for a missing one: no range can end after it."""
LONGEST_PREFIX = 3
SEPARATORS = ". -/"
BOOLEANS = (
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("nein", "ja"),
    ("n", "j"),
    ("non", "oui"),
    ("off", "on"),
)
"""Texts for false and true, in any case."""
_SHORT_DATE = "dates with years of two digits, which are not read. Write all four digits, then use `date:`."
_LOOKS = (
    (re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2}([T ].*)?"), _SHORT_DATE),
    (
        re.compile(r"\d{4}-\d{1,2}-\d{1,2}.*|\d{1,2}[./-]\d{1,2}[./-]\d{4}.*"),
        "dates in several formats. Write all in one format, then use `date:`.",
    ),
    (re.compile(r"[+-]?[\d.,]+\s*%"), "percentages. Leave out the sign, then use `numeric:`."),
    (
        re.compile(r"[$€£]\s*[\d.,]+|[\d.,]+\s*(EUR|USD|€|\$|£)"),
        "amounts with a currency. Leave out the currency, then use `numeric:`.",
    ),
)
_CODE = (
    re.compile(r"[A-Za-z0-9._/-]*\d[A-Za-z0-9._/-]*"),
    "codes. If their list is public, use `prefix:` or `taxonomy: {csv: FILE}`.",
)
_FREE_TEXT = "names or free text. If the list of values is public, use `taxonomy: {csv: FILE}`."


def look_of(texts: Collection[str], *, only_warn: bool = False) -> str:
    """What texts look like, and what to do. With `only_warn`, empty for codes and free text."""
    filled = [text.strip() for text in texts if text.strip()]
    for shape, meaning in _LOOKS if only_warn else (*_LOOKS, _CODE):
        if filled and sum(shape.fullmatch(text) is not None for text in filled) >= 0.95 * len(filled):
            return meaning
    return "" if only_warn else _FREE_TEXT


def number_notation(texts: Sequence[str]) -> NumberNotation | None:
    """The first notation, other than the plain one, by which all texts are numbers."""
    for notation in NUMBER_NOTATIONS:
        if all(notation.number(ValueKind.TEXT, text) is not None for text in texts):
            return notation
    return None


@dataclass(frozen=True, kw_only=True)
class DateShape:
    """A format that reads all dates of a column, and their range."""

    format: str | None
    """None for ISO dates."""
    first: date
    last: date
    missing: str | None
    """A text whose date stands for a missing one."""
    ambiguous: bool

    @cached_property
    def step(self) -> DateStep:
        """Days up to three months, months up to ten years, else years."""
        days = (self.last - self.first).days
        return DateStep.DAY if days <= 92 else DateStep.MONTH if days <= 3653 else DateStep.YEAR

    @property
    def entry(self) -> dict[str, Any]:
        """The entry of the schema file: whole months for days, whole years otherwise."""
        daily = self.step is DateStep.DAY
        begin = self.first.replace(day=1) if daily else date(self.first.year, 1, 1)
        after_december = self.last.month == 12 or not daily
        end = date(self.last.year + 1, 1, 1) if after_december else date(self.last.year, self.last.month + 1, 1)
        written = {} if self.format is None else {"format": self.format}
        return {"from": begin.isoformat(), "to": end.isoformat(), "step": self.step.value, **written}


def date_shape(texts: Sequence[str]) -> DateShape | None:
    """The shape of texts that are all dates in one format; None where they are not."""
    fitting = [each for each in (None, *DATE_FORMATS) if _dates_by(each, texts) is not None]
    if not fitting:
        return None
    dates = _dates_by(fitting[0], texts) or {}
    last = [text for text, day in dates.items() if day.year == LAST_YEAR]
    known = [day for text, day in dates.items() if text not in last]
    if len(last) > 1 or not known:
        return None
    swapped = {"%d": "%m", "%m": "%d", "%-d": "%-m", "%-m": "%-d"}
    other = None if fitting[0] is None else re.sub(r"%-?[dm]", lambda found: swapped[found[0]], fitting[0])
    return DateShape(
        format=fitting[0],
        first=min(known),
        last=max(known),
        missing=last[0] if last else None,
        ambiguous=other in fitting,
    )


def _dates_by(form: str | None, texts: Sequence[str]) -> dict[str, date] | None:
    """The date of every text by a format; None if one is not such a date."""
    notation = _reader(form)
    dates = {}
    for text in texts:
        day = notation.date_of(text)
        if day is None:
            return None
        dates[text] = day
    return dates


@cache
def _reader(form: str | None) -> DateNotation:
    return DateNotation(first=date(1900, 1, 1), end=date(2100, 1, 1), step=DateStep.YEAR, format=form)


class BooleanTexts(NamedTuple):
    """Texts that mean false and true, without those that are read anyway."""

    false: list[str]
    true: list[str]


def boolean_texts(texts: Collection[str]) -> BooleanTexts | None:
    """Texts as booleans, if both truth values occur and nothing else."""
    for false, true in BOOLEANS:
        if {text.casefold() for text in texts} == {false, true}:
            listed = sorted(text for text in texts if text.lower() not in ("false", "true"))
            return BooleanTexts(
                false=[text for text in listed if text.casefold() == false],
                true=[text for text in listed if text.casefold() == true],
            )
    return None


class CodeShape(NamedTuple):
    """Codes that have the same kinds of characters in their first places."""

    levels: tuple[int, ...]
    pattern: str
    ignore: str


def code_shape(texts: Sequence[str]) -> CodeShape | None:
    """The shape of codes such as ICD-10 or postal codes: letters and digits, equal kinds in the first places."""
    ignore = "".join(sign for sign in SEPARATORS if any(sign in text for text in texts))
    plain = [text.translate(dict.fromkeys(map(ord, ignore))) for text in texts]
    if not all(text.isascii() and text.isalnum() for text in plain):
        return None
    if not all(any(sign.isdigit() for sign in text) for text in plain):
        return None
    kinds = [_kind({text[place] for text in plain}) for place in range(min(map(len, plain)))]
    length = kinds.index(None) if None in kinds else len(kinds)
    chosen = [kind for kind in kinds[: min(length, LONGEST_PREFIX)] if kind is not None]
    while prod(kind.size for kind in chosen) > MOST_CODES:
        chosen.pop()
    if length < LONGEST_PREFIX or len(chosen) < 2:
        return None
    digits = all(kind.pattern == "[0-9]" for kind in chosen)
    levels = tuple(range(1, len(chosen) + 1)) if digits else (1, len(chosen))
    return CodeShape(levels=levels, pattern="".join(kind.pattern for kind in chosen), ignore=ignore)


class _Kind(NamedTuple):
    pattern: str
    size: int


def _kind(signs: set[str]) -> _Kind | None:
    """The kind of the characters in one place: digits, or letters of the cases that occur."""
    if all(sign.isdigit() for sign in signs):
        return _Kind("[0-9]", 10)
    if not all(sign.isalpha() for sign in signs):
        return None
    upper, lower = any(sign.isupper() for sign in signs), any(sign.islower() for sign in signs)
    return _Kind("[A-Za-z]", 52) if upper and lower else _Kind("[A-Z]", 26) if upper else _Kind("[a-z]", 26)
