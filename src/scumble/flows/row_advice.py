"""What to look at in a schema, given which values of a private table do not fit it.

The sentences are computed from private rows: they are for the data owner only.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from scumble.flows.notation_hints import NotationHint, notation_hint
from scumble.model.dates import DateNotation
from scumble.model.grid import Grid
from scumble.model.raw_value import ValueKind
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.model.values import Flaw, text_of

NOTICEABLE = 0.01
"""Advice on missing values and on values outside the range is given from this share of the rows on."""
SENTINELS = re.compile(r"-?(9{2,}|8{3,})(\.0+)?|-1(\.0+)?")
"""Numbers that often stand for a missing value."""
MISSING_TEXTS = frozenset({"NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-"})
"""Texts that often stand for a missing value."""
ONLY_NAMED = frozenset({"branch", "spelling", "encoding"})
"""Problems of single values: that the commonest values have one says nothing about the others."""
SIGNS = (
    (
        re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"),
        'a number with a thousands separator: add `numbers: {decimal: ".", thousands: ","}`',
    ),
    (
        re.compile(r"[+-]?\d{1,3}(\.\d{3})*,\d+|[+-]?\d+,\d+"),
        'a number with a decimal comma: add `numbers: {decimal: ",", thousands: "."}`',
    ),
    (re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}"), "a date: use `date:` instead of `numeric:`"),
    (re.compile(r"[+-]?[\d.,]+\s*%"), "a percentage: leave out the sign"),
    (re.compile(r"\W*[$€£]\s*[\d.,]+|[\d.,]+\s*(EUR|USD|€|\$|£)"), "an amount with a currency: leave out the currency"),
)


@dataclass(frozen=True, kw_only=True)
class FlawedValue:
    """A raw value that does not fit its attribute, and in how many rows it occurs."""

    text: str
    flaw: Flaw
    times: int
    nameable: bool = True
    """Whether the text is the value's canonical one, so that a schema can name it."""
    undecoded: bool = False
    """Whether the value is bytes that are not UTF-8. Its text then shows them escaped."""


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
    further: tuple[FlawedValue, ...] = ()
    """More flawed values, after the commonest. They are proposed, not shown."""
    lowest: float | None = None
    highest: float | None = None
    """The ends of the finite numbers outside the range, without those that often stand for a missing value."""
    malformed: int = 0
    """How many of the unknown or unreadable values are of malformed records. The commonest are without them."""

    @property
    def off_domain(self) -> int:
        return self.unknown + self.unreadable + self.outside

    @property
    def unread(self) -> int:
        """The unknown and unreadable values, without those of malformed records."""
        return self.unknown + self.unreadable - self.malformed

    @property
    def hint_texts(self) -> list[str]:
        """Unread texts that may be written in another notation."""
        values = (value for value in (*self.commonest, *self.further) if value.nameable)
        return [value.text for value in values if value.flaw is not Flaw.OUTSIDE and not means_missing(value)]

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


class _Remedy(NamedTuple):
    """What to do about a value. Values with the same `key` share one sentence."""

    key: str
    listed: str
    """The value, as it is listed among others."""
    one: str
    """The sentence about a single value, after its text. `{times}` is how often it occurs."""
    many: str
    """The sentence about several values, after their list."""


def advice_of(attribute: Attribute, found: AttributeRows) -> Iterator[str]:
    """What to look at in the schema of one attribute, as sentences: one for each kind of problem."""
    name = attribute.name
    if found.missing and attribute.missing is None and found.missing >= NOTICEABLE * found.rows:
        share = 100 * found.missing / found.rows
        yield f"{name}: {share:.0f} % missing, and the schema has no `missing:`: {_fate(attribute)}. Add `missing:`."
    groups: dict[str, list[tuple[FlawedValue, _Remedy]]] = {}
    hint = notation_hint(attribute.notation, found.hint_texts)
    for value in found.commonest:
        remedy = _common(value, hint)
        if remedy is None:
            remedy = _on_a_line(attribute, value) if attribute.on_a_line else _category(attribute, value)
        if remedy is not None:
            groups.setdefault(remedy.key, []).append((value, remedy))
    unread = [key for key, group in groups.items() if group[0][0].flaw is not Flaw.OUTSIDE]
    alike = len(unread) == 1 and unread[0] not in ONLY_NAMED
    for key, group in groups.items():
        yield f"{name}: {_sentence(group, found.unread if alike and key in unread else 0)}"
    named = sum(value.times for key in unread for value, _ in groups[key])
    if not alike and named < found.unread:
        yield f"{name}: {found.unread:,} values in all are not in the domain. Only the commonest are named here."
    if found.outside >= max(NOTICEABLE * found.rows, 1):
        fate = "they are dropped" if attribute.outside is Outside.DROP else "they count in the first or last cell"
        yield f"{name}: {found.outside:,} {_range_text(attribute)}: {fate}. Widen the range, or accept this."


def _range_text(attribute: Attribute) -> str:
    if isinstance(attribute.domain, Grid):
        return f"numbers lie outside [{attribute.domain.edges[0]}, {attribute.domain.edges[-1]})"
    return f"{attribute.kind}s lie outside {attribute.domain.finest.root.label}"


def _sentence(group: list[tuple[FlawedValue, _Remedy]], total: int) -> str:
    """One sentence about the values of a group, or about `total` values of which the group has only the commonest."""
    values, remedies = zip(*group, strict=True)
    named = sum(value.times for value in values)
    listed = ", ".join(remedy.listed for remedy in remedies)
    many = remedies[0].many
    if total > named:
        return f"{total:,} values {many.replace('({times})', '{times}').format(times=f'(for example {listed})')}"
    if len(group) == 1:
        return f"{values[0].text!r} {remedies[0].one.format(times=_times(named))}"
    return f"{listed} {many.format(times=_times(named))}"


def _common(value: FlawedValue, hint: NotationHint | None) -> _Remedy | None:
    """What to do about a value of any attribute: its bytes are not UTF-8, or it is in another notation."""
    if value.undecoded:
        advice = "not UTF-8 text ({times}). For a CSV file, pass --encoding latin-1 (or cp1252)."
        return _Remedy("encoding", repr(value.text), f"is {advice}", f"are {advice}")
    if hint is None or not value.nameable or hint.notation.place(ValueKind.TEXT, value.text) is None:
        return None
    entry = _literal(f"declare `{hint.entry}`. {hint.doubt}".rstrip())
    return _Remedy(
        "notation", repr(value.text), f"is not read ({{times}}): {entry}", f"are not read ({{times}}): {entry}"
    )


def similar_label(tree: Tree, text: str) -> str | None:
    """The leaf that a text may be a spelling of, if there is one."""
    labels = list(tree.codes)
    folded = {label.strip().casefold(): label for label in labels}
    return folded.get(text.strip().casefold()) or next(iter(difflib.get_close_matches(text, labels, n=1)), None)


def _category(attribute: Attribute, value: FlawedValue) -> _Remedy:
    assert isinstance(attribute.domain, Tree)
    tree, shown = attribute.domain, repr(value.text)
    if any(node.label == value.text for node in tree.finest.root.walk()):
        return _Remedy(
            "branch",
            shown,
            "is off the domain {times}: it is a branch of the taxonomy, not a leaf. Add a leaf below it.",
            "are off the domain {times}: they are branches of the taxonomy, not leaves. Add a leaf below each.",
        )
    accept, similar = _literal(_accept(attribute)), similar_label(tree, value.text)
    if similar is not None:
        return _Remedy(
            "spelling",
            f"{shown} (for {similar!r})",
            f"is off the domain {{times}}: the schema has {_literal(repr(similar))}. Spell both alike, or {accept}.",
            f"are off the domain {{times}}: the schema spells them differently. Spell both alike, or {accept}.",
        )
    return _Remedy(
        "unknown",
        shown,
        f"is off the domain {{times}}: add it to the schema, or {accept}.",
        f"are off the domain {{times}}: add them to the schema, or {accept}.",
    )


def means_missing(value: FlawedValue) -> bool:
    """Whether a value is one that often stands for a missing one: a text such as NA, or a repeated -999."""
    if value.flaw is Flaw.OUTSIDE:
        return SENTINELS.fullmatch(value.text) is not None and value.times > 1
    return value.text.strip() in MISSING_TEXTS


def _on_a_line(attribute: Attribute, value: FlawedValue) -> _Remedy | None:
    """What to do about a value of an attribute with numbers or dates."""
    shown = repr(value.text)
    if value.flaw is Flaw.OUTSIDE:
        if not means_missing(value):
            return None
        return _Remedy(
            "sentinel",
            shown,
            f"occurs {{times}} outside the range: if it means missing, write `missing: {value.text}`.",
            "occur {times} outside the range: if they mean missing, write one of them as `missing:`.",
        )
    looks = next((meaning for sign, meaning in SIGNS if sign.fullmatch(value.text.strip())), None)
    wanted = "date" if isinstance(attribute.notation, DateNotation) else "number"
    if looks is not None and wanted == "number":
        looks = _literal(looks)
        return _Remedy(
            looks,
            shown,
            f"is not read as a number ({{times}}). It looks like {looks}.",
            f"are not read as numbers ({{times}}). Each of these looks like {looks}.",
        )
    fate = _literal(_fate(attribute))
    advice = " If it means missing, add it as `missing:`." if attribute.missing is None else ""
    return _Remedy(
        "text",
        shown,
        f"is not a {wanted} ({{times}}): {fate}.{advice}",
        f"are not {wanted}s ({{times}}): {fate}.{advice.replace('it means', 'one of them means')}",
    )


def _literal(text: str) -> str:
    """A text as part of a format string."""
    return text.replace("{", "{{").replace("}", "}}")


def _fate(attribute: Attribute) -> str:
    """What happens to a value that cannot be read."""
    if attribute.outside is Outside.DROP:
        return "these rows are dropped"
    if attribute.missing_code is not None:
        return f"they are all coded as missing ({attribute.missing!r})"
    if attribute.on_a_line:
        return f"they are all coded as the lowest value, {text_of(attribute.domain, 0)}"
    return f"they are all coded as {attribute.domain.labels[0]!r}"


def _accept(attribute: Attribute) -> str:
    if attribute.outside is Outside.DROP:
        return "accept the loss of these rows"
    code = attribute.missing_code or 0
    return f"accept that such values are coded as {attribute.domain.labels[code]!r}"


def _times(times: int) -> str:
    return "once" if times == 1 else f"{times:,} times"
