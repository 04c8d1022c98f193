"""Bounds the rows of each person, for all engines.

At most `rows_each_at_most` rows of each person are used. They are chosen before coding: each row of a person has a
priority, and those with the smallest are kept. The priority is a keyed hash of the person and the raw row, plus a
constant times the repeat number, which distinguishes rows of one person with the same hash. So which rows of a person
are kept is a function of that person's rows alone. Proof: `scumble/engines/PROOF.md`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.coding import code_rows
from scumble.engines.person_ids import person_ids
from scumble.engines.row_hashes import Hashes, RowHash
from scumble.model.counts import Block
from scumble.model.persons import Persons
from scumble.model.schema import Schema

REPEAT_STEP = 0x9E3779B97F4A7C15
"""The priorities of equal rows of one person are this far apart, modulo 2^64 (the odd number nearest to 2^64 divided by
the golden ratio, whose multiples are spread evenly)."""
NO_KEY = bytes(32)
"""The key of engines without a ledger."""


@dataclass(frozen=True, kw_only=True)
class Contributions:
    """Rows of a batch with what decides whether they are used."""

    block: Block
    """The codes of all rows, also of those that the schema drops."""
    inside: npt.NDArray[np.bool_]
    """Which rows the schema does not drop. Dropped rows count towards the bound, because the choice is made before."""
    persons: pa.LargeStringArray
    hashes: Hashes


def read_contributions(
    batches: Iterable[pa.RecordBatch], schema: Schema, persons: Persons, key: bytes
) -> Iterator[Contributions]:
    """The contributions of each batch. The ids of persons are read here, and nowhere else."""
    hashing = RowHash(key)
    columns = schema.columns
    for batch, block, inside in code_rows(batches, schema):
        ids = person_ids(batch, persons.column)
        hashes = hashing.row_hashes([ids, *(batch.column(name) for name in columns)], len(batch))
        yield Contributions(block=block, inside=inside, persons=ids, hashes=hashes)


def bounded_blocks(batches: Iterable[pa.RecordBatch], schema: Schema, persons: Persons, key: bytes) -> Iterator[Block]:
    """Coded blocks with at most so many rows of each person, without the rows that the schema drops."""
    blocks: list[Block] = []
    insides: list[npt.NDArray[np.bool_]] = []
    ids: list[pa.LargeStringArray] = []
    hashes: list[Hashes] = []
    for part in read_contributions(batches, schema, persons, key):
        blocks.append(part.block)
        insides.append(part.inside)
        ids.append(part.persons)
        hashes.append(part.hashes)
    if not blocks:
        return
    kept = kept_rows(_numbered(ids), np.concatenate(hashes), persons.rows_each_at_most)
    start = 0
    for block, inside in zip(blocks, insides, strict=True):
        used = kept[start : start + len(inside)] & inside
        start += len(inside)
        bounded = block if used.all() else tuple(codes[used] for codes in block)
        for codes in bounded:
            codes.flags.writeable = False
        yield bounded


def _numbered(ids: list[pa.LargeStringArray]) -> npt.NDArray[np.int64]:
    """A number for each id, the same for equal ids; empties the list."""
    column = pa.chunked_array(ids, pa.large_string())
    ids.clear()
    encoded = column.dictionary_encode()
    return np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])


def kept_rows(persons: npt.NDArray[np.integer], hashes: Hashes, most: int) -> npt.NDArray[np.bool_]:
    """Which rows are kept: for each person, those with the `most` smallest priorities.

    Persons with few rows keep them all, so only the others are sorted.
    """
    crowded = (np.bincount(persons) > most)[persons]
    rows = np.flatnonzero(crowded)
    kept = ~crowded
    if not len(rows):
        return kept
    order = np.lexsort((hashes[rows], persons[rows]))
    rows = rows[order]
    person, priority = persons[rows], hashes[rows]
    repeat = _places_in_runs((np.diff(person) != 0) | (np.diff(priority) != 0))
    if repeat.any():
        priority = priority + repeat.astype(np.uint64) * np.uint64(REPEAT_STEP)
        order = np.lexsort((priority, person))
        rows, person = rows[order], person[order]
    place = _places_in_runs(np.diff(person) != 0)
    kept[rows[place < most]] = True
    return kept


def _places_in_runs(breaks: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """The place of every element in its run, given between which elements a new run begins.

    >>> _places_in_runs(np.array([False, True, False, False])).tolist()
    [0, 1, 0, 1, 2]
    """
    elements = np.arange(len(breaks) + 1)
    starts = np.concatenate([[0], np.flatnonzero(breaks) + 1])
    return elements - np.repeat(starts, np.diff(np.append(starts, len(elements))))
