"""Rehearses a release: the whole run on rows that are drawn from the schema, without a ledger. It costs no budget.

The rows are uniform and independent, so they show what a release takes in time and space, and how much noise its counts
have. They say nothing about the class: no accuracy can be learned from them (`scumble plan --wanted-accuracy` takes a
public table instead).
"""

import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.demo.rehearsal import uniform_rows
from scumble.engines import ENGINES
from scumble.files.kinds import kind_of
from scumble.files.release_folder import write_release
from scumble.flows.plan import plan, schema_of
from scumble.flows.progress import Progress
from scumble.flows.release import run
from scumble.methods import method_and_parameters, usual_method
from scumble.model.budget import budget_text
from scumble.model.guarantee import epsilon_of
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise, secret_key
from scumble.sources import ArrowSource

DEVIATIONS_95 = 1.96
FREE = "Rows drawn from the schema: nothing was charged, and nothing in the result depends on a person."


@dataclass(frozen=True, kw_only=True)
class RehearsedTable:
    """A table of counts that a release would publish, and the size of its noise."""

    name: str
    entries: int
    deviation: float
    """The standard deviation of the noise in one count."""

    @property
    def apart(self) -> float:
        """The difference of two counts that exceeds the noise of 95 of 100 pairs."""
        return DEVIATIONS_95 * math.sqrt(2) * self.deviation


@dataclass(frozen=True, kw_only=True)
class RehearsedRelease:
    """What a release of so many rows would take and publish."""

    method: str
    epsilon: str
    rows: int
    seconds: float
    bytes: int
    size: str
    tables: Sequence[RehearsedTable]

    def to_json(self) -> dict[str, Any]:
        """The figures as plain data."""
        tables = [
            {"name": each.name, "entries": each.entries, "deviation": each.deviation, "apart": each.apart}
            for each in self.tables
        ]
        facts = {"method": self.method, "epsilon": self.epsilon, "rows": self.rows, "seconds": round(self.seconds, 3)}
        return {**facts, "bytes": self.bytes, "size": self.size, "tables": tables, "charged": "0"}


def rehearse_release(
    schema: Schema | str | Path,
    *,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    rows: int = 10_000,
    progress: Progress | None = None,
) -> RehearsedRelease:
    """Make a release of generated rows in memory and measure it. No ledger is opened and no table is read."""
    public = schema_of(schema)
    given = dict(parameters or {})
    planned = plan(schema=public, method=method, **given)
    chosen, settings = method_and_parameters(method or usual_method(public), given)
    source = ArrowSource(table=uniform_rows(public, rows, seed=1))
    began = time.perf_counter()
    with closing(ENGINES["memory"].open(source.batches(public.columns_read), public, key=secret_key())) as engine:
        made = run(chosen, public, settings, engine, PaidNoise(), plan=planned, progress=progress)
    with tempfile.TemporaryDirectory(prefix="scumble-rehearsal-") as folder:
        write_release(made, Path(folder), {})
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    tables = [
        RehearsedTable(
            name=" by ".join(bins.attribute for bins in each.bins),
            entries=each.counts.size,
            deviation=math.sqrt(each.variance),
        )
        for each in kind_of(made).measured_tables(made)
    ]
    epsilon = epsilon_of(planned.guarantee)
    return RehearsedRelease(
        method=chosen.name,
        epsilon="" if epsilon is None else budget_text(epsilon),
        rows=rows,
        seconds=time.perf_counter() - began,
        bytes=size,
        size=made.size_text,
        tables=tables,
    )
