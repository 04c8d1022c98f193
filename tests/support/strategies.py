"""Hypothesis strategies of all tests: trees, grids, schemas, tables, cuts and coded rows, including unusual ones."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from kinds import KINDS, STYLES, raw_texts

from scumble.model.cut import Cut, Specialization
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.schema import PUBLISHED_COLUMNS, Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

ODD_LABELS = (
    *("", " ", " padded ", "two words", "a,b", "a;b", 'say "so"', "it's", "tab\there", "two\nlines", "back\\slash"),
    *("010", "7", "12", "-1", "1.0", "1e3", "0x1F", "1_000", "nan", "inf", "null", "~", "yes", "no", "on", "true"),
    *("None", "[0,1)", "{a}", "*", "&a", "!tag", "# no comment", "key: value", "- item", "? ", "<=50K", ">50K", "%"),
    *("csv", "Any", "naïve", "Ωμέγα", "日本", "🎨", "\u2028", "\u00a0", "\ufeff", "\x85", "x" * 200),
)
NUMBERS_AS_TEXT = ("+5", "5.", ".5", "-.5e1", "1E2", " 3 ", "\t4", "1e400", "-1e400", "inf", "-Infinity", "00012")
NO_NUMBERS = ("abc", "nan", "1 2", "1,5", "0x10", "--1", "1_0", "٣", "e5", ".", "1e", "TRUE", "[0,1)")
MISSING_LABELS = ("?", "", "NA", "-999", "0", "n/a, unknown", " ? ")


# Strategies without parameters are created once: Hypothesis validates each one, which takes longer than a draw.
_LABELS = st.one_of(st.sampled_from(ODD_LABELS), st.text(st.characters(codec="utf-8"), max_size=6))
_COLUMN_NAMES = st.one_of(
    st.sampled_from(["age", "a b", "a,b", 'the "x"', "010", "yes", "null", "größe", "a.b", "csv", " ", "x;y"]),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), min_size=1, max_size=6),
).filter(lambda name: name not in PUBLISHED_COLUMNS)
_DECIMALS = st.builds(
    lambda digits, scale: Decimal(digits).scaleb(-scale), st.integers(-5000, 5000), st.integers(-1, 3)
)
_STEPS = st.builds(lambda digits, scale: Decimal(digits).scaleb(-scale), st.integers(1, 300), st.integers(-1, 3))
_EDGES = st.lists(_DECIMALS, unique=True, min_size=2, max_size=13).map(sorted).map(tuple)
_MISSING = st.none() | st.sampled_from(MISSING_LABELS)
_BOOLEANS = st.booleans()

Shape = tuple[Any, ...]
"""A tree without names: its children."""
_LEAF: st.SearchStrategy[Shape] = st.just(())
_SHAPES = st.recursive(_LEAF, lambda below: st.lists(below, min_size=1, max_size=4).map(tuple), max_leaves=8)


def labels() -> st.SearchStrategy[str]:
    """Names of values: any text that UTF-8 can encode."""
    return _LABELS


def column_names() -> st.SearchStrategy[str]:
    """Names of columns: any unused text of one line that does not start with a byte order mark."""
    return _COLUMN_NAMES


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Trees with leaves at different depths, chains of single children and unusual labels; sometimes only a root."""
    shape = draw(_SHAPES)
    names = iter(draw(st.lists(_LABELS, unique=True, min_size=_nodes(shape), max_size=_nodes(shape))))

    def name(node: Shape) -> tuple[str, Any]:
        label = next(names)
        return label, dict(name(child) for child in node) or None

    return Tree.nested(dict([name(shape)]))


def _nodes(shape: Shape) -> int:
    return 1 + sum(_nodes(child) for child in shape)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """Regular grids with decimal steps and irregular edges, with and without a code for missing values."""
    missing = draw(_MISSING)
    if draw(_BOOLEANS):
        return Grid(edges=draw(_EDGES), missing=missing)
    low, step = draw(_DECIMALS), draw(_STEPS)
    return Grid.regular(low=low, high=low + draw(st.integers(1, 12)) * step, step=step, missing=missing)


@st.composite
def attributes(draw: st.DrawFn, name: str, *, unit: Unit, classes: int | None = None) -> Attribute:
    """One attribute. With `classes`, a target with that many classes."""
    clamp_only = unit is Unit.REPLACE
    outside = Outside.CLAMP if clamp_only else draw(st.sampled_from(Outside))
    unconfirmed = draw(st.integers(0, 9)) == 0
    kind = draw(st.integers(0, 4)) if classes is None else 3
    if kind < 2:
        grid, notation = draw(grids()), draw(st.none() | st.sampled_from(STYLES)) if kind == 0 else None
        return Attribute(
            name=name,
            domain=grid,
            outside=outside,
            missing=grid.missing,
            unconfirmed=unconfirmed,
            notation=notation,
        )
    if kind == 2:
        tree, read_by, missing = draw(KINDS)
        return Attribute(
            name=name, domain=tree, outside=outside, missing=missing, unconfirmed=unconfirmed, notation=read_by
        )
    if classes is None:
        tree = draw(trees())
    else:
        tree = Tree.flat(draw(st.lists(_LABELS, unique=True, min_size=classes, max_size=classes)))
    missing = draw(st.none() | st.sampled_from(tree.labels))
    return Attribute(name=name, domain=tree, outside=outside, missing=missing, unconfirmed=unconfirmed)


@st.composite
def schemas(draw: st.DrawFn, *, most_predictors: int = 3, most_classes: int = 4) -> Schema:
    """Schemas of both units, with and without a target of one to `most_classes` classes at any position."""
    unit = draw(st.sampled_from(Unit))
    classes = draw(st.integers(0, most_classes))
    names = draw(st.lists(_COLUMN_NAMES, unique=True, min_size=1 + (classes > 0), max_size=most_predictors + 2))
    identifier = len(names) > most_predictors + (classes > 0)
    public = names[:-1] if identifier else names
    target = draw(st.sampled_from(public)) if classes else None
    return Schema(
        attributes=tuple(
            draw(attributes(name, unit=unit, classes=classes if name == target else None)) for name in public
        ),
        target=target,
        unit=unit,
        rows=draw(st.integers(0, 10**9)) if unit is Unit.REPLACE else draw(st.none() | st.integers(0, 10**9)),
        rows_at_most=draw(st.none() | st.integers(0, 10**9)),
        identifiers=tuple(names[len(public) :]),
    )


@st.composite
def cuts(draw: st.DrawFn, schema: Schema, *, most_steps: int = 6) -> Cut:
    """A cut that specialization reaches from the top."""
    cut = Cut.top(schema)
    for _ in range(draw(st.integers(0, most_steps))):
        steps = specializations(cut)
        if not steps:
            break
        cut = cut.specialize(draw(st.sampled_from(steps)))
    return cut


def specializations(cut: Cut) -> list[Specialization]:
    """All specializations of a cut."""
    return [
        Specialization(attribute=name, node=node, children=cut.schema[name].domain.split(node, position))
        for name, nodes in cut.nodes.items()
        for node in nodes
        for position in cut.schema[name].domain.positions(node)
    ]


def coded_rows(schema: Schema, *, most_rows: int = 12) -> st.SearchStrategy[list[tuple[int, ...]]]:
    """Rows of codes, a column for each attribute in the schema's order."""
    codes = [st.integers(0, attribute.domain.size - 1) for attribute in schema.attributes]
    return st.lists(st.tuples(*codes), max_size=most_rows)


@st.composite
def tables(draw: st.DrawFn, schema: Schema, *, most_rows: int = 12, portable: bool = False) -> pa.Table:
    """Raw values for a schema: in and outside the domain, readable or not, empty or null, in columns of many types.

    A portable table means the same in every format: without bytes, which are no text in CSV, and without NaN in columns
    of numbers, which pandas takes for a missing value and others do not.
    """
    rows = draw(st.integers(0, most_rows))
    columns = [draw(columns_of(attribute, rows, portable=portable)) for attribute in schema.attributes]
    columns += [pa.array([f"person {row}" for row in range(rows)], pa.string()) for _ in schema.identifiers]
    return pa.Table.from_arrays(columns, names=[*schema.columns, *schema.identifiers])


@st.composite
def columns_of(draw: st.DrawFn, attribute: Attribute, rows: int, *, portable: bool) -> pa.Array:
    """A raw column: text, dictionaries, bytes, whole numbers, doubles, single precision, decimals."""
    if isinstance(attribute.domain, Grid):
        columns = _number_columns(attribute, attribute.domain, not portable)
        if portable and attribute.notation is not None:
            columns = columns[:3]  # a file of text cannot say that a number is not written as declared
        kind, cell = draw(st.sampled_from(columns))
    else:
        others = _label_columns(attribute, attribute.domain)[portable:]
        kind, cell = draw(st.sampled_from(others[:-1] if portable and attribute.on_a_line else others))
    return pa.array(draw(st.lists(st.none() | cell, min_size=rows, max_size=rows)), kind)


Column = tuple[pa.DataType, st.SearchStrategy[Any]]


def _label_columns(attribute: Attribute, tree: Tree) -> Sequence[Column]:
    text = st.one_of(st.sampled_from([node.label for node in tree.root.walk()]), st.sampled_from(tree.labels), _LABELS)
    if attribute.notation is not None:
        text = raw_texts(attribute.notation) | text
    raw = st.one_of(text.map(str.encode), st.binary(max_size=3))
    return [
        (pa.binary(), raw),
        (pa.string(), text),
        (pa.large_string(), text),
        (pa.dictionary(pa.int32(), pa.string()), text),
        (pa.dictionary(pa.uint8(), pa.large_string()), text),
        (pa.int64(), st.integers(-2, 13)),
    ]


def _number_columns(attribute: Attribute, grid: Grid, not_a_number: bool) -> Sequence[Column]:
    edges = [grid.edge(position) for position in range(grid.cells + 1)]
    width = edges[-1] - edges[0]
    near = st.one_of(
        st.sampled_from(edges),
        st.decimals(edges[0] - width, edges[-1] + width, places=3),
        st.sampled_from([edges[-1] + 10**6, edges[0] - 10**6]),
    )
    text = st.one_of(
        raw_texts(attribute.notation),
        near.map(str),
        near.map(lambda number: f" {number:f}"),
        st.sampled_from(NUMBERS_AS_TEXT),
        st.sampled_from(NO_NUMBERS),
        st.sampled_from(["", "  ", *([] if attribute.missing is None else [attribute.missing])]),
        _LABELS,
    )
    odd = [float("inf"), float("-inf"), 5e-324, 1.7e308, -0.0, -999.0, *([float("nan")] if not_a_number else [])]
    single = st.one_of(near.map(float), st.sampled_from([0.0, -999.0, float("inf")]))
    return [
        (pa.string(), text),
        (pa.large_string(), text),
        (pa.dictionary(pa.int16(), pa.string()), text),
        (pa.float64(), st.one_of(near.map(float), st.sampled_from(odd), st.floats(allow_nan=not_a_number))),
        *([(pa.float32(), single)] if not_a_number else []),  # pandas does not declare them, and reads them as doubles
        (pa.int64(), st.one_of(near.map(int), st.sampled_from([-999, 0, 2**62, -(2**62)]))),
        (pa.dictionary(pa.int8(), pa.int64()), near.map(int)),
        (pa.decimal128(30, 4), near.map(lambda number: round(number, 4))),
    ]
