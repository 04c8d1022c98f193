"""What the adversary sees of a run: the discrete part of the outcome as a path of strings, and its numbers as a vector.

The path lists every choice of the method in order, then the published domains and everything else that is not a number.
Runs with the same path have the same numbers at the same positions, so that these can be compared. A release is read
field by field, whatever its type, so that fields added in future are included.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.model.values import codes_within

ChoicePath = tuple[str, ...]
"""The discrete part of an outcome, which begins with the choices."""
Numbers = npt.NDArray[np.float64]

PUBLIC_FIELDS = frozenset({"method", "parameters", "plan", "rounding", "story"})
"""Fields known before any row is read; and the story, which is read separately as the beginning of the path."""
DERIVED_FIELDS = frozenset({"count", "fine"})
"""Functions of the other published fields, which `check_method` verifies. Reading them would count evidence twice."""
NO_DIGIT = -1100.0
MOST_PARTS = 12
"""Published records are counted in at most this many parts of each domain, so that the counts are not too small to
learn from."""


@dataclass(kw_only=True)
class Draws:
    """Outcomes of many runs on one table, grouped by path."""

    numbers: dict[ChoicePath, Numbers] = field(default_factory=dict)
    observed: dict[ChoicePath, Numbers] = field(default_factory=dict)
    """The numbers about the differing record, which every path has (`scumble.auditing.observer`)."""
    names: dict[ChoicePath, tuple[str, ...]] = field(default_factory=dict)
    """The names of the numbers of each path."""
    log_ratio: dict[ChoicePath, Numbers] = field(default_factory=dict)
    """The log-likelihood ratio of the holder's answers, first table over second, if the mechanism computes it
    (`scumble.auditing.likelihood_ratio`)."""

    @property
    def runs(self) -> int:
        return sum(len(rows) for rows in self.numbers.values())

    @property
    def mean_log_ratio(self) -> float:
        return float(np.concatenate([np.zeros(0), *self.log_ratio.values()]).sum()) / max(1, self.runs)

    def sizes(self) -> dict[ChoicePath, int]:
        return {path: len(rows) for path, rows in self.numbers.items()}


class Outcome(NamedTuple):
    """The outcome of one run."""

    path: ChoicePath
    numbers: Numbers
    observed: Numbers
    log_ratio: float


def gather(outcomes: Iterable[Outcome], names: Mapping[ChoicePath, tuple[str, ...]]) -> Draws:
    rows: dict[ChoicePath, list[Outcome]] = {}
    for outcome in outcomes:
        rows.setdefault(outcome.path, []).append(outcome)
    return Draws(
        numbers={path: np.array([each.numbers for each in same]) for path, same in rows.items()},
        observed={path: np.array([each.observed for each in same]) for path, same in rows.items()},
        names=dict(names),
        log_ratio={path: np.array([each.log_ratio for each in same]) for path, same in rows.items()},
    )


def together(parts: Iterable[Draws]) -> Draws:
    """Several batches of runs as one."""
    several = list(parts)
    paths = dict.fromkeys(path for part in several for path in part.numbers)

    def joined(name: str) -> dict[ChoicePath, Numbers]:
        tables = [getattr(part, name) for part in several]
        return {
            path: np.concatenate([table[path] for table in tables if path in table])
            for path in paths
            if any(path in table for table in tables)
        }

    names = {path: known for part in several for path, known in part.names.items()}
    return Draws(numbers=joined("numbers"), observed=joined("observed"), names=names, log_ratio=joined("log_ratio"))


class ReleaseView:
    """The path and the numbers of a release: all fields that are neither public in advance nor derived from others."""

    def __init__(self, release: Any) -> None:
        self._words: list[str] = list(getattr(release, "story", ()))
        self._numbers: list[Numbers] = []
        self._named: list[tuple[str, int]] = []
        for each in fields(release):
            if each.name not in PUBLIC_FIELDS | DERIVED_FIELDS:
                value = getattr(release, each.name)
                self._take(each.name, summary(value, release.schema) if each.name == "columns" else value)
        self.numbers: Numbers = np.concatenate([*self._numbers, np.zeros(0)])
        self.path: ChoicePath = (*self._words, f"{len(self.numbers)} numbers")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{name}[{place}]" if size > 1 else name for name, size in self._named for place in range(size))

    def _take(self, name: str, value: Any) -> None:
        match value:
            case Schema():
                self._words += _domains(value)
            case np.ndarray() if value.dtype.kind in "iufb":
                self._take_numbers(name, value)
            case bool() | str() | None:
                self._words.append(f"{name} is {value}")
            case int() | float():
                self._take_numbers(name, np.array([value]))
            case Mapping():
                for key, below in value.items():
                    self._take(f"{name} {key}", below)
            case Sequence() | np.ndarray():
                self._take_sequence(name, value)
            case _:
                self._words.append(f"{name} is {value!r}")

    def _take_numbers(self, name: str, array: npt.NDArray[Any]) -> None:
        """Add the values; for floats also their finest binary digit, which can reveal the value before noise."""
        flat = array.ravel().astype(np.float64)
        self._numbers.append(flat)
        self._named.append((name, len(flat)))
        if array.dtype.kind == "f":
            self._numbers.append(finest_digit(flat))
            self._named.append((f"the finest binary digit of {name}", len(flat)))

    def _take_sequence(self, name: str, value: Sequence[Any] | npt.NDArray[Any]) -> None:
        flat = np.array(value, dtype=object)
        self._words.append(f"{name} has shape {flat.shape}")
        if all(isinstance(each, int | float | np.number) for each in flat.ravel()):
            self._take_numbers(name, np.array(value))
        else:
            for place, below in enumerate(value, start=1):
                self._take(f"{name} {place}", below)


def summary(columns: Mapping[str, npt.NDArray[Any]], schema: Schema) -> dict[str, Any]:
    """Published records as a fixed number of statistics: for each attribute, the counts of its values by class, and the
    sum of its values if they are numbers."""
    statistics: dict[str, Any] = {"records": len(next(iter(columns.values()), ()))}
    target = schema.target
    labels = None if target is None else codes_of(columns[target], schema, target)
    for name, column in columns.items():
        if name == target:
            continue
        codes = codes_of(column, schema, name)
        size = schema[name].domain.size
        width = min(size, MOST_PARTS)
        crossed = (codes * width // size) * len(schema.classes) + (0 if labels is None else labels)
        statistics[name] = np.bincount(crossed, minlength=width * len(schema.classes))
        if column.dtype.kind in "iuf":
            statistics[f"sum of {name}"] = np.array([np.nansum(column.astype(np.float64))])
    return statistics


def codes_of(column: npt.NDArray[Any], schema: Schema, name: str) -> npt.NDArray[np.int64]:
    """Published values as codes of the published schema."""
    return codes_within(schema[name].domain, column, clamp=True)


def finest_digit(values: Numbers) -> Numbers:
    """The exponent of the lowest set bit of each double. Zero, which has none, gives a number below all others.

    >>> finest_digit(np.array([1.0, 0.75, 6.0, 0.0])).tolist()
    [0.0, -2.0, 1.0, -1100.0]
    """
    finite = np.where(np.isfinite(values), values, 0.0)
    mantissa, exponent = np.frexp(finite)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1).astype(np.float64))
    return np.where(whole == 0, NO_DIGIT, lowest + exponent - 53)


def _domains(schema: Schema) -> list[str]:
    texts = []
    for attribute in schema.attributes:
        domain = attribute.domain
        values = map(str, domain.edges) if isinstance(domain, Grid) else domain.labels
        texts.append(f"{attribute.name} is published as {' | '.join(values)}")
    return texts
