"""Drafts a schema for a table, to be edited by someone who knows what is public.

The draft depends on private rows. Therefore every domain in it is marked `unconfirmed`, and `release` refuses the
schema until each is confirmed. Every guess, and every column that is left out, has a comment that says why.
"""

from collections import Counter
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.engines.arrow_values import distinct_values, python_values, without_wrapping
from scumble.errors import InputError
from scumble.files.schema_attribute import AttributePart, attribute_from
from scumble.files.schema_draft import Draft
from scumble.flows.column_guesses import ColumnTexts, Guess, guess_classes, guess_numbers, guess_texts
from scumble.flows.id_columns import as_ids, names_ids
from scumble.flows.schema_roles import ColumnRoles, with_roles
from scumble.model.guarantee import Unit
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import PUBLISHED_COLUMNS, Attribute, Schema
from scumble.sources import Source, check_columns

NESTED = "Left out: lists or records, not single values. Split them into several columns."
NEVER_PUBLISHED = "Never published, as was stated for the draft."


def draft_of(source: Source, target: str | None = None, *, roles: ColumnRoles | None = None) -> Draft:
    """A draft for anything that `release` reads. Columns of lists and records are left out.

    Columns that `roles` says are never published are not read. Its class is `target`.
    """
    stated = ColumnRoles(target=target) if roles is None else roles
    names = source.columns()
    unknown = [name for name in stated.unpublished if name not in names]
    if unknown:
        raise InputError(f"The table has no column {unknown[0]!r}. Give a name from its header.")
    kinds = source.kinds()
    nested = [] if kinds is None else [name for name in names if pa.types.is_nested(kinds.field(name).type)]
    unpublished = dict.fromkeys(stated.unpublished, NEVER_PUBLISHED)
    left_out = unpublished | dict.fromkeys(
        nested, "Left out: lists or records, not single values. Split them into several columns."
    )
    read = [name for name in names if name not in left_out]
    check_columns(source, read)
    batches = list(source.batches(read))
    table = pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in read})
    drafted = draft(table, stated.target)
    schema = drafted.schema
    identifiers = (*dict.fromkeys([*schema.identifiers, *nested, *stated.identifiers]),)
    schema = with_roles(schema, replace(stated, target=schema.target, identifiers=identifiers))
    return Draft(schema=schema, comments={**drafted.comments, **left_out})


def draft(table: pa.Table, target: str | None = None) -> Draft:
    """A schema whose domains cover the values of the table, with a comment on every column.

    Columns that look like names or keys become identifiers. A column with a name that every release adds is published
    under another name.
    """
    attributes: list[Attribute] = []
    comments: dict[str, str] = {}
    identifiers: list[str] = []
    columns = table.column_names  # a new list at each use
    names = {name: _free_name(name, columns) for name in columns}
    for column_name, column in zip(columns, table.columns, strict=True):
        guess = _guess(column, is_target=column_name == target)
        if column_name != target and names_ids(column_name):
            guess = as_ids(column_name, _texts(column), guess)
        attribute = None
        if guess.entry is not None:
            try:
                attribute = _attribute(names[column_name], column_name, guess.entry)
            except InputError as error:
                guess = Guess(None, f"Left out: no domain could be guessed ({_one_line(str(error))}).")
        if attribute is None:
            identifiers.append(column_name)
            comments[column_name] = guess.comment
            continue
        renamed = "" if attribute.column is None else f" Every release adds a column {column_name!r}, hence this name."
        attributes.append(attribute)
        comments[attribute.name] = guess.comment + renamed
    if not any(attribute.source_column != target for attribute in attributes):
        reasons = "; ".join(f"{name!r}: {comments[name]}" for name in identifiers)
        raise InputError(f"The draft has no attribute to publish. {reasons}")
    schema = Schema(
        attributes=tuple(attributes),
        target=None if target is None else names.get(target, target),
        identifiers=tuple(identifiers),
    )
    return Draft(schema=schema, comments=comments)


def draft_schema(table: pa.Table, target: str | None = None) -> Schema:
    """The schema of `draft`."""
    return draft(table, target).schema


def _attribute(name: str, column: str, entry: dict[str, Any]) -> Attribute:
    alias = {} if name == column else {"column": column}
    part = AttributePart.model_validate({**entry, **alias, "unconfirmed": True})
    return attribute_from(name, part, Unit.ADD_REMOVE, None)


def _free_name(name: str, taken: list[str]) -> str:
    """The name of an attribute: that of its column, unless every release adds such a column."""
    if name not in PUBLISHED_COLUMNS:
        return name
    return next(free for free in (f"{name}{'_' * signs}" for signs in count(1)) if free not in taken)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _guess(column: pa.ChunkedArray, *, is_target: bool) -> Guess:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not numeric or is_target:
        texts = _texts(column)
        if pa.types.is_boolean(kind) and not is_target and texts.texts:
            empty = {"missing": "?"} if texts.missing else {}
            return Guess({"boolean": True, **empty}, "Guess: declared as booleans.")
        return guess_classes(texts) if is_target else guess_texts(texts)
    if pa.types.is_dictionary(column.type):
        column = column.cast(kind)
    if pa.types.is_decimal(kind):
        column = column.cast(pa.string())  # to the nearest double, as engines read decimals
    known = column.drop_null()
    known = known.filter(pc.invert(pc.is_nan(known))) if pa.types.is_floating(kind) else known
    if not len(known):
        return Guess(None, "Left out: the column has no values.")
    numbers = known.cast(pa.float64(), safe=False).to_numpy()
    return guess_numbers(
        numbers,
        integers=pa.types.is_integer(kind),
        unique=len(pc.unique(known)) == len(known),
        missing=len(column) - len(known),
    )


def _texts(column: pa.ChunkedArray) -> ColumnTexts:
    """The different values of a column, by their canonical text."""
    found: Counter[str] = Counter()
    missing = off = 0
    for chunk in column.chunks:
        values, places = distinct_values(without_wrapping(chunk))
        times = np.bincount(places, minlength=len(values) + 1)
        missing += int(times[-1])
        for value, number in zip(python_values(values), times[:-1].tolist(), strict=True):
            kind, text = canonical(value)
            if not number:
                continue
            if kind is ValueKind.OFF:
                off += number
            elif text == "":
                missing += number
            else:
                found[text] += number
    return ColumnTexts(texts=found, missing=missing, off=off)
