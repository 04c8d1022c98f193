"""Files of Stata (.dta) and SPSS (.sav, .zsav), written by pyreadstat (the extra `statistics`).

Labels become the codes 1, 2, ... in the order of the published schema, with value labels. The label of missing values
is declared as missing: `.a` in Stata, a missing value of the variable in SPSS; it keeps its value label. Missing
numbers are the system's missing values. A column whose labels are too many, too long or empty is written as text.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.errors import InputError
from scumble.files.exports.tables import ExportTable, plain_text
from scumble.files.kinds.kind import MOST_LISTED
from scumble.installation import needing
from scumble.model.generalized import range_of_label
from scumble.model.grid import Grid
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute

LONGEST_NAME = 32
"""Bytes of a variable's name: Stata allows 32 characters, SPSS 64 bytes."""
LONGEST_VARIABLE_LABEL = 80
LONGEST_LABELS = {"stata": 32_000, "spss": 120}
"""Bytes of a value label."""
LONGEST_TEXT = {"stata": 2045, "spss": 32_767}
"""Bytes of a text."""
LONGEST_FILE_LABEL = 64
STATA_MISSING = "a"
STATA_WORDS = (
    "_all|_b|_coef|_cons|_n|_pi|_pred|_rc|_se|_skip|byte|double|float|if|in|int|long|str[0-9]+|strl|using|with"
)
SPSS_WORDS = "all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with"
RESERVED = re.compile(f"{STATA_WORDS}|{SPSS_WORDS}", re.IGNORECASE)
"""Words that Stata or SPSS keep for themselves."""


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A column as a statistics program wants it: codes with labels, numbers, or text."""

    values: np.ndarray[tuple[int, ...], np.dtype[Any]]
    labels: Mapping[int, str]
    """The label of each code; empty for numbers and text."""
    missing: int | None
    """The code of missing values."""
    measure: str
    """`nominal`, `ordinal` or `scale`."""


def check_installed() -> None:
    """Raise `InputError`, with the line that installs them, if pyreadstat or pandas is missing."""
    with needing("statistics"):
        import pandas
        import pyreadstat  # noqa: F401

        assert pandas


def write_stata(table: ExportTable, path: Path, facts: Mapping[str, str]) -> Mapping[str, str]:
    """Write a file of Stata 14 and later."""
    import pandas
    import pyreadstat

    names, variables = _variables(table, "stata")
    coded = {name: each for name, each in variables.items() if each.missing is not None}
    columns = {name: each.values for name, each in variables.items()}
    for name, each in coded.items():
        codes = each.values.astype(object)
        codes[each.values == each.missing] = STATA_MISSING
        columns[name] = codes
    labels: dict[str, dict[Any, str]] = {
        name: {STATA_MISSING if code == each.missing else code: label for code, label in each.labels.items()}
        for name, each in variables.items()
        if each.labels
    }
    pyreadstat.write_dta(
        pandas.DataFrame(columns),
        str(path),
        file_label=_cut_bytes(facts["title"], LONGEST_FILE_LABEL),
        column_labels=_variable_labels(table, names),
        variable_value_labels=labels,
        missing_user_values={name: [STATA_MISSING] for name in coded},
    )
    return {old: new for old, new in names.items() if old != new}


def write_spss(table: ExportTable, path: Path, facts: Mapping[str, str]) -> Mapping[str, str]:
    """Write a file of SPSS; it is compressed if it ends with .zsav."""
    import pandas
    import pyreadstat

    names, variables = _variables(table, "spss")
    labels: dict[str, dict[Any, str]] = {name: {**each.labels} for name, each in variables.items() if each.labels}
    missing: dict[str, list[Any]] = {
        name: [each.missing] for name, each in variables.items() if each.missing is not None
    }
    pyreadstat.write_sav(
        pandas.DataFrame({name: each.values for name, each in variables.items()}),
        str(path),
        file_label=_cut_bytes(facts["title"], LONGEST_FILE_LABEL),
        column_labels=_variable_labels(table, names),
        compress=path.suffix.lower() == ".zsav",
        note=[line for name, text in facts.items() for line in _note_lines(f"{name}: {text}")],
        variable_value_labels=labels,
        missing_ranges=missing,
        variable_measure={name: each.measure for name, each in variables.items()},
    )
    return {old: new for old, new in names.items() if old != new}


def _variables(table: ExportTable, program: str) -> tuple[dict[str, str], dict[str, Variable]]:
    """The name of every column in such a file, and the columns by these names."""
    rows = plain_text(pa.concat_tables(table.blocks))
    names = variable_names(rows.column_names)
    return names, {
        new: _variable(rows.column(old).combine_chunks(), table.attributes.get(old), program, old)
        for old, new in names.items()
    }


def _variable(column: pa.Array, attribute: Attribute | None, program: str, name: str) -> Variable:
    if not pa.types.is_string(column.type):
        numbers = column.cast(pa.float64()) if column.null_count else column
        return Variable(values=numbers.to_numpy(zero_copy_only=False), labels={}, missing=None, measure="scale")
    assert attribute is not None  # only attributes have labels
    on_a_line = isinstance(attribute.domain, Grid | Ordered) or attribute.on_a_line
    measure = "ordinal" if on_a_line else "nominal"
    labels = _labels_in_order(column, attribute)
    if labels is None or not all(0 < len(label.encode()) <= LONGEST_LABELS[program] for label in labels):
        longest = max((len(text.encode()) for text in pc.unique(column).to_pylist()), default=0)
        if longest > LONGEST_TEXT[program]:
            raise InputError(
                f"{name!r} has a text of {longest:,} bytes, more than the format allows. Export to Parquet or CSV."
            )
        return Variable(values=column.to_numpy(zero_copy_only=False), labels={}, missing=None, measure=measure)
    codes = pc.index_in(column, pa.array(labels, pa.string())).to_numpy(zero_copy_only=False).astype(np.int32) + 1
    of_label = dict(enumerate(labels, start=1))
    missing = next((code for code, label in of_label.items() if label == attribute.missing), None)
    return Variable(values=codes, labels=of_label, missing=missing, measure=measure)


def _labels_in_order(column: pa.Array, attribute: Attribute) -> Sequence[str] | None:
    """The labels of a column in the order of the schema: all, or those that occur; None if they are too many."""
    found = pc.unique(column).to_pylist()
    domain = attribute.domain
    if domain.size <= MOST_LISTED and set(found) <= set(domain.labels):
        return domain.labels
    if len(found) > MOST_LISTED:
        return None
    # Values that were generalized line by line: by their first code, the wider one first.
    ranges = {label: range_of_label(domain, label) for label in found}
    return sorted(found, key=lambda label: (ranges[label][0], -ranges[label][1]))


def variable_names(columns: Sequence[str]) -> dict[str, str]:
    """A name for every column that Stata and SPSS accept: letters, digits and underscores, not case-sensitive.

    >>> list(variable_names(["age", "earlier-stays", "Earlier stays", "2nd", "if"]).values())
    ['age', 'earlier_stays', 'Earlier_stays_2', 'v2nd', 'if_']
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for column in columns:
        name = re.sub(r"\W", "_", column)
        name = name if name[:1].isalpha() else f"v{name}"
        name = f"{name}_" if RESERVED.fullmatch(name) else name
        name = _cut_bytes(name, LONGEST_NAME)
        number, chosen = 1, name
        while chosen.lower() in taken:
            number += 1
            chosen = f"{_cut_bytes(name, LONGEST_NAME - len(f'_{number}'))}_{number}"
        taken.add(chosen.lower())
        names[column] = chosen
    return names


def _variable_labels(table: ExportTable, names: Mapping[str, str]) -> dict[str, str | None]:
    """The attribute's name as it was published; what the other columns mean."""
    texts = {old: old if old in table.attributes else table.meanings[old] for old in names}
    return {new: texts[old][:LONGEST_VARIABLE_LABEL] for old, new in names.items()}


def _note_lines(text: str) -> list[str]:
    """A text in lines of at most 80 bytes, as SPSS wants its notes."""
    return wrap(text, 80 if text.isascii() else 20)


def _cut_bytes(text: str, most: int) -> str:
    """The beginning of a text, of at most so many bytes in UTF-8."""
    return text.encode()[:most].decode(errors="ignore")
