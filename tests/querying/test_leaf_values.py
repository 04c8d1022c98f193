"""Written values of categories: dates, prefixes of codes, booleans, ordered categories and nested intervals."""

import numpy as np
import pytest

from scumble.files.schema_file import parse_schema
from scumble.querying.leaf_values import LeafValues
from scumble.querying.parser import ExpressionError, parse
from scumble.querying.predicates import interpret

SCHEMA = parse_schema(
    """
scumble: schema/1
attributes:
  admitted: {date: {from: 2024-01-01, to: 2024-07-01, step: month}, missing: "?"}
  diagnosis: {prefix: {levels: [1, 3], codes: [E10, E11, I10, I21], ignore: "."}}
  insured: {boolean: {false: ["no"], true: ["yes"]}}
  pain: {ordered: [none, mild, severe], missing: "?"}
"""
)


def found(condition: str, notes: list[str] | None = None) -> list[str]:
    """The labels that satisfy a condition on one attribute."""
    expression = parse(condition)
    values = {each.name: LeafValues(attribute=each) for each in SCHEMA.attributes}
    predicate = interpret(expression, values, condition, [] if notes is None else notes)
    (name,) = {mask.attribute for mask in predicate.masks}
    size = values[name].size
    labels = np.array(values[name].tree.labels, dtype=object)
    return list(labels[predicate.truth({name: np.arange(size)})])


@pytest.mark.parametrize(
    ("condition", "labels"),
    [
        ("admitted < 2024-03-01", ["2024-01", "2024-02"]),
        ("admitted <= 2024-03-01", ["2024-01", "2024-02", "2024-03"]),
        ("admitted > '2024-03'", ["2024-04", "2024-05", "2024-06"]),
        ("admitted >= 2024-Q2", ["2024-04", "2024-05", "2024-06"]),
        ("admitted = '2024-Q1'", ["2024-01", "2024-02", "2024-03"]),
        ("admitted = 2024-05-17", ["2024-05"]),
        ("admitted between 2024-02-01 and 2024-03-31", ["2024-02", "2024-03"]),
        ("admitted < 2030-01-01", ["2024-01", "2024-02", "2024-03", "2024-04", "2024-05", "2024-06"]),
        ("admitted < 1999-01-01", []),
        ("admitted is missing", ["?"]),
        ("diagnosis = 'E*'", ["E10", "E11"]),
        ("diagnosis = E", ["E10", "E11"]),
        ("diagnosis = 'E11.9'", ["E11"]),
        ("diagnosis in (I21, 'E.10')", ["E10", "I21"]),
        ("insured = true", ["true"]),
        ("insured = 'no'", ["false"]),
        ("pain >= mild", ["mild", "severe"]),
        ("pain = 'none..mild'", ["none", "mild"]),
        ("not pain = 'severe'", ["none", "mild", "?"]),
    ],
)
def test_a_written_value_means_these_leaves(condition: str, labels: list[str]) -> None:
    assert found(condition) == labels


def test_a_date_inside_a_month_counts_the_month_and_is_noted() -> None:
    notes: list[str] = []
    assert found("admitted < 2024-02-15", notes) == ["2024-01", "2024-02"]
    assert notes == ["2024-02-15 lies inside '2024-02' of 'admitted', which counts as a whole."]
    assert found("admitted >= 2024-02-15") == ["2024-03", "2024-04", "2024-05", "2024-06"]


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("diagnosis = 'X99'", "has no value 'X99'"),
        ("diagnosis < 'E10'", "without an order"),
        ("admitted = 2030-01-01", "outside the domain"),
        ("admitted = 'soon'", "has no value 'soon'"),
        ("pain = 'milt'", "Did you mean 'mild'"),
        ("insured is missing", "no missing values"),
    ],
)
def test_other_values_are_refused(condition: str, problem: str) -> None:
    with pytest.raises(ExpressionError, match=problem):
        found(condition)
