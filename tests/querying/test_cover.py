"""Conditions on a schema: measured tables and rows count exactly the records that a row-by-row twin counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from questions import cells_of, expressions, fine_values, number, satisfies, small_schemas
from strategies import coded_rows, cuts

from scumble.files.schema_file import parse_schema
from scumble.model.cut import Cut
from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.model.values import published_values
from scumble.querying import cover as covering
from scumble.querying.cover import cover
from scumble.querying.expressions import Compared, Expression, conditions, expression_text
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import PieceValues, numbers_in
from scumble.querying.parser import ExpressionError, parse
from scumble.querying.predicates import attributes_of, interpret
from scumble.querying.values import Values


def published_pieces(schema: Schema, expression: Expression) -> dict[str, Values]:
    found: dict[str, Values] = {}
    for each in schema.attributes:
        if isinstance(each.domain, Grid):
            own = [condition for condition in conditions(expression) if condition.attribute == each.name]
            found[each.name] = PieceValues(attribute=each, numbers=numbers_in(each, own))
        else:
            found[each.name] = LeafValues(attribute=each)
    return found


@settings(max_examples=200)
@given(data=st.data(), schema=small_schemas())
def test_an_exact_cover_counts_what_the_twin_counts(data: st.DataObject, schema: Schema) -> None:
    rows = data.draw(coded_rows(schema))
    expression = data.draw(expressions(schema))
    table = cells_of(data.draw(cuts(schema)), rows)
    values = fine_values(schema)
    predicate = interpret(expression, values, expression_text(expression), [])
    expected = sum(satisfies(expression, schema, row) for row in rows)
    found = cover(table, predicate, values)
    assert found is not None
    if found.exact:
        assert float((found.shares * table.counts).sum()) == expected
        assert set(np.unique(found.shares)) <= {0.0, 1.0}
    finest = cells_of(Cut.leaves(schema), rows)
    every = cover(finest, predicate, values)
    assert every is not None
    assert every.exact
    assert float((every.shares * finest.counts).sum()) == expected
    marginal = cover(finest.marginal(attributes_of(predicate)), predicate, values)
    assert marginal is not None
    assert float((marginal.shares * finest.marginal(attributes_of(predicate)).counts).sum()) == expected


@settings(max_examples=200)
@given(data=st.data(), schema=small_schemas())
def test_intervals_are_counted_only_where_the_question_does_not_cut_them(data: st.DataObject, schema: Schema) -> None:
    """Numbers of a generalized release may lie anywhere in their interval; here they are the edges of finer cells."""
    rows = data.draw(coded_rows(schema))
    expression = data.draw(expressions(schema, equal_numbers=False))
    cut = data.draw(cuts(schema))
    table, published = cells_of(cut, rows), cut.published_schema()
    values = published_pieces(published, expression)
    found = cover(table, interpret(expression, values, expression_text(expression), []), values)
    assert found is not None
    assert ((found.shares >= 0) & (found.shares <= 1 + 1e-9)).all()
    if found.exact:
        expected = sum(satisfies(expression, schema, row) for row in rows)
        assert float((found.shares * table.counts).sum()) == expected


@settings(max_examples=100)
@given(data=st.data(), schema=small_schemas())
def test_rows_satisfy_what_the_twin_says(data: st.DataObject, schema: Schema) -> None:
    rows = data.draw(coded_rows(schema))
    expression = data.draw(expressions(schema))
    values = fine_values(schema)
    codes = np.array(rows, dtype=np.int64).reshape(len(rows), len(schema.names))
    columns = {name: published_values(schema[name].domain, codes[:, place]) for place, name in enumerate(schema.names)}
    places = {name: values[name].places(columns[name]) for name in schema.names}
    truth = interpret(expression, values, expression_text(expression), []).truth(places)
    assert np.broadcast_to(truth, (len(rows),)).tolist() == [satisfies(expression, schema, row) for row in rows]


@settings(max_examples=200)
@given(data=st.data(), schema=small_schemas(), text=st.text(max_size=12))
def test_any_value_is_understood_or_an_error_points_at_it(data: st.DataObject, schema: Schema, text: str) -> None:
    name = data.draw(st.sampled_from(schema.names)).replace("`", "``")
    operator = data.draw(st.sampled_from(["=", "<", ">=", "!="]))
    value = data.draw(st.sampled_from(["'" + text.replace("'", "''") + "'", "1e999", "-1e999", "7", "2024-01-31"]))
    question = f"`{name}` {operator} {value}"
    try:
        interpret(parse(question), fine_values(schema), question, [])
    except ExpressionError as error:
        span = error.span
    else:
        return
    assert 0 <= span.start < span.end <= len(question)


def test_too_many_combinations_are_not_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = parse_schema(
        "scumble: schema/1\nattributes:\n  age: {numeric: {low: 0, high: 100, step: 1}}\n"
        "  b: {taxonomy: {Any: {x: , y: }}}\n"
    )
    values = fine_values(schema)
    young = interpret(Compared(attribute="age", operator="<", value=number(50)), values, "", [])
    table = cells_of(Cut.leaves(schema), [])
    assert cover(table, young, values) is not None
    monkeypatch.setattr(covering, "LARGEST_PRODUCT", 10)
    assert cover(table, young, values) is None
    assert cover(table.marginal(["b"]), young, values) is None
