"""The one-way marginals of the fine rows as small multiples, each with a 95 % band for the noise of what was measured.

A share that was measured as the sum of m counts, each with noise of standard deviation s, has the band

    measured share ± 1.96 s sqrt(m) / records

A bin of a class table is the sum of its counts over all classes and groups. If an attribute has no class table, or if a
category shares its bin, the counts of its values are used. Sampling error is not included.
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from scumble.files.report.attributes import label_of
from scumble.files.report.detail import measured_entries, names_of
from scumble.files.report.svg import box, drawing, line
from scumble.files.report.text import percent
from scumble.model.coded_columns import CodedColumns
from scumble.model.counts import Floats, Integers
from scumble.model.fine_rows import FINE_ROWS_EACH
from scumble.model.grid import Grid
from scumble.model.release import CellRelease, FineRows
from scumble.model.schema import Attribute
from scumble.model.values import codes_within

DEVIATIONS_95 = 1.96
MOST_COLUMNS = 24
"""The most columns of a numeric attribute."""
MOST_BARS = 6
"""The most bars of a categorical attribute; all other values share the last."""
FIRST_ATTRIBUTES = 24
"""The attributes that are shown at once; the others are folded."""
HEIGHT = 56
"""The height of a histogram in pixels."""


class _Measured(NamedTuple):
    """Measured shares of bins: the first code of each, the share, and the standard deviation of its noise."""

    starts: Integers
    shares: Floats | None
    """None if no share is known to have been measured; then there is no band."""
    deviation: float


class Band(NamedTuple):
    """A published share, and the band of the measured one; None if it was not measured."""

    label: str
    share: float
    low: float | None
    high: float | None

    @property
    def bar(self) -> Markup:
        """A horizontal bar from 0 to 100 %, with a whisker for the band."""
        shapes = [box("rail", 0, 1, top=6, height=2), box("t1", 0, self.share, top=2, height=10)]
        if self.low is not None and self.high is not None:
            low, high = (min(max(end, 0.0), 1.0) for end in (self.low, self.high))
            shapes += [line(low, high, top=7, bottom=7), *(line(tip, tip, top=4, bottom=10) for tip in (low, high))]
        return drawing(self.words, *shapes)

    @property
    def words(self) -> str:
        band = "" if self.low is None or self.high is None else f", measured {percent_range(self.low, self.high)}"
        return f"{self.label}: {percent(self.share)}{band}"


class Marginal(NamedTuple):
    """An attribute: its bars or its histogram."""

    name: str
    bands: list[Band]
    """Of categories, the largest first; of numbers, in order, with missing ones last."""
    histogram: Markup | None
    """Of a numeric attribute."""
    ends: tuple[str, str] | None
    missing: Band | None
    largest: Band
    """The bin with the largest share."""


def percent_range(low: float, high: float) -> str:
    """
    >>> percent_range(-0.01, 0.25).replace(chr(160), " ")
    '0 % to 25 %'
    """
    return f"{percent(max(low, 0.0))} to {percent(min(max(high, 0.0), 1.0))}"


def marginals(release: CellRelease) -> list[Marginal]:
    """One for each predictor; none if there are no fine rows."""
    fine = release.fine
    if fine is None or not fine.rows:
        return []
    records = _records(release)
    tables = {names_of(entry)[0]: entry for entry in measured_entries(release) if "bins" in entry}
    values = {entry["attribute"]: entry for entry in measured_entries(release) if "values" in entry}
    found = []
    for attribute in fine.schema.predictors:
        measured = _measured(attribute, tables.get(attribute.name, {}), values.get(attribute.name, {}), records)
        codes, counts = _distinct(fine, attribute)
        place = np.searchsorted(measured.starts, codes, side="right") - 1
        published = np.bincount(place, weights=counts, minlength=len(measured.starts)) / fine.rows
        numeric = isinstance(attribute.domain, Grid)
        found.append((_histogram if numeric else _bars)(attribute, measured, published))
    return found


def _distinct(fine: FineRows, attribute: Attribute) -> tuple[Integers, Integers]:
    """The different codes of an attribute and how often each occurs. Far fewer than rows, which may be a million."""
    if isinstance(fine.columns, CodedColumns):
        times = np.bincount(fine.columns.codes[attribute.name], minlength=attribute.domain.size)
        return np.flatnonzero(times), times[times > 0]
    column = fine.columns[attribute.name]
    if column.dtype != np.object_:
        values: Any
        values, counts = np.unique(column, return_counts=True)
        return codes_within(attribute.domain, values), counts
    found = Counter(column.tolist())
    return codes_within(attribute.domain, np.array(list(found), dtype=np.object_)), np.array(list(found.values()))


def _records(release: CellRelease) -> float:
    """The estimated number of records, from all measured class totals where they are published."""
    totals = release.documents.get("detail", {}).get("class totals")
    assert release.fine is not None
    return max(float(sum(totals)) if totals else release.fine.rows / FINE_ROWS_EACH, 1.0)


def _measured(attribute: Attribute, table: Mapping[str, Any], values: Mapping[str, Any], records: float) -> _Measured:
    domain = attribute.domain
    if "bins" in table and (isinstance(domain, Grid) or len(table["bins"]) == domain.size):
        counts = np.array(table["counts"])
        entries = counts.size // counts.shape[1]
        deviation = table["deviation"] * math.sqrt(entries) / records
        return _Measured(np.array(table["bins"]), counts.sum(axis=(0, 2)) / records, deviation)
    if "deviation" in values:
        counts, width = np.array(values["values"]), values["range"]
        if width > 1 and isinstance(domain, Grid):
            ranges = counts[domain.size :]
            return _Measured(np.arange(len(ranges)) * width, ranges / records, values["deviation"] / records)
        return _Measured(np.arange(domain.size), counts[: domain.size] / records, values["deviation"] / records)
    if not isinstance(domain, Grid):
        return _Measured(np.arange(domain.size), None, 0.0)
    starts = np.linspace(0, domain.cells, MOST_COLUMNS, endpoint=False).astype(np.int64)
    return _Measured(np.unique([*starts, *range(domain.cells, domain.size)]), None, 0.0)


def _band(label: str, published: Floats, measured: _Measured, places: Integers) -> Band:
    """The sum of some bins."""
    share = float(published[places].sum())
    if measured.shares is None:
        return Band(label, share, None, None)
    middle = float(measured.shares[places].sum())
    either_side = DEVIATIONS_95 * measured.deviation * math.sqrt(len(places))
    return Band(label, share, middle - either_side, middle + either_side)


def _bars(attribute: Attribute, measured: _Measured, published: Floats) -> Marginal:
    order = np.argsort(-published, kind="stable")
    shown = order if len(order) <= MOST_BARS else order[: MOST_BARS - 1]
    bands = [_band(label_of(attribute, int(code)), published, measured, np.array([code])) for code in shown]
    if len(shown) < len(order):
        others = order[len(shown) :]
        bands.append(_band(f"{len(others):,} other values", published, measured, others))
    return Marginal(attribute.name, bands, None, None, None, bands[0])


def _histogram(attribute: Attribute, measured: _Measured, published: Floats) -> Marginal:
    """Columns over the range of a grid, whose areas are shares; missing numbers are stated beside it."""
    domain = attribute.domain
    assert isinstance(domain, Grid)
    starts, cells = measured.starts, domain.cells
    numbers = np.flatnonzero(starts < cells)
    # A column begins where a bin does: the first one in each of equally wide steps.
    step = starts[numbers] * MOST_COLUMNS // cells
    firsts = np.flatnonzero(np.diff(step, prepend=-1))
    columns = np.split(numbers, firsts[1:])
    ends = [*starts[firsts[1:]].tolist(), cells]
    bands, widths, lefts = [], [], []
    for places, end in zip(columns, ends, strict=True):
        low = int(starts[places[0]])
        bands.append(_band(domain.interval(low, end).label, published, measured, places))
        lefts.append(low / cells)
        widths.append((end - low) / cells)
    missing = None
    if domain.size > cells and starts[-1] == cells:
        missing = _band(f"missing ({domain.missing})", published, measured, np.array([len(starts) - 1]))
    single = int(published[numbers].argmax())
    after = [*starts.tolist(), domain.size][single + 1]
    label = domain.interval(int(starts[single]), min(after, cells)).label
    return Marginal(
        attribute.name,
        bands if missing is None else [*bands, missing],
        _columns(bands, lefts, widths),
        (str(domain.edge(0)), str(domain.edge(cells))),
        missing,
        _band(label, published, measured, np.array([single])),
    )


def _columns(bands: list[Band], lefts: list[float], widths: list[float]) -> Markup:
    density = [band.share / width for band, width in zip(bands, widths, strict=True)]
    tallest = max([*density, 1e-12])
    tips = [band.high / width for band, width in zip(bands, widths, strict=True) if band.high is not None]
    scale = HEIGHT / min(max([tallest, *tips]), 2 * tallest)
    shapes = []
    for band, left, width, height in zip(bands, lefts, widths, density, strict=True):
        pixels = round(height * scale)
        shapes.append(box("t1", left, width * 0.92, top=HEIGHT - pixels, height=pixels))
        if band.low is not None and band.high is not None:
            low, high = (min(max(end / width * scale, 0.0), HEIGHT) for end in (band.low, band.high))
            middle = left + width * 0.46
            shapes.append(line(middle, middle, top=round(HEIGHT - high), bottom=round(HEIGHT - low)))
    label = "; ".join(band.words for band in bands)
    return drawing(label, *shapes)
