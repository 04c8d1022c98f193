"""Arrow columns of every type as canonical values, and as text for names of entities."""

import pyarrow as pa
import pytest

from scumble.engines.arrow_values import (
    decoded_text,
    distinct_values,
    plain_text,
    python_values,
    read_texts,
    without_wrapping,
)
from scumble.sources.object_column import OFF_DOMAIN, object_column


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pa.array([1, None, 2**60]), ["1", "", "1152921504606847000"]),
        (pa.array([0.1, None, float("nan")], pa.float32()), ["0.1", "", ""]),
        (pa.array([True, None]), ["true", ""]),
        (pa.array([b"a", b"K\xf6ln", None]), ["a", "K\\xf6ln", ""]),
        (pa.array(["a", None, "b", "a"]).dictionary_encode(), ["a", "", "b", "a"]),
        (pa.array([19753, -(2**31), None], pa.int32()).view(pa.date32()), ["2024-01-31", "", ""]),
        (pa.array([1, None], pa.duration("s")), ["", ""]),
        (pa.array(["a", "b"], pa.string_view()), ["a", "b"]),
        (pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]), ["a", "a", "b"]),
        (pa.array(['{"a": 1}'], pa.json_()), ['{"a": 1}']),
        (object_column([True, 1.0, [], None]), ["true", "1", "", ""]),
    ],
)
def test_texts(column: pa.Array, texts: list[str]) -> None:
    assert read_texts(column) == texts


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None, "a"]),
        pa.array([b"a", None, b"a"]).dictionary_encode(),
        object_column(["a", None, "a"]),
        pa.array([[1], None, [1]]),
    ],
)
def test_distinct_values_cover_a_column(column: pa.Array) -> None:
    values, places = distinct_values(column)
    every = [*python_values(values), None]
    assert [every[place] for place in places] == python_values(
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    )


def test_what_has_no_rule_is_off_the_domain_and_null_is_missing() -> None:
    for column in (pa.array([b"0" * 16, None], pa.uuid()), pa.array([[1], None]), pa.array([{"a": 1}, None])):
        assert python_values(column) == [OFF_DOMAIN, None]
    assert python_values(without_wrapping(pa.array([b"0" * 16], pa.uuid()))) == [OFF_DOMAIN]


def test_plain_texts_are_made_by_arrow_where_it_makes_canonical_ones() -> None:
    assert plain_text(pa.array([1.0, None, 10_000_000_001.0])).to_pylist() == [b"1", None, b"10000000001"]
    assert plain_text(pa.array([0.5])) is None and plain_text(pa.array([2**53])) is None
    assert plain_text(pa.array([float("inf")])) is None and plain_text(pa.array([True])) is None


def test_undecodable_cells_are_marked() -> None:
    text, undecodable = decoded_text(pa.array([b"1", b"\xff", None]))
    assert (
        text.to_pylist() == ["1", "?", None]
        and undecodable is not None
        and undecodable.tolist() == [False, True, False]
    )
    assert decoded_text(pa.array(["1", None]))[1] is None
