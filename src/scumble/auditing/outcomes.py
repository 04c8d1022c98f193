"""What an onlooker sees of many runs: for each the discrete part, as a path of words, and the numbers, as a vector.

The path is everything a release says in words, in the order it came about: each choice, then the published domains and
whatever else is no number. Runs with the same path have the same numbers in the same places, so they can be compared.
A release is read field by field, whatever its type: a field that is added later is seen, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.model.schema import Schema
from scumble.model.taxonomy import Grid

Path = tuple[str, ...]
Numbers = npt.NDArray[np.float64]

PUBLIC_FIELDS = frozenset({"method", "parameters", "plan", "rounding", "story"})
"""Known before any row is read; the story is read before all others."""
DERIVED_FIELDS = frozenset({"count", "fine"})
"""Functions of the other published fields, as `check_method` makes sure. Seeing them too would count evidence twice."""
NO_DIGIT = -1100.0
COARSE = 12
"""Published records are counted in at most so many parts of a domain: more would be noise to a learner."""


@dataclass(kw_only=True)
class Draws:
    """Outcomes of many runs on one table, by path. `watched` are numbers that every path has: those about the record
    that sets the tables apart, less what an onlooker knows of the others there."""

    numbers: dict[Path, Numbers] = field(default_factory=dict)
    watched: dict[Path, Numbers] = field(default_factory=dict)
    names: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    """What the numbers of a path are called."""
    evidence: dict[Path, Numbers] = field(default_factory=dict)
    """How much likelier the holder's answers are on the first table than on the second, as a logarithm, where that is
    known (`scumble.auditing.likelihood_ratio`)."""

    @property
    def runs(self) -> int:
        return sum(len(rows) for rows in self.numbers.values())

    @property
    def mean_evidence(self) -> float:
        return float(np.concatenate([np.zeros(0), *self.evidence.values()]).sum()) / max(1, self.runs)

    def sizes(self) -> dict[Path, int]:
        return {path: len(rows) for path, rows in self.numbers.items()}


class Outcome(NamedTuple):
    """What one run says."""

    path: Path
    numbers: Numbers
    watched: Numbers
    evidence: float


def gather(outcomes: Iterable[Outcome], names: Mapping[Path, tuple[str, ...]]) -> Draws:
    rows: dict[Path, list[Outcome]] = {}
    for outcome in outcomes:
        rows.setdefault(outcome.path, []).append(outcome)
    return Draws(
        numbers={path: np.array([each.numbers for each in same]) for path, same in rows.items()},
        watched={path: np.array([each.watched for each in same]) for path, same in rows.items()},
        names=dict(names),
        evidence={path: np.array([each.evidence for each in same]) for path, same in rows.items()},
    )


def together(parts: Iterable[Draws]) -> Draws:
    """Several batches as one."""
    several = list(parts)
    paths = dict.fromkeys(path for part in several for path in part.numbers)

    def joined(name: str) -> dict[Path, Numbers]:
        tables = [getattr(part, name) for part in several]
        return {
            path: np.concatenate([table[path] for table in tables if path in table])
            for path in paths
            if any(path in table for table in tables)
        }

    names = {path: known for part in several for path, known in part.names.items()}
    return Draws(numbers=joined("numbers"), watched=joined("watched"), names=names, evidence=joined("evidence"))


class Look:
    """Everything in a release that is neither public nor derived."""

    def __init__(self, release: Any) -> None:
        self._words: list[str] = list(getattr(release, "story", ()))
        self._numbers: list[Numbers] = []
        self._named: list[tuple[str, int]] = []
        for each in fields(release):
            if each.name not in PUBLIC_FIELDS | DERIVED_FIELDS:
                value = getattr(release, each.name)
                self._take(each.name, summary(value, release.schema) if each.name == "columns" else value)
        self.numbers: Numbers = np.concatenate([*self._numbers, np.zeros(0)])
        self.path: Path = (*self._words, f"{len(self.numbers)} numbers")

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
        """The values; of floats also their granularity, by which floating-point noise tells what it was added to."""
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
    """Published records as numbers that do not depend on how many there are: how often each value of each attribute
    occurs with each class, and how the numbers add up."""
    told: dict[str, Any] = {"records": len(next(iter(columns.values()), ()))}
    target = schema.target
    labels = None if target is None else codes_of(columns[target], schema, target)
    for name, column in columns.items():
        if name == target:
            continue
        codes = codes_of(column, schema, name)
        size = schema[name].domain.size
        width = min(size, COARSE)
        crossed = (codes * width // size) * len(schema.classes) + (0 if labels is None else labels)
        told[name] = np.bincount(crossed, minlength=width * len(schema.classes))
        if column.dtype.kind in "iuf":
            told[f"sum of {name}"] = np.array([np.nansum(column.astype(np.float64))])
    return told


def codes_of(column: npt.NDArray[Any], schema: Schema, name: str) -> npt.NDArray[np.int64]:
    """Published values as codes of the published schema."""
    domain = schema[name].domain
    if isinstance(domain, Grid):
        numbers = column.astype(np.float64)
        places = np.searchsorted(domain.edge_floats, numbers, side="right") - 1
        missing = domain.cells - 1 if domain.missing_code is None else domain.missing_code
        return np.where(np.isnan(numbers), missing, np.clip(places, 0, domain.cells - 1)).astype(np.int64)
    return np.array([domain.codes.get(str(label), 0) for label in column], dtype=np.int64)


def finest_digit(values: Numbers) -> Numbers:
    """The exponent of the lowest set bit of each double; of zero, which has none, a number below all.

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
