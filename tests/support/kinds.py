"""Hypothesis strategies of attributes with a notation, and of the raw values that each kind of attribute may meet."""

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from scumble.model.dates import DateNotation, DateStep
from scumble.model.notation import BooleanNotation, IntervalNotation, Notation, NumberNotation
from scumble.model.ordered import Ordered
from scumble.model.prefixes import PrefixNotation
from scumble.model.taxonomy import Nested, Tree

NAMES = ("none", "mild", "moderate", "severe", "very severe", "0", "1", "true", "a,b", "größer")
TRUTHS = ("yes", "no", "0", "1", "j", "N", "", "wahr", "-1", "1.5")
DOMAINS_MISSING = ("?", "NA", "-999", "", " ? ")
STYLES = (
    NumberNotation(decimal=","),
    NumberNotation(decimal=",", thousands="."),
    NumberNotation(thousands=","),
    NumberNotation(decimal=",", thousands=" "),
    NumberNotation(thousands="'"),
    NumberNotation(thousands="\u202f"),
)
STYLED = (
    *(
        "31.288,61",
        "31,288.61",
        "31 288,61",
        "31'288.61",
        "31\u202f288.6",
        "1,5",
        "1.5",
        "1.000",
        "1,000",
        "1.00",
        "1.",
    ),
    *(
        "1,",
        ",5",
        ".5",
        "-1.234.567,8",
        "1.234.56",
        "12.3456",
        "1,000.5e1",
        "1.,5",
        "+1'000",
        "0,1,2",
        "-999",
        "-999,0",
    ),
    *(" 5 ", "7", "-999,0", "1.00", "inf", "1e400", "", " ", "x", "1..000", "1 000", "1\u00a0000"),
)

Described = tuple[Tree, Notation | None, str | None]
"""A domain, the notation of its raw values, and the label of missing values."""


def _with_missing(tree: Tree, notation: Notation, missing: str | None) -> Described:
    return tree if missing is None else tree.with_leaf(missing), notation, missing


@st.composite
def booleans(draw: st.DrawFn) -> Described:
    """Booleans with and without further texts."""
    texts = draw(st.lists(st.sampled_from(TRUTHS), unique=True, max_size=6))
    place = draw(st.integers(0, len(texts)))
    notation = BooleanNotation(false=tuple(texts[:place]), true=tuple(texts[place:]))
    return _with_missing(notation.tree, notation, draw(st.none() | st.sampled_from(["?", "", "NA"])))


@st.composite
def ordered(draw: st.DrawFn) -> Described:
    """Ordered categories, with missing values among the names or after them."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=6))
    missing = draw(st.none() | st.sampled_from([*names, "?", "", "NA"]))
    return Ordered.of(names, missing=missing), None, missing


@st.composite
def intervals(draw: st.DrawFn) -> Described:
    """Nested intervals over a few decimal edges, at several depths."""
    numbers = st.integers(-400, 400).map(lambda digits: Decimal(digits).scaleb(-1))
    edges = draw(st.lists(numbers, unique=True, min_size=2, max_size=8).map(sorted))

    def nested(low: int, high: int) -> Nested | None:
        if high - low < 2 or draw(st.integers(0, 3)) == 0:
            return None
        inner = draw(st.sets(st.integers(low + 1, high - 1), min_size=1))
        bounds = [low, *sorted(inner), high]
        return {label(*ends): nested(*ends) for ends in pairwise(bounds)}

    def label(low: int, high: int) -> str:
        return f"[{edges[low]},{edges[high]})"

    last = len(edges) - 1
    whole = {label(0, last): nested(0, last)}
    missing = draw(st.none() | st.sampled_from(DOMAINS_MISSING))
    if whole[label(0, last)] is None:
        missing = None  # a root that is a leaf has no place for another leaf
    notation, tree = IntervalNotation.nested(whole, draw(st.sampled_from([NumberNotation(), *STYLES])))
    return _with_missing(tree, notation, missing)


FORMATS = {
    DateStep.YEAR: (None, "%Y", "%d.%m.%Y"),
    DateStep.QUARTER: (None, "%m/%Y", "%d.%m.%Y"),
    DateStep.MONTH: (None, "%Y%m%d", "%-d.%-m.%Y"),
    DateStep.DAY: (None, "%d.%m.%Y %H:%M", "%Y/%m/%d"),
}
MOMENTS = (
    *("2023-12-31", "2024-01-01", "2024-02-29", "2023-02-29", "2024-01-31T09:30:00.5", "2024-01-31 23:59"),
    *("2024-01-31T23:30:00-05:00", "2024-1-31", "31.01.2024", "31.1.2024", "31.02.2024", "20240131", "2024"),
    *("2024-Q1", "01/2024", "2024/01/31", "31.01.2024 09:30", "9999-12-31", "0001-01-01", " 2024-05-06 ", "2024-01"),
    *("2024-13-01", "2024-00-10", "2024-01-32", "99999", "x", "", " ", "09:30:00", "1900-01-01", "2024-01-31T"),
    *("2024-01-31T25:61:61Z", "2024-01-31t00:00", "0000-01-01"),
)


@st.composite
def dates(draw: st.DrawFn) -> Described:
    """Short and long ranges of dates in every step."""
    step = draw(st.sampled_from(DateStep))
    years = draw(st.integers(1, 3 if step is DateStep.DAY else 30))
    first = date(draw(st.sampled_from([1, 1899, 1995, 2019, 2022, 2023])), draw(st.sampled_from([1, 4, 10])), 1)
    first = first.replace(month=1) if step is DateStep.YEAR else first
    notation = DateNotation(
        first=first,
        end=first.replace(year=first.year + years),
        step=step,
        format=draw(st.sampled_from(FORMATS[step])),
    )
    return _with_missing(notation.tree, notation, draw(st.none() | st.sampled_from(["?", "1900-01-01x", "9999-12-31"])))


@st.composite
def prefixes(draw: st.DrawFn) -> Described:
    """Codes of a list and of a pattern."""
    levels = draw(st.sampled_from([(1, 3), (3,), (1, 2, 3), (2,), (1,)]))
    ignore = draw(st.sampled_from(["", ".", ". "]))
    if draw(st.booleans()):
        pattern = draw(st.sampled_from(["[EI]1[0-9]", "[A-C][0-2]{2}", "0[1-3]x"]))
        notation = PrefixNotation(levels=levels, pattern=pattern, ignore=ignore)
    else:
        codes = draw(st.lists(st.sampled_from(CODES), unique=True, min_size=1, max_size=8))
        notation = PrefixNotation(levels=levels, codes=tuple(codes), ignore=ignore)
    return _with_missing(notation.tree, notation, draw(st.none() | st.sampled_from(["?", "", "NA"])))


CODES = ("E10", "E11", "E119", "I10", "I101", "101", "1067", "0106", "A1B", "Köln", "E 1x", "true")
KINDS = st.one_of(booleans(), ordered(), intervals(), dates(), prefixes())


def raw_texts(notation: Notation | None) -> st.SearchStrategy[str]:
    """Texts that a notation may meet in a table."""
    match notation:
        case BooleanNotation(false=false, true=true):
            return st.sampled_from([*false, *true, *TRUTHS, "TRUE", "False", "tRuE", " true"])
        case IntervalNotation(edges=edges):
            near = st.sampled_from(edges).map(str) | st.decimals(-50, 50, places=2).map(str)
            return st.one_of(near, near.map(lambda text: text.replace(".", ",")), st.sampled_from(STYLED))
        case NumberNotation():
            return st.sampled_from(STYLED)
        case DateNotation(first=first, end=end):
            days = st.dates(first, end)
            return st.sampled_from(MOMENTS) | days.map(str) | days.map(lambda day: f"{day:%d.%m.%Y}")
        case PrefixNotation():
            return st.sampled_from([*CODES, "E11.9", "E 11", "E.1.1", "E", "e11", "010", "01x9", "B22", ""])
    return st.sampled_from(NAMES)


def raw_numbers(notation: Notation | None) -> st.SearchStrategy[Any]:
    """Typed numbers that a notation may meet in a table."""
    if isinstance(notation, IntervalNotation):
        edges = [float(edge) for edge in notation.edges]
        return st.sampled_from([*edges, -999.0, float("inf"), float("nan"), 0.5]) | st.floats(-50, 50)
    if isinstance(notation, DateNotation):
        days = st.dates(notation.first, notation.end) | st.dates()
        moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.none() | st.just(UTC))
        return days | moments | st.sampled_from([2024, 20240131, 2024.0, 202401])
    return st.sampled_from([0.0, 1.0, -1.0, 1.5, 2.0])
