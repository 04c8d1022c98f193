"""The adversary of differential privacy, who knows every record but one, examines the numbers about that record.

A learned distinguisher would need many runs to find the published cell that contains the differing record, for every
possible set of cells. This adversary computes the cell from the public schema and subtracts the known records.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from scumble.auditing.neighbours import CodedRecord, Pair
from scumble.auditing.outcomes import ChoicePath, Numbers, codes_of
from scumble.mining.released_tree import released_probabilities
from scumble.model.counts import Integers, places_of
from scumble.model.release import CellRelease, Release
from scumble.model.schema import Schema
from scumble.model.values import Column, recoding


class Observer:
    """Reads the published numbers about the records in which two tables differ. It knows all other records."""

    def __init__(self, schema: Schema, pair: Pair) -> None:
        self._schema = schema
        self._shared = Counter(pair.first) & Counter(pair.second)
        self._records = sorted((Counter(pair.first) - self._shared) + (Counter(pair.second) - self._shared))
        self._known: dict[ChoicePath, tuple[Integers, Numbers]] = {}

    def observe(self, path: ChoicePath, release: Release) -> Numbers:
        """The published numbers about the differing records: how many published rows agree with them, their class
        probabilities under a published classifier, or counts of their cells, less the known records."""
        rows = release.rows_of("table")
        if rows is not None:
            agreements = (self._agreements(record, release.schema, rows) for record in self._records)
            return np.array([number for numbers in agreements for number in numbers])
        if release.classifier is not None:
            codes = np.array(self._records, dtype=np.int64).T
            columns = dict(zip(self._schema.names, codes, strict=True))
            return released_probabilities(release.classifier, columns, self._schema).ravel()
        cells = release.cells
        if path not in self._known:
            self._known[path] = self._places(cells)
        places, known = self._known[path]
        return cells.measured.ravel()[places] - known

    def _places(self, release: CellRelease) -> tuple[Integers, Numbers]:
        """The entries that count the differing records, and what the known records contribute to them."""
        published = release.schema
        shape = (*(attribute.domain.size for attribute in published.predictors), len(published.classes))
        if release.measured.size != np.prod(shape):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        others = np.zeros(release.measured.size)
        for record, times in self._shared.items():
            others[self._entry(record, published, shape)] += times * release.resolution
        places = [self._entry(record, published, shape) for record in self._records]
        return np.array(places, dtype=np.int64), others[places]

    def _entry(self, record: CodedRecord, published: Schema, shape: tuple[int, ...]) -> int:
        codes = self._published_codes(record, published)
        digits = [codes[attribute.name] for attribute in published.predictors]
        digits.append(codes[published.target] if published.target else 0)
        return int(places_of([np.array(digit) for digit in digits], shape))

    def _published_codes(self, record: CodedRecord, published: Schema) -> dict[str, int]:
        return {
            attribute.name: int(recoding(attribute.domain, published[attribute.name].domain)[code])
            for attribute, code in zip(self._schema.attributes, record, strict=True)
        }

    def _agreements(self, record: CodedRecord, published: Schema, rows: Mapping[str, Column]) -> list[float]:
        """How many published records agree with this one: in an attribute and the class (summed), and in everything."""
        codes = self._published_codes(record, published)
        same = {name: codes_of(column, published, name) == codes[name] for name, column in rows.items()}
        target = same.get(str(published.target), np.True_)
        every = np.logical_and.reduce(list(same.values()))
        return [sum(int(np.sum(each & target)) for each in same.values()), int(every.sum())]
