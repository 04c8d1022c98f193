"""The table of perturbed records, written and read block by block, so that it may be larger than memory.

Values have the same text as in the reports of a `Perturber`: the lower edge of the cell of a number on a regular grid,
or the label of an interval or category. A table with any other text is refused, because the noise model does not
describe it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.errors import InputError
from scumble.files.csv_tables import column_names, label_codes, write_csv
from scumble.model.counts import Integers
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.local.noise_model import NoiseModel
from scumble.model.values import NOWHERE, published_values, texts_of
from scumble.sources import check_columns
from scumble.sources.csv import published_csv


def write_blurred(path: Path, noise: NoiseModel, blocks: Iterable[Mapping[str, Integers]]) -> int:
    """Write published codes as text and return the number of rows."""
    names = column_names(noise.published)
    texts = [pa.array(texts_of(noise.published[name].domain), pa.string()) for name in names]
    rows = 0

    def chunks() -> Iterator[list[pa.Array]]:
        nonlocal rows
        for block in blocks:
            rows += len(block[names[0]])
            yield [pc.take(text, pa.array(block[name])) for name, text in zip(names, texts, strict=True)]

    write_csv(path, names, chunks())
    return rows


def published_blocks(path: Path, noise: NoiseModel) -> Iterator[dict[str, Integers]]:
    """The published codes of a table, block by block. A table that the noise model does not describe is refused."""
    source = published_csv(path)
    noise.check_columns(source.columns())
    check_columns(source, noise.published.names)
    texts = {each.name: texts_of(each.domain) for each in noise.published.attributes}
    for batch in source.batches(noise.published.names):
        yield {name: _codes(name, batch.column(name), text) for name, text in texts.items()}


def value_array(domain: Domain, codes: Integers) -> pa.Array:
    """Published codes as Arrow: numbers where the table has lower edges of cells, else labels as a dictionary."""
    if isinstance(domain, Grid) and domain.step is not None:
        return pa.array(published_values(domain, codes), from_pandas=True)
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(domain.labels, pa.string()))


def _codes(name: str, column: pa.DictionaryArray, texts: Sequence[str]) -> Integers:
    known = label_codes(column.dictionary, texts)
    if (known == NOWHERE).any():
        raise InputError(
            f"The table has a value of {name!r} that its noise model never publishes. Use the noise model that was "
            "written with the table."
        )
    return known[column.indices.to_numpy()]
