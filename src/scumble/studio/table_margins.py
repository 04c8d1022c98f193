"""The margins of a published table as charts, for releases that have no measured ones: shares of its own rows."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from scumble.files.report.marginals import HEIGHT, MOST_BARS, MOST_COLUMNS, Band, Marginal
from scumble.files.report.svg import box, drawing
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema

COUNT = "count"


def table_margins(table: pa.Table, schema: Schema, *, counts: bool) -> list[Marginal]:
    """A chart for each attribute of a published table. With `counts`, a row stands for so many records."""
    weights = table[COUNT].to_numpy() if counts else np.ones(table.num_rows)
    if not weights.sum() > 0:
        return []
    attributes = [each for each in schema.attributes if each.name in table.column_names]
    return [_margin(each, table[each.name], weights) for each in attributes]


def _margin(attribute: Attribute, column: pa.ChunkedArray, weights: np.ndarray) -> Marginal:
    domain = attribute.domain
    if isinstance(domain, Grid) and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        low, high = float(domain.edge(0)), float(domain.edge(domain.cells))
        known = np.isfinite(numbers)
        # The upper end belongs to the last column, as in a histogram of numpy.
        counts, edges = np.histogram(numbers[known], MOST_COLUMNS, range=(low, high), weights=weights[known])
        shares = counts / weights.sum()
        labels = [f"{left:.4g} to {right:.4g}" for left, right in pairwise(edges)]
        bands = [Band(label, float(share), None, None) for label, share in zip(labels, shares, strict=True)]
        ends = (str(domain.edge(0)), str(domain.edge(domain.cells)))
        return Marginal(attribute.name, bands, _columns(bands), ends, None, max(bands, key=_share))
    encoded = pc.dictionary_encode(pc.fill_null(column.cast(pa.string()), "missing")).combine_chunks()
    shares = np.bincount(encoded.indices.to_numpy(), weights=weights) / weights.sum()
    labels = encoded.dictionary.to_pylist()
    bands = sorted((Band(label, float(shares[code]), None, None) for code, label in enumerate(labels)), key=_order)
    if len(bands) > MOST_BARS:
        others = bands[MOST_BARS - 1 :]
        rest = Band(f"{len(others):,} other values", sum(each.share for each in others), None, None)
        bands = [*bands[: MOST_BARS - 1], rest]
    return Marginal(attribute.name, bands, None, None, None, bands[0])


def _share(band: Band) -> float:
    return band.share


def _order(band: Band) -> tuple[float, str]:
    """The largest share first; equal ones by their labels."""
    return -band.share, band.label


def _columns(bands: Sequence[Band]) -> Markup:
    tallest = max([*map(_share, bands), 1e-12])
    shapes = []
    for place, band in enumerate(bands):
        pixels = round(HEIGHT * band.share / tallest)
        left, width = place / len(bands), 0.92 / len(bands)
        shapes.append(box("t1", left, width, top=HEIGHT - pixels, height=pixels))
    return drawing("; ".join(band.words for band in bands), *shapes)
