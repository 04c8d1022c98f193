"""Measured tables in documents: what is listed is read, and what does not fit the schema is refused."""

from typing import Any

import numpy as np
import pytest

from scumble.errors import InputError
from scumble.files.measured_tables import detail_tables, listed_tables
from scumble.files.schema_file import parse_schema
from scumble.model.measured_tables import NoiseKind

SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 50, step: 10}, missing: "?"}
  ward: {taxonomy: {Any: {a: , b: , c: }}}
  ill: {classes: ["no", "yes"]}
"""
)


def listed(**changes: Any) -> dict[str, Any]:
    entry = {
        "attributes": ["age", "ward"],
        "bins": [[0, 2, 5], [0, 1]],
        "unit": 2,
        "counts": [10, -3, 4, 5, 6, 7],
        "variance": 80.0,
    }
    return {"tables": {"format": "tables/1", "noise": "discrete Gaussian", "tables": [{**entry, **changes}]}}


def test_a_listed_table_is_read() -> None:
    (table,) = listed_tables(listed(), SCHEMA)
    assert table.attributes == ("age", "ward")
    assert table.kind is NoiseKind.GAUSSIAN
    assert table.counts.tolist() == [[5.0, -1.5], [2.0, 2.5], [3.0, 3.5]]
    age, ward = table.bins
    assert age.edges is not None
    assert ward.of_leaf is not None
    assert (age.edges.tolist(), age.missing) == ([0.0, 20.0, 50.0], 2)
    assert ward.of_leaf.tolist() == [0, 1, 1]
    summed = table.marginal(["ward"])
    assert summed.counts.tolist() == [10.0, 4.5]
    assert summed.entry_variance == 240.0


@pytest.mark.parametrize(
    "changes",
    [
        {"attributes": ["age"]},
        {"attributes": ["age", "wards"]},
        {"bins": [[0, 2, 2], [0, 1]]},
        {"bins": [[1, 2, 5], [0, 1]]},
        {"bins": [[0, 2, 9], [0, 1]]},
        {"counts": [1, 2]},
        {"counts": [1, 2, 3, 4, 5, "x"]},
        {"variance": -1},
        {"variance": float("nan")},
        {"unit": 0},
    ],
)
def test_a_table_that_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"tables\.json does not describe|no attribute"):
        listed_tables(listed(**changes), SCHEMA)


def test_other_documents_have_no_tables() -> None:
    assert listed_tables({}, SCHEMA) == ()
    assert listed_tables({"tables": {"format": "tables/9"}}, SCHEMA) == ()
    assert detail_tables({}, SCHEMA) == ()


def test_the_tables_of_the_detail_are_read() -> None:
    entries = [
        {"attribute": "age", "values": [1, 2, 3, 4, 5, 6, 3, 7, 11], "range": 2, "deviation": 3.0},
        {
            "attributes": ["ward"],
            "groups": 2,
            "bins": [0, 2],
            "deviation": 2.0,
            "counts": [[[1, 2], [3, 4]], [[10, 20], [30, 40]]],
        },
        {"groups": 12, "counts": [[1, 2]]},
        {"attributes": ["age", "ward"], "residuals": [[1]]},
    ]
    values, ranges, by_class = detail_tables({"detail": {"measured": entries}}, SCHEMA)
    assert values.counts.tolist() == [1, 2, 3, 4, 5, 6]
    assert ranges.counts.tolist() == [3, 7, 11]
    assert ranges.bins[0].edges is not None
    assert ranges.bins[0].edges.tolist() == [0.0, 20.0, 40.0, 50.0]
    assert ranges.bins[0].missing == 2
    assert by_class.attributes == ("ward", "ill")
    assert np.array_equal(by_class.counts, [[11, 22], [33, 44]])
    assert by_class.entry_variance == 8.0
