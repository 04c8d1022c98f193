"""What an onlooker sees of many runs: for each the discrete part, as a path of words, and the numbers, as a vector.

The path is everything a release says in words, in the order it came about: each choice, then the published domains and
whatever else is no array. Runs with the same path have the same numbers in the same places, so they can be compared.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.auditing.neighbours import Pair, Record
from scumble.model.counts import Integers
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.taxonomy import Domain, Grid, Tree

Path = tuple[str, ...]
Numbers = npt.NDArray[np.float64]

PUBLIC_FIELDS = frozenset({"method", "parameters", "plan", "rounding"})
"""Known before any row is read."""
DERIVED_FIELDS = frozenset({"count"})
"""A function of the measured counts, as `check_method` makes sure. Seeing it twice would count evidence twice."""


@dataclass(kw_only=True)
class Draws:
    """Outcomes of many runs on one table, by path. `watched` are numbers that every path has: those of the cells where
    the record lies that sets the tables apart, less what an onlooker knows of the others there."""

    numbers: dict[Path, Numbers] = field(default_factory=dict)
    watched: dict[Path, Numbers] = field(default_factory=dict)
    names: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    """What the numbers of a path are called."""

    @property
    def runs(self) -> int:
        return sum(len(rows) for rows in self.numbers.values())

    def sizes(self) -> dict[Path, int]:
        return {path: len(rows) for path, rows in self.numbers.items()}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run says."""

    path: Path
    numbers: Numbers
    watched: Numbers


def gather(outcomes: Iterable[Outcome], names: Mapping[Path, tuple[str, ...]]) -> Draws:
    numbers: dict[Path, list[Numbers]] = {}
    watched: dict[Path, list[Numbers]] = {}
    for outcome in outcomes:
        numbers.setdefault(outcome.path, []).append(outcome.numbers)
        watched.setdefault(outcome.path, []).append(outcome.watched)
    return Draws(
        numbers={path: np.array(rows) for path, rows in numbers.items()},
        watched={path: np.array(rows) for path, rows in watched.items()},
        names=dict(names),
    )


def together(parts: Iterable[Draws]) -> Draws:
    """Several batches as one."""
    numbers: dict[Path, list[Numbers]] = {}
    watched: dict[Path, list[Numbers]] = {}
    names: dict[Path, tuple[str, ...]] = {}
    for part in parts:
        names |= part.names
        for path in part.numbers:
            numbers.setdefault(path, []).append(part.numbers[path])
            watched.setdefault(path, []).append(part.watched[path])
    return Draws(
        numbers={path: np.concatenate(rows) for path, rows in numbers.items()},
        watched={path: np.concatenate(rows) for path, rows in watched.items()},
        names=names,
    )


def outcome_of(release: Release, watch: "Watch") -> Outcome:
    """Everything in a release that is neither public nor derived, field by field, so that a new one is seen too."""
    words: list[str] = []
    arrays: list[Numbers] = []
    for each in fields(release):
        value = getattr(release, each.name)
        if each.name in PUBLIC_FIELDS | DERIVED_FIELDS:
            continue
        if each.name == "story":
            words[:0] = value
        elif isinstance(value, Schema):
            words += _domains(value)
        elif isinstance(value, np.ndarray):
            arrays += _seen(value)
        else:
            words.append(f"{each.name} is {value!r}")
    path = tuple(words)
    return Outcome(path=path, numbers=np.concatenate([*arrays, np.zeros(0)]), watched=watch.see(path, release))


class Watch:
    """Whom the onlooker has in mind: the records that set a pair apart, everybody else being known to them."""

    def __init__(self, schema: Schema, pair: Pair) -> None:
        self._schema = schema
        self._shared = Counter(pair.first) & Counter(pair.second)
        self._records = sorted((Counter(pair.first) - self._shared) + (Counter(pair.second) - self._shared))
        self._known: dict[Path, tuple[Integers, Numbers]] = {}

    def see(self, path: Path, release: Release) -> Numbers:
        if path not in self._known:
            self._known[path] = self._places(release)
        places, known = self._known[path]
        return release.measured.ravel()[places] - known

    def _places(self, release: Release) -> tuple[Integers, Numbers]:
        """Where the watched records are counted, and how many others are counted there, in the release's units."""
        published = release.schema
        shape = (*(attribute.domain.size for attribute in published.predictors), len(published.classes))
        if release.measured.size != np.prod(shape):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        others = np.zeros(release.measured.size)
        for record, times in self._shared.items():
            others[self._entry(record, published, shape)] += times * release.resolution
        places = np.unique([self._entry(record, published, shape) for record in self._records]).astype(np.int64)
        return places, others[places]

    def _entry(self, record: Record, published: Schema, shape: tuple[int, ...]) -> int:
        codes = dict(zip((attribute.name for attribute in self._schema.attributes), record, strict=True))
        digits = [
            published_code(self._schema[attribute.name].domain, codes[attribute.name], attribute.domain)
            for attribute in published.predictors
        ]
        return int(np.ravel_multi_index([*digits, codes[published.target] if published.target else 0], shape))


def published_code(fine: Domain, code: int, published: Domain) -> int:
    """The code under which a generalized domain publishes a value; the nearest where it does not reach so far.

    >>> from decimal import Decimal
    >>> grid = Grid.regular(low=Decimal(0), high=Decimal(4), step=Decimal(1))
    >>> [published_code(grid, code, Grid(edges=(Decimal(0), Decimal(3), Decimal(4)))) for code in range(4)]
    [0, 0, 0, 1]
    """
    if isinstance(fine, Grid) and isinstance(published, Grid):
        if code >= fine.cells:
            return published.size - 1
        place = int(np.searchsorted(published.edge_floats, fine.edge_floats[code], side="right")) - 1
        return min(max(place, 0), published.cells - 1)
    assert isinstance(fine, Tree) and isinstance(published, Tree)
    return published.codes.get(fine.labels[code], 0)


def number_names(release: Release) -> tuple[str, ...]:
    """What the numbers of an outcome are, in the order of `outcome_of`."""
    names: list[str] = []
    for each in fields(release):
        value = getattr(release, each.name)
        if isinstance(value, np.ndarray) and each.name not in DERIVED_FIELDS:
            known = _entries(release) if each.name == "measured" else []
            places = known if len(known) == value.size else [f"{each.name}[{place}]" for place in range(value.size)]
            names += places
            if value.dtype.kind == "f":
                names += [f"the finest binary digit of {place}" for place in places]
    return tuple(names)


def _seen(array: npt.NDArray[Any]) -> list[Numbers]:
    """The values; of floats also their granularity, by which floating-point noise gives away what it was added to."""
    flat = array.ravel().astype(np.float64)
    return [flat, finest_digit(flat)] if array.dtype.kind == "f" else [flat]


def finest_digit(values: Numbers) -> Numbers:
    """The exponent of the lowest set bit of each double; of zero, which has none, a number below all.

    >>> finest_digit(np.array([1.0, 0.75, 6.0, 0.0])).tolist()
    [0.0, -2.0, 1.0, -1100.0]
    """
    mantissa, exponent = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1).astype(np.float64))
    return np.where(whole == 0, -1100.0, lowest + exponent - 53)


def _domains(schema: Schema) -> list[str]:
    texts = []
    for attribute in schema.attributes:
        domain = attribute.domain
        values = map(str, domain.edges) if isinstance(domain, Grid) else domain.labels
        texts.append(f"{attribute.name} is published as {' | '.join(values)}")
    return texts


def _entries(release: Release) -> list[str]:
    """The (cell, class) entries of a table of counts, named by what sets them apart."""
    shape = [attribute.domain.size for attribute in release.schema.predictors]
    names = []
    for cell in range(int(np.prod(shape))):
        values = [
            f"{attribute.name}={attribute.domain.labels[code]}"
            for attribute, code in zip(release.schema.predictors, np.unravel_index(cell, shape), strict=True)
            if attribute.domain.size > 1
        ]
        for label in release.schema.classes:
            names.append(f"the count of ({', '.join([*values, *([label] if label else [])])})")
    return names
