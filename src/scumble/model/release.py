"""A release in memory: what is published, what it promises and what was paid for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scumble.model.counts import Integers
from scumble.model.plan import Plan
from scumble.model.rounding import Rounding
from scumble.model.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Release:
    """Noisy counts over the cells of a published schema, in row-major order, by class.

    `measured` is what the noise left, in units of 1/`resolution`: signed and unbiased, with `variance` for each entry.
    `count` is the same made fit for use as a table: whole numbers, none negative.
    """

    method: str
    parameters: Mapping[str, Any]
    plan: Plan
    schema: Schema
    measured: Integers
    resolution: int
    variance: float
    rounding: Rounding
    count: Integers
    story: tuple[str, ...] = ()
    """How the cells came about, step by step, in words; made of paid answers alone."""
