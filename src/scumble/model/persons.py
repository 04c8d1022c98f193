"""Whom a guarantee protects where a person may have several rows.

A mechanism that is (eps / k)-differentially private for one row is eps-differentially private for a group of k rows
(group privacy). Engines keep at most k rows of each person, so methods plan and run with eps / k for one row, and the
guarantee states eps for one person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Persons:
    """Persons are the rows with the same value in `column`. At most `rows_each_at_most` rows of each are used.

    >>> Persons(column="patient-id", rows_each_at_most=5).sentence
    "all rows of one person (at most 5 are used, by 'patient-id') are added or removed"
    """

    column: str
    rows_each_at_most: int

    @property
    def sentence(self) -> str:
        """How two neighbouring tables differ, as a clause."""
        return (
            f"all rows of one person (at most {self.rows_each_at_most} are used, by {self.column!r}) are added or "
            "removed"
        )

    @property
    def sentence_at_one_owner(self) -> str:
        """How two neighbouring tables of several data owners differ, as a clause."""
        return (
            f"all rows of one person at one data owner (at most {self.rows_each_at_most} are used there, by "
            f"{self.column!r}) are added or removed"
        )

    def to_json(self) -> dict[str, Any]:
        """The persons as plain data, as a guarantee states them."""
        return {"person": self.column, "rows_each_at_most": self.rows_each_at_most}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Persons":
        """The inverse of `to_json`."""
        rows = data["rows_each_at_most"]
        if not isinstance(data["person"], str) or type(rows) is not int or rows < 1:
            raise ValueError("not a column of persons and a number of rows")
        return cls(column=data["person"], rows_each_at_most=rows)
