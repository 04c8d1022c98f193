"""The notation that unread values seem to be written in: another format of dates, other texts for booleans.

A hint is derived from private rows. It is for the data owner only.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scumble.files.schema_kinds import booleans_data
from scumble.flows.text_shapes import BOOLEANS, boolean_texts, date_shape
from scumble.model.dates import DateNotation
from scumble.model.notation import BooleanNotation, Notation


class NotationHint(NamedTuple):
    """A notation that reads values which the schema's own does not read."""

    notation: Notation
    entry: str
    """The entry of the schema file that declares it."""
    doubt: str = ""
    """A sentence on what else the values could mean, if there is any doubt."""


def notation_hint(notation: Notation | None, texts: Sequence[str]) -> NotationHint | None:
    """A notation of the same kind that reads those of the unread texts that are dates or booleans.

    >>> notation_hint(BooleanNotation(), ["ja", "nein", "weiblich"]).entry
    'boolean: {"false": ["nein"], "true": ["ja"]}'
    """
    if isinstance(notation, DateNotation) and notation.format is None:
        return _dates(notation, texts)
    return _booleans(notation, texts) if isinstance(notation, BooleanNotation) else None


def _dates(notation: DateNotation, texts: Sequence[str]) -> NotationHint | None:
    shape = date_shape([text for text in texts if date_shape([text]) is not None])
    if shape is None or shape.format is None:
        return None
    doubt = "Day and month could also be the other way round." if shape.ambiguous else ""
    return NotationHint(replace(notation, format=shape.format), f'format: "{shape.format}"', doubt)


def _booleans(notation: BooleanNotation, texts: Sequence[str]) -> NotationHint | None:
    for pair in BOOLEANS:
        found = boolean_texts([text for text in texts if text.casefold() in pair])
        if found is not None:
            wider = BooleanNotation(false=(*notation.false, *found.false), true=(*notation.true, *found.true))
            return NotationHint(wider, f"boolean: {json.dumps(booleans_data(wider), ensure_ascii=False)}")
    return None
