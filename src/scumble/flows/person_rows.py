"""How many rows each person has, and how many rows a bound would leave out. For the data owner only: no noise is added.

A smaller bound leaves out more rows, a larger one makes the noise larger (`rows_each_at_most` in the schema).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.engines.person_ids import person_ids
from scumble.model.persons import Persons

BOUNDS = (1, 2, 3, 5, 10, 20, 50)
"""The bounds that are reported, besides the schema's own."""


@dataclass(frozen=True, kw_only=True)
class PersonRows:
    """The rows of persons. Private: computed without noise."""

    column: str
    rows_each_at_most: int
    """The bound of the schema."""
    persons: int
    """The persons with an id."""
    rows: int
    rows_without_id: int
    """Rows whose id is missing, empty or unreadable. They count as one person."""
    most_rows: int
    """The largest number of rows of one person with an id."""
    left_out: dict[int, int]
    """For each bound, the number of rows that it would leave out."""

    @property
    def advice(self) -> tuple[str, ...]:
        """What to look at, as sentences."""
        beyond = self.left_out[self.rows_each_at_most]
        lines = []
        if beyond:
            share = f"{100 * beyond / self.rows:.1f} %"
            lines.append(
                f"`rows_each_at_most: {self.rows_each_at_most}` leaves out {beyond:,} of {self.rows:,} rows ({share})."
            )
        if self.rows_without_id > self.rows_each_at_most:
            lines.append(
                f"{self.rows_without_id:,} rows have no readable id in {self.column!r}. They count as one person, so "
                f"{self.rows_without_id - self.rows_each_at_most:,} of them are left out."
            )
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "column": self.column,
            "rows_each_at_most": self.rows_each_at_most,
            "persons": self.persons,
            "rows": self.rows,
            "rows_without_id": self.rows_without_id,
            "most_rows": self.most_rows,
            "left_out": {str(bound): rows for bound, rows in self.left_out.items()},
        }


class PersonTally:
    """Counts the rows of each person, batch by batch."""

    def __init__(self, persons: Persons) -> None:
        self._persons = persons
        self._counts: list[pa.Table] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch."""
        counted = person_ids(batch, self._persons.column).value_counts()
        self._counts.append(pa.table({"id": counted.field("values"), "rows": counted.field("counts")}))

    def result(self) -> PersonRows:
        """The rows of all persons."""
        empty = pa.table({"id": pa.array([], pa.large_string()), "rows": pa.array([], pa.int64())})
        people = pa.concat_tables([empty, *self._counts]).group_by("id").aggregate([("rows", "sum")])
        ids, rows = people["id"], people["rows_sum"].to_numpy()
        named = pc.not_equal(ids, "").to_numpy()
        bounds = sorted({*BOUNDS, self._persons.rows_each_at_most})
        return PersonRows(
            column=self._persons.column,
            rows_each_at_most=self._persons.rows_each_at_most,
            persons=int(named.sum()),
            rows=int(rows.sum()),
            rows_without_id=int(rows[~named].sum()),
            most_rows=int(rows[named].max(initial=0)),
            left_out={bound: _beyond(rows, bound) for bound in bounds},
        )


def _beyond(rows: npt.NDArray[np.int64], bound: int) -> int:
    """The rows beyond the bound, over all persons.

    >>> _beyond(np.array([1, 2, 7]), 3)
    4
    """
    return int(np.maximum(rows - bound, 0).sum())
