"""What to look at in a schema, given which values of a private table do not fit it.

The sentences are computed from private rows: they are for the data owner only.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.model.values import Flaw, text_of

NOTICEABLE = 0.01
"""Advice on missing values and on values outside the range is given from this share of the rows on."""
SENTINELS = re.compile(r"-?(9{2,}|8{3,})(\.0+)?|-1(\.0+)?")
"""Numbers that often stand for a missing value."""
SIGNS = (
    (re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"), "a thousands separator: write 1234.5 for 1,234.5"),
    (re.compile(r"[+-]?\d{1,3}(\.\d{3})*,\d+|[+-]?\d+,\d+"), "a decimal comma: write 1234.5 for 1.234,5"),
    (re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}"), "a date: write a number, such as the year"),
    (re.compile(r"[+-]?[\d.,]+\s*%"), "a percentage: leave out the sign"),
    (re.compile(r"\W*[$€£]\s*[\d.,]+|[\d.,]+\s*(EUR|USD|€|\$|£)"), "an amount with a currency: leave out the currency"),
)


@dataclass(frozen=True, kw_only=True)
class FlawedValue:
    """A raw value that does not fit its attribute, and in how many rows it occurs."""

    text: str
    flaw: Flaw
    times: int


@dataclass(frozen=True, kw_only=True)
class AttributeRows:
    """How many values of one attribute do not fit, by what is wrong with them. Private: computed without noise."""

    name: str
    rows: int
    missing: int
    unknown: int
    unreadable: int
    outside: int
    dropped: int
    """The rows that this attribute alone would drop."""
    clamped: int
    """Values that do not fit and get the code of another value. Missing values with a code of their own fit."""
    commonest: tuple[FlawedValue, ...]
    exact: bool
    """False: there were too many different values to count each; then the commonest occur at least so often."""

    @property
    def off_domain(self) -> int:
        return self.unknown + self.unreadable + self.outside

    def to_json(self) -> dict[str, Any]:
        return {
            "missing": self.missing,
            "unknown": self.unknown,
            "unreadable": self.unreadable,
            "outside": self.outside,
            "dropped": self.dropped,
            "clamped": self.clamped,
            "commonest": [
                {"value": each.text, "flaw": each.flaw.value, "times": each.times} for each in self.commonest
            ],
            "commonest_exact": self.exact,
        }


def advice_of(attribute: Attribute, found: AttributeRows) -> Iterator[str]:
    """What to look at in the schema of one attribute, as sentences."""
    name = attribute.name
    if found.missing and attribute.missing is None and found.missing >= NOTICEABLE * found.rows:
        share = 100 * found.missing / found.rows
        yield f"{name}: {share:.0f} % missing, and the schema has no `missing:`: {_fate(attribute)}. Add `missing:`."
    for value in found.commonest:
        sentence = _category(attribute, value) if isinstance(attribute.domain, Tree) else _number(attribute, value)
        if sentence:
            yield f"{name}: {value.text!r} {sentence}"
    if found.outside >= max(NOTICEABLE * found.rows, 1) and isinstance(attribute.domain, Grid):
        low, high = attribute.domain.edges[0], attribute.domain.edges[-1]
        fate = "they are dropped" if attribute.outside is Outside.DROP else "they count in the first or last cell"
        yield f"{name}: {found.outside:,} numbers lie outside [{low}, {high}): {fate}. Widen the range, or accept this."


def _category(attribute: Attribute, value: FlawedValue) -> str:
    assert isinstance(attribute.domain, Tree)
    tree, text = attribute.domain, value.text
    labels = list(tree.codes)
    folded = {label.strip().casefold(): label for label in labels}
    like = folded.get(text.strip().casefold()) or next(iter(difflib.get_close_matches(text, labels, n=1)), None)
    times = f"is off the domain {_times(value.times)}"
    if any(node.label == text for node in (tree.origin or tree).root.walk()):
        return f"{times}: it is a branch of the taxonomy, not a leaf. Add a leaf for it below that branch."
    if like is not None:
        return f"{times}: the schema has {like!r}. Spell both alike, or {_accept(attribute)}."
    return f"{times}: add it to the schema, or {_accept(attribute)}."


def _number(attribute: Attribute, value: FlawedValue) -> str:
    if value.flaw is Flaw.OUTSIDE:
        if SENTINELS.fullmatch(value.text) and value.times > 1:
            return (
                f"occurs {_times(value.times)} outside the range: if it means missing, write `missing: {value.text}`."
            )
        return ""
    looks = next((meaning for sign, meaning in SIGNS if sign.fullmatch(value.text.strip())), None)
    if looks is not None:
        return f"is not read as a number ({_times(value.times)}). It looks like {looks}."
    if attribute.missing is None:
        return (
            f"is not a number ({_times(value.times)}): {_fate(attribute)}. If it means missing, add it as `missing:`."
        )
    return f"is not a number ({_times(value.times)}): {_fate(attribute)}."


def _fate(attribute: Attribute) -> str:
    """What happens to a value that cannot be read."""
    if attribute.outside is Outside.DROP:
        return "these rows are dropped"
    if attribute.missing_code is not None:
        return f"they are all coded as missing ({attribute.missing!r})"
    if isinstance(attribute.domain, Grid):
        return f"they are all coded as the lowest value, {text_of(attribute.domain, 0)}"
    return f"they are all coded as {attribute.domain.labels[0]!r}"


def _accept(attribute: Attribute) -> str:
    if attribute.outside is Outside.DROP:
        return "accept the loss of these rows"
    code = attribute.missing_code or 0
    return f"accept that it is coded as {attribute.domain.labels[code]!r}"


def _times(times: int) -> str:
    return "once" if times == 1 else f"{times:,} times"
