"""Which rows of each person are perturbed: the first ones, whatever the rows contain."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.engines.first_rows import FirstRows
from scumble.files.schema_file import parse_schema
from scumble.flows import perturb as flow
from scumble.flows.perturb import coded_blocks, noise_model, reported_schema
from scumble.model.raw_value import id_text
from scumble.sources import open_source

SCHEMA = parse_schema(
    """
scumble: schema/1
person: id
rows_each_at_most: 2
attributes:
  size: {numeric: {low: 0, high: 8, step: 1}}
  ward: {taxonomy: {Any: {a: , b: }}, outside: drop}
"""
)
IDS = st.sampled_from(["x", "y", "z", "", None, 7, "7"])
ROWS = st.lists(st.tuples(IDS, st.integers(0, 7), st.sampled_from(["a", "b", "c"])), max_size=30)


def first(persons: Sequence[str], most: int) -> list[bool]:
    """The readable version."""
    seen: Counter[str] = Counter()
    kept = []
    for person in persons:
        kept.append(seen[person] < most)
        seen[person] += 1
    return kept


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=8), max_size=5), st.integers(1, 4))
def test_the_first_rows_over_all_blocks_are_kept(blocks: list[list[str]], most: int) -> None:
    rows = FirstRows(most)
    kept = [keep for block in blocks for keep in rows.keep(block).tolist()]
    assert kept == first([person for block in blocks for person in block], most)


def kept_rows(rows: Sequence[tuple[Any, int, str]], *, truthful: Sequence[str]) -> list[tuple[int, str]]:
    frame = pd.DataFrame(rows, columns=["id", "size", "ward"]).astype(object)
    read = reported_schema(noise_model(SCHEMA, epsilon="1", truthful=truthful))
    blocks = list(coded_blocks(open_source(frame), read))
    assert all(names is None for _, names in blocks)
    return [
        (int(size), "abc"[int(ward)])
        for columns, _ in blocks
        for size, ward in zip(columns["size"], columns["ward"], strict=True)
    ]


@given(ROWS, st.integers(1, 7))
def test_perturbed_rows_are_the_first_in_their_order(rows: list[tuple[Any, int, str]], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow, "BLOCK_ROWS", most)
        inside = [row for row in rows if row[2] != "c"]
        kept = first([id_text(row[0]) for row in inside], 2)
        wanted = [(row[1], row[2]) for row, keep in zip(inside, kept, strict=True) if keep]
        assert kept_rows(rows, truthful=["ward"]) == wanted


@given(ROWS, st.data())
def test_covered_values_do_not_decide_which_rows_are_kept(
    rows: list[tuple[Any, int, str]], data: st.DataObject
) -> None:
    """The wards are reported without noise and say which rows are kept; the sizes are perturbed."""
    others = [(person, data.draw(st.integers(0, 7)), ward) for person, _, ward in rows]
    wards = [[ward for _, ward in kept_rows(table, truthful=["ward"])] for table in (rows, others)]
    assert wards[0] == wards[1]


@given(ROWS)
def test_one_person_changes_at_most_the_bound(rows: list[tuple[Any, int, str]]) -> None:
    everybody = kept_rows(rows, truthful=[])
    for person in {id_text(row[0]) for row in rows}:
        others = kept_rows([row for row in rows if id_text(row[0]) != person], truthful=[])
        assert len(everybody) - len(others) <= 2
        assert not Counter(others) - Counter(everybody)
