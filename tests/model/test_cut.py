"""Cuts and cells against an enumeration of the cross product, and the schema that a cut publishes."""

from itertools import product
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import coded_rows, cuts, schemas, specializations

from scumble.model.counts import fine_shape
from scumble.model.cut import Cut
from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree


@given(st.data())
def test_the_cells_of_a_cut_are_disjoint_boxes_that_cover_every_row(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    cut = data.draw(cuts(schema))
    boxes = list(product(*cut.nodes.values()))
    assert cut.cells == len(boxes)
    assert cut.shape == tuple(len(nodes) for nodes in cut.nodes.values())
    for row in data.draw(coded_rows(schema, most_rows=5)):
        codes = dict(zip((attribute.name for attribute in schema.attributes), row, strict=True))
        inside = [
            place
            for place, box in enumerate(boxes)
            if all(node.low <= codes[name] < node.high for name, node in zip(cut.nodes, box, strict=True))
        ]
        digits = [int(cut.digits(name)[codes[name]]) for name in cut.nodes]
        assert inside == [int(np.ravel_multi_index(digits, cut.shape))]


@given(st.data())
def test_steps_make_as_many_cells_as_they_said(data: st.DataObject) -> None:
    cut = data.draw(cuts(data.draw(schemas()), most_steps=3))
    for step in specializations(cut)[:10]:
        finer = cut.specialize(step)
        assert finer.cells == cut.cells_after(step)
        assert list(finer.nodes) == list(cut.nodes)
        for name, nodes in finer.nodes.items():
            assert [node.low for node in nodes] + [cut.schema[name].domain.size] == [0, *(node.high for node in nodes)]
            assert finer.lows(name).tolist() == [node.low for node in nodes]


@given(st.data())
def test_the_shape_of_fine_tables(data: st.DataObject) -> None:
    cut = data.draw(cuts(data.draw(schemas())))
    for place, name in enumerate(cut.nodes):
        outer, size, inner, classes = fine_shape(cut, name)
        assert outer == prod(len(nodes) for nodes in list(cut.nodes.values())[:place])
        assert outer * len(cut.nodes[name]) * inner == cut.cells
        assert size == cut.schema[name].domain.size
        assert classes == len(cut.schema.classes)


@given(schemas())
def test_top_and_leaves_are_the_two_ends(schema: Schema) -> None:
    top, leaves = Cut.top(schema), Cut.leaves(schema)
    assert top.cells == 1
    assert [[node.label for node in nodes] for nodes in leaves.nodes.values()] == [
        list(attribute.domain.labels) for attribute in schema.predictors
    ]
    first = schema.predictors[0].name
    for names in ([first], (name for name in [first]), {first}):
        some = Cut.leaves(schema, names)
        assert some.nodes == {**top.nodes, first: leaves.nodes[first]}


@given(st.data())
def test_the_published_schema_has_the_values_of_the_cut(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    cut = data.draw(cuts(schema))
    published = cut.published_schema()
    assert [attribute.name for attribute in published.attributes] == [a.name for a in schema.attributes]
    assert (published.target, published.classes, published.unit) == (schema.target, schema.classes, schema.unit)
    for name, nodes in cut.nodes.items():
        raw, domain = schema[name].domain, published[name].domain
        assert domain.labels == tuple(node.label for node in nodes)
        if isinstance(raw, Tree) and isinstance(domain, Tree):
            assert [domain.codes[label] for label in raw.labels] == cut.digits(name).tolist()
        if isinstance(raw, Grid) and isinstance(domain, Grid):
            assert [raw.edge(node.low) for node in nodes if node.low < raw.cells] == list(domain.edges[:-1])
        if schema[name].missing is not None:
            before, after = schema[name].missing_code, published[name].missing_code
            assert before is not None
            assert cut.digits(name)[before] == after


@given(st.data())
def test_publishing_the_leaves_of_a_published_schema_changes_nothing(data: st.DataObject) -> None:
    published = data.draw(cuts(data.draw(schemas()))).published_schema()
    assert Cut.leaves(published).published_schema() == published
