"""Count tables: the one question an engine answers, and its answer."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.model.cut import Cut

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Tabulation:
    """A request for counts: the cells of a cut by class and, for each attribute in `fine`, the same cells with that
    attribute at its finest level instead."""

    cut: Cut
    fine: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Exact counts. They never leave the holder.

    `cells` has shape (cells, classes); `fine[a]` has shape (cells of the attributes before a, codes of a, cells of the
    attributes after a, classes).
    """

    cells: Integers
    fine: Mapping[str, Integers]


def fine_shape(cut: Cut, attribute: str) -> tuple[int, int, int, int]:
    """The shape of `Counts.fine[attribute]`."""
    outer, inner = cut.outer_inner(attribute)
    return outer, cut.schema[attribute].domain.size, inner, len(cut.schema.classes)
