"""Measured vectors and the tables that readers infer from them, as plain data of the document `tables`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scumble.model.counts import Integers
from scumble.model.measured_tables import NoiseKind
from scumble.model.transforms.transform import Transform


@dataclass(frozen=True, kw_only=True)
class InferredAxis:
    """An attribute of an inferred table: the first code of each of its bins, and its transform."""

    attribute: str
    starts: Sequence[int]
    transform: Transform


def inferred_table(axes: Sequence[InferredAxis], places: Integers | None = None) -> dict[str, Any]:
    """A table by its axes; `places` are those of its coefficients in the vector (default: all of it in order)."""
    return {
        "attributes": [each.attribute for each in axes],
        "bins": [list(each.starts) for each in axes],
        "transforms": [each.transform.to_json() for each in axes],
        **({} if places is None else {"places": places.tolist()}),
    }


def measured_vector(measured: Integers, variance: float, tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A measured vector, whose numbers have independent noise of a variance, and the tables inferred from it."""
    return {"measured": measured.ravel().tolist(), "variance": variance, "tables": list(tables)}


def vectors_document(noise: NoiseKind, vectors: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Measured vectors in the format tables/1."""
    return {"format": "tables/1", "noise": noise.value, "tables": [], "inferred": list(vectors)}
