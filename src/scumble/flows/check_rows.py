"""`check_rows`: how the rows of a table fit its schema, for the data owner only.

It reads the rows before anything is spent and charges nothing. Its result is computed without noise and is not covered
by any guarantee. What is wrong with a value is decided by `scumble.model.values.read_value`; which rows remain is
decided by the coders of `scumble.engines.coding`, which every release uses.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.arrow_values import distinct_values, python_values, shown_text
from scumble.engines.coding import coder
from scumble.engines.number_columns import read_numbers
from scumble.flows.column_guesses import LARGEST
from scumble.flows.person_rows import PersonRows, PersonTally
from scumble.flows.plan import schema_of
from scumble.flows.row_advice import SENTINELS, AttributeRows, FlawedValue, advice_of
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import Attribute, Schema
from scumble.model.values import Flaw, number_of, read_value
from scumble.sources import Dialect, check_columns, check_dialect, malformed_records, open_source

PRIVATE = (
    "For the data owner only: these figures are computed from the rows without noise and are not covered by any "
    "guarantee. Do not publish them. Nothing was charged."
)
MOST_DISTINCT = 5_000
"""So many different flawed values of an attribute are counted one by one."""
LONGEST_VALUE = 200
"""Values are shown up to this number of characters."""
SHOWN = 5
"""The commonest flawed values that are reported for an attribute."""
MALFORMED_TEXT = shown_text(b"\xff")
"""How the values of malformed records are shown: each is the byte 0xFF."""
PROPOSED = 100
"""So many flawed values of an attribute are kept for a proposed schema."""


@dataclass(frozen=True, kw_only=True)
class RowsCheck:
    """How the rows of a table fit its schema. Private: computed without noise."""

    rows: int
    kept: int
    """The rows that a release would use. The others are dropped."""
    malformed: int
    """Malformed records of CSV files: all their values are off the domain."""
    unused_columns: tuple[str, ...]
    """Columns of the table that the schema does not name. They are never read."""
    attributes: tuple[AttributeRows, ...]
    persons: PersonRows | None
    """The rows of persons, if the schema names any. A bound on them leaves out rows beyond those dropped above."""
    advice: tuple[str, ...]
    """What to look at in the schema, as sentences, attribute by attribute."""

    @property
    def dropped(self) -> int:
        """The number of rows that a release would not use."""
        return self.rows - self.kept

    def to_json(self) -> dict[str, Any]:
        """The result as plain data, as `scumble schema check --json` prints it."""
        return {
            "private": PRIVATE,
            "rows": self.rows,
            "kept": self.kept,
            "dropped": self.dropped,
            "malformed": self.malformed,
            "unused_columns": list(self.unused_columns),
            "attributes": {attribute.name: attribute.to_json() for attribute in self.attributes},
            **({} if self.persons is None else {"persons": self.persons.to_json()}),
            "advice": list(self.advice),
        }


def check_rows(
    schema: Schema | str | Path,
    data: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
) -> RowsCheck:
    """Read a table and report which of its values do not fit the schema. For the data owner only.

    `data` is anything that `release` reads. No ledger is opened and nothing is charged: do not publish the result.
    """
    public = schema_of(schema)
    dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
    source = open_source(data, dialect=dialect)
    check_dialect(dialect, source)
    check_columns(source, public.columns_read)
    tallies = [_Tally(attribute) for attribute in public.attributes]
    people = None if public.persons is None else PersonTally(public.persons)
    rows = kept = 0
    for batch in source.batches(public.columns_read):
        masks = [tally.add(batch.column(tally.attribute.source_column)) for tally in tallies]
        rows += len(batch)
        kept += int(np.logical_and.reduce(masks).sum())
        if people is not None:
            people.add(batch)
    persons = None if people is None else people.result()
    malformed = malformed_records(source)
    found = tuple(tally.result(rows, malformed) for tally in tallies)
    named = {*public.columns_read, *public.identifiers}
    return RowsCheck(
        rows=rows,
        kept=kept,
        malformed=malformed,
        unused_columns=tuple(name for name in source.columns() if name not in named),
        attributes=found,
        persons=persons,
        advice=(
            *_row_advice(public, rows, kept),
            *_line_advice(malformed, multiline=multiline),
            *(() if persons is None else persons.advice),
            *(line for tally, each in zip(tallies, found, strict=True) for line in advice_of(tally.attribute, each)),
        ),
    )


def _row_advice(schema: Schema, rows: int, kept: int) -> Iterator[str]:
    if schema.unit is Unit.REPLACE and schema.rows != rows:
        yield f"The schema says `rows: {schema.rows}`, and the table has {rows:,}: a release is refused."
    if schema.rows_at_most is not None and kept > schema.rows_at_most:
        yield f"The schema says `rows_at_most: {schema.rows_at_most}`, and {kept:,} rows remain: raise the bound."
    if rows and kept < rows:
        yield f"{rows - kept:,} of {rows:,} rows ({100 * (rows - kept) / rows:.1f} %) would be dropped."


def _line_advice(malformed: int, *, multiline: bool) -> Iterator[str]:
    if malformed:
        yield (
            f"{malformed:,} records of the CSV file are malformed: a quote is not closed, the number of fields differs "
            "from the header's, or they are longer than 1 MiB. All their values are off the domain. "
            + ("Look for them in the file." if multiline else "If values contain line breaks, pass --multiline.")
        )


class _Tally:
    """Counts the flawed values of one attribute, in bounded memory."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self._code = coder(attribute)
        self._flaws: Counter[Flaw] = Counter()
        self._values: Counter[tuple[Flaw, str, bool, bool]] = Counter()
        self._lowest, self._highest = math.inf, -math.inf
        self._dropped = self._clamped = 0
        self._pruned = False

    def add(self, column: pa.Array) -> npt.NDArray[np.bool_]:
        """Count a column and return which of its rows are kept."""
        coded = self._code(column)
        kept = np.ones(len(column), dtype=np.bool_) if coded.kept is None else coded.kept
        self._dropped += int((~kept).sum())
        for value, times in _suspects(self.attribute, column):
            reading = read_value(self.attribute, value)
            flaw = reading.flaw
            if flaw is not None:
                coded_as_missing = flaw is Flaw.MISSING and self.attribute.missing_code is not None
                self._clamped += 0 if reading.code is None or coded_as_missing else times
                self._flaws[flaw] += times
                self._add_value(flaw, value, times)
        if len(self._values) > 2 * MOST_DISTINCT:
            self._values = Counter(dict(self._values.most_common(MOST_DISTINCT)))
            self._pruned = True
        return kept

    def _add_value(self, flaw: Flaw, value: object, times: int) -> None:
        text, kind = shown_text(value), canonical(value)[0]
        nameable = kind is not ValueKind.OFF and len(text) <= LONGEST_VALUE
        undecoded = kind is ValueKind.OFF and isinstance(value, bytes)
        self._values[flaw, text[:LONGEST_VALUE], nameable, undecoded] += times
        if flaw is Flaw.OUTSIDE and not SENTINELS.fullmatch(text):
            number = number_of(value, self.attribute.numbers)
            if number is not None and abs(number) < LARGEST:
                self._lowest, self._highest = min(self._lowest, number), max(self._highest, number)

    def result(self, rows: int, malformed: int) -> AttributeRows:
        for key in [key for key in self._values if key[1] == MALFORMED_TEXT and key[3]]:
            self._values[key] -= malformed
        self._values = +self._values
        common = [
            FlawedValue(text=text, flaw=flaw, times=times, nameable=nameable, undecoded=undecoded)
            for (flaw, text, nameable, undecoded), times in self._values.most_common()
            if flaw is not Flaw.MISSING
        ]
        return AttributeRows(
            name=self.attribute.name,
            rows=rows,
            missing=self._flaws[Flaw.MISSING],
            unknown=self._flaws[Flaw.UNKNOWN],
            unreadable=self._flaws[Flaw.UNREADABLE],
            outside=self._flaws[Flaw.OUTSIDE],
            malformed=malformed,
            dropped=self._dropped,
            clamped=self._clamped,
            commonest=tuple(common[:SHOWN]),
            exact=not self._pruned,
            further=tuple(common[SHOWN:PROPOSED]),
            lowest=self._lowest if math.isfinite(self._lowest) else None,
            highest=self._highest if math.isfinite(self._highest) else None,
        )


def _suspects(attribute: Attribute, column: pa.Array) -> Iterator[tuple[object, int]]:
    """The different values of a column with their frequencies, without numbers that lie inside the range."""
    values, places = distinct_values(column)
    times = np.bincount(places, minlength=len(values) + 1)
    wanted = times[:-1] > 0
    if isinstance(attribute.domain, Grid):
        edges, numbers = attribute.domain.edge_floats, read_numbers(values, attribute.missing, attribute.numbers)
        wanted &= ~((numbers >= edges[0]) & (numbers < edges[-1]))
    chosen = np.flatnonzero(wanted)
    yield from zip(python_values(values.take(pa.array(chosen))), times[chosen].tolist(), strict=True)
    if times[-1]:
        yield None, int(times[-1])
